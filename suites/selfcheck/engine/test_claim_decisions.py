"""A claim is upheld only by runs that decided something about it."""

from __future__ import annotations

import msgspec
import pytest

from holdfast.harness.engine.cases.case_status import case_result
from holdfast.harness.engine.cases.tally import OF_OUTPUT, OF_STATE, is_decided
from holdfast.harness.engine.certification.certificate import certificate, rule_results
from holdfast.harness.engine.executor.judge import judge, outcome_of
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.exploration.counts import Counts
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import SubtaskAudited, SubtaskMoved
from holdfast.harness.model.history import History
from holdfast.harness.model.journal import Status
from holdfast.harness.model.verdict import NOTHING_TO_DECIDE, Outcome, Verdict
from holdfast.harness.model.window import Window
from holdfast.suites.conformance.plans import plan
from holdfast.suites.selfcheck.engine.results import DECISION, PASSING, case, failing, missed, result, tally
from holdfast.suites.selfcheck.engine.scripted import ScriptedOracle
from holdfast.suites.selfcheck.engine.scripted import plan as scripted_plan
from holdfast.suites.selfcheck.engine.test_certificate import rule

STATE, OUTPUT = "state exactly-once", "output exactly-once"
BOTH = f"{STATE}, {OUTPUT}"
OF_ROWS = Verdict("EXACT", Outcome.PASS, checked={"row-wrong": 4, "input-missing": 4})
OF_SUMS = Verdict("STATE", Outcome.PASS, checked={"state-extra": 2, "state-missing": 2})
ORACLES = registry.toolbox().oracles


def test_the_state_of_spark_that_nobody_could_read_upholds_nothing() -> None:
    """Its checkpoints are known, its output is right, and what its state holds was never compared with the input."""
    run = run_plan(plan(), registry.system("reference"), registry.toolbox())
    whole = run.history
    spark = registry.system("spark").evidence()
    unread = History(
        whole.plan,
        whole.claims,
        whole.inputs,
        whole.output,
        [event for event in whole.events if not isinstance(event, SubtaskAudited | SubtaskMoved)],
        whole.end,
    )
    for history, decided in ((whole, True), (unread, False)):
        verdicts = judge(history, ORACLES, spark)
        assert "STATE" in {verdict.oracle for verdict in verdicts}
        assert (is_decided(STATE, verdicts), is_decided(OUTPUT, verdicts)) == (decided, True)
    counted = tally(*[result(*judge(unread, ORACLES, spark), claims=BOTH)] * 3)
    card = certificate((), (), [counted], "RT", ())
    assert card.guarantees == (f"{OUTPUT}: not refuted in 3 runs", f"{STATE}: not decided in 3 runs")


@pytest.mark.parametrize(
    ("claim", "verdict", "decided"),
    [
        (STATE, OF_SUMS, True),
        (STATE, Verdict("STATE", Outcome.PASS, checked={"state-unreadable": 5}), False),
        (STATE, Verdict("STATE", Outcome.PASS, checked={"state-missing": 5}), False),
        ("state at-least-once", Verdict("STATE", Outcome.PASS, checked={"state-missing": 5}), True),
        ("state at-most-once", Verdict("CUT", Outcome.PASS, checked={"state-extra": 5}), True),
        (STATE, Verdict("CUT", Outcome.PASS, checked={"barrier-once": 5, "state-missing": 0, "state-extra": 0}), False),
        (STATE, Verdict("RESTORE", Outcome.PASS, checked={"state-differs": 5}), False),
        (STATE, failing("RESTORE", "state-differs"), True),
        (STATE, OF_ROWS, False),
        (OUTPUT, OF_ROWS, True),
        (OUTPUT, Verdict("EXACT", Outcome.PASS, checked={"late-change": 1}), False),
        (OUTPUT, Verdict("INVARIANT", Outcome.PASS, checked={"broken": 7}), False),
        (OUTPUT, Verdict("STABLE", Outcome.PASS, checked={"row-changed": 7}), False),
        ("output at-least-once", Verdict("NOLOSS", Outcome.PASS, checked={"input-lost": 7}), True),
        ("output at-least-once", Verdict("NOLOSS", Outcome.PASS, checked={"digest-wrong": 7}), False),
        ("output at-most-once", Verdict("NOREPEAT", Outcome.PASS, checked={"record-repeated": 7}), True),
        (OUTPUT, msgspec.structs.replace(OF_ROWS, outcome=Outcome.INCONCLUSIVE, reason="stalled"), False),
    ],
)  # fmt: skip
def test_a_claim_is_decided_by_what_compares_each_guarantee_of_it_with_the_input(
    claim: str, verdict: Verdict, decided: bool
) -> None:
    assert is_decided(claim, (PASSING, verdict)) is decided


def test_runs_that_decide_a_claim_stand_apart_from_those_that_do_not() -> None:
    counted = tally(result(OF_SUMS, OF_ROWS, claims=BOTH), result(OF_ROWS, claims=BOTH), missed(claims=BOTH))
    card = certificate((), (), [counted], "RT", ())
    assert card.guarantees == (
        f"{OUTPUT}: not refuted in 2 runs",
        f"{STATE}: not refuted in 1 run, not decided in 1 more",
    )


def test_each_clause_that_decides_a_guarantee_exists() -> None:
    clauses = {(oracle.name, clause) for oracle in ORACLES for clause in oracle.clauses}
    for deciding in (*OF_STATE.values(), *OF_OUTPUT.values()):
        assert deciding <= clauses


def test_an_oracle_that_passes_without_a_check_decides_nothing() -> None:
    history = run_plan(plan(), registry.system("reference"), registry.toolbox()).history
    for checked in ({}, {"order": 0}):
        oracle = ScriptedOracle("CUT")
        oracle.judge = lambda _, checked=checked: Verdict("CUT", Outcome.PASS, checked=checked)  # type: ignore[method-assign, misc]
        verdicts = judge(history, [oracle])
        assert [(each.outcome, each.reason) for each in verdicts] == [(Outcome.INCONCLUSIVE, NOTHING_TO_DECIDE)]
        assert outcome_of(history, verdicts)[0] is Outcome.INCONCLUSIVE


def test_a_rule_was_observed_only_where_a_clause_that_observes_decided_something() -> None:
    """Its other clause rests on the word of the system under test."""
    unclaimed = result(Verdict("CUT", Outcome.PASS, checked={"loss": 1}), unclaimed=("CUT/order",))
    for run, observed in ((result(), ("CUT/order",)), (unclaimed, ())):
        counted = tally(run)
        asked = case(DECISION)
        results = (case_result(asked, Tier.SIM, 1, counted, [ScriptedOracle("CUT")], {}),)
        tallies = {(asked.id, "sim"): counted}
        (found,) = rule_results((rule(),), [asked], results, tallies, "RT", on_its_word={"CUT/loss"})
        assert (found.status.value, found.observed_by) == ("PASS", observed)


def test_a_rule_is_not_passed_by_a_clause_that_judged_nothing_where_the_window_was_hit() -> None:
    """One run hit the window and decided nothing of the rule, another decided it and missed."""
    asked = case(windows=(Window.RESTORED_STATE,))
    hit, missing = {"restored-state": True}, {"restored-state": False}
    apart = tally(result(OF_ROWS, windows=hit), result(PASSING, windows=missing))
    found = case_result(asked, Tier.SIM, 2, apart, [ScriptedOracle("CUT")], {})
    assert found.rules == {"BAR-01": Status.INCONCLUSIVE}
    assert found.rule_reasons["BAR-01"] == "CUT/order had nothing to decide in runs that hit restored-state"
    together = tally(result(PASSING, windows=hit), result(OF_ROWS, windows=missing))
    assert case_result(asked, Tier.SIM, 2, together, [ScriptedOracle("CUT")], {}).rules == {"BAR-01": Status.PASS}


def test_a_campaign_counts_windows_and_verdicts_of_decided_runs_alone() -> None:
    counts = Counts()
    hit = {"restored-state": True}
    counts.add(missed(windows=hit), scripted_plan())
    assert (counts.hit, counts.judged) == ({"restored-state": 0}, {"CUT": 0})
    counts.add(result(windows=hit), scripted_plan())
    assert (counts.hit, counts.judged) == ({"restored-state": 1}, {"CUT": 1})
