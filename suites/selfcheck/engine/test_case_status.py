"""Where a case stands after its runs, each rule that it decides, and each claim: the lattice, row by row."""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace

from holdfast.harness.engine.cases.case_status import case_not_run, case_result, open_plans, worst_of
from holdfast.harness.engine.cases.tally import OF_OUTPUT, OF_STATE, Tally, is_decided
from holdfast.harness.engine.certification.certificate import certificate, rule_results
from holdfast.harness.engine.executor.judge import judge, outcome_of
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.exploration.ledger import Counts
from holdfast.harness.engine.site import registry
from holdfast.harness.model.capability import Evidence
from holdfast.harness.model.case import Decision, Tier, Window
from holdfast.harness.model.events import SnapshotTaken, SubtaskAudited, SubtaskMoved
from holdfast.harness.model.history import History
from holdfast.harness.model.journal import CaseResult, Status
from holdfast.harness.model.verdict import NOTHING_TO_DECIDE, Outcome, Verdict
from holdfast.suites.conformance.plans import plan
from holdfast.suites.selfcheck.engine.results import DECISION, PASSING, case, failing, missed, result, tally
from holdfast.suites.selfcheck.engine.scripted import ScriptedOracle
from holdfast.suites.selfcheck.engine.scripted import plan as scripted_plan
from holdfast.suites.selfcheck.engine.test_certificate import rule

CUT = ScriptedOracle("CUT", evidence=(SnapshotTaken,))
SUPPLIED = {"snapshot_taken": Evidence.NATIVE}
BROKEN = missed("harness error: KeyError: 'x'")
HALF = Verdict("CUT", Outcome.PASS, checked={"order": 2})
NOTHING = Verdict("CUT", Outcome.PASS, checked={"else": 1})
AIMED = {"kill worker before commit": False}


def stands(runs: Tally, demanded: int = 1, **fields: object) -> CaseResult:
    return case_result(case(**fields), Tier.SIM, demanded, runs, [CUT], SUPPLIED)


@pytest.mark.parametrize(
    ("runs", "demanded", "of_case", "of_rule", "reason"),
    [
        (tally(result()), 1, Status.PASS, Status.PASS, ""),
        (tally(result(), missed()), 1, Status.PASS, Status.PASS, ""),
        (tally(result(), result(failing())), 2, Status.FAIL, Status.FAIL, "CUT/order in 1 of 2 runs, first in area-"),
        (tally(missed(), result(failing())), 2, Status.FAIL, Status.FAIL, "CUT/order in 1 of 2 runs"),
        (tally(result(PASSING, failing("TXN", "lost"))), 1, Status.FAIL, Status.PASS, ""),
        (tally(result(), missed()), 2, Status.INCONCLUSIVE, Status.INCONCLUSIVE, "1 of 2 runs counted; each time (1)"),
        (tally(), 1, Status.INCONCLUSIVE, Status.INCONCLUSIVE, "0 of 1 run counted; the campaign ended early"),
        (tally(result(HALF)), 1, Status.PASS, Status.INCONCLUSIVE, "CUT/loss had nothing to decide in 1 run"),
        (tally(result(windows=AIMED)), 1, Status.INCONCLUSIVE, Status.INCONCLUSIVE, "no run hit kill worker before"),
        (tally(result(windows=AIMED), result(windows=dict.fromkeys(AIMED, True))), 2, Status.PASS, Status.PASS, ""),
        (tally(result(), BROKEN), 1, Status.ERROR, Status.ERROR, "harness error: KeyError"),
    ],
    ids=range(11),
)
def test_a_rule_stands_by_its_own_clauses(
    runs: Tally, demanded: int, of_case: Status, of_rule: Status, reason: str
) -> None:
    found = stands(runs, demanded)
    assert (found.status, found.rules["BAR-01"]) == (of_case, of_rule)
    assert reason in found.rule_reasons.get("BAR-01", "")
    assert bool(reason) is ("BAR-01" in found.rule_reasons)


UNCLAIMED = ("CUT/order", "CUT/loss")


@pytest.mark.parametrize(
    ("runs", "status", "reason"),
    [
        (tally(result(unclaimed=UNCLAIMED)), Status.PASS, ""),
        (tally(result(HALF, unclaimed=UNCLAIMED)), Status.PASS, ""),
        (tally(result(HALF, unclaimed=("CUT/order",))), Status.INCONCLUSIVE, "CUT/loss had nothing to decide in 1 run"),
        (
            tally(result(NOTHING, unclaimed=UNCLAIMED)),
            Status.NOT_APPLICABLE,
            "the system does not claim what CUT/order, CUT/loss is about",
        ),
        (tally(result(NOTHING, unclaimed=UNCLAIMED), result(NOTHING)), Status.INCONCLUSIVE, "had nothing to decide"),
        (tally(result(failing(), unclaimed=UNCLAIMED)), Status.FAIL, "CUT/order in 1 of 1 run"),
    ],
    ids=["decided", "half", "half claimed", "nothing", "claimed once", "refuted"],
)
def test_a_rule_whose_clauses_are_about_nothing_that_is_claimed_does_not_apply(
    runs: Tally, status: Status, reason: str
) -> None:
    found = stands(runs)
    assert found.rules["BAR-01"] is status
    assert reason in found.rule_reasons.get("BAR-01", "")


def test_missing_evidence_is_unobserved_and_an_anomaly_still_fails() -> None:
    blind = case_result(case(), Tier.SIM, 1, tally(result(HALF)), [CUT], {})
    assert blind.rules == {"BAR-01": Status.UNOBSERVED}
    assert "CUT needs snapshot_taken" in blind.rule_reasons["BAR-01"]
    seen = case_result(case(), Tier.SIM, 1, tally(result(failing())), [CUT], {})
    assert seen.rules == {"BAR-01": Status.FAIL}


@pytest.mark.parametrize(
    ("runs", "status"),
    [
        (tally(), Status.UNTESTED),
        (tally(result(), missed("interrupted by SIGINT")), Status.UNTESTED),
        (tally(result(), result(failing())), Status.FAIL),
        (tally(result(), BROKEN), Status.ERROR),
        (tally(result(), result(), result(windows=AIMED)), Status.INCONCLUSIVE),
        (tally(result(), result(), result()), Status.PASS),
    ],
    ids=range(6),
)
def test_what_an_interruption_left_open_is_untested_and_what_was_decided_stands(runs: Tally, status: Status) -> None:
    found = case_result(case(), Tier.SIM, 3, runs, [CUT], SUPPLIED, "interrupted by SIGINT")
    assert (found.status, found.rules["BAR-01"]) == (status, status)
    said = f"interrupted by SIGINT; {runs.passed} of 3 runs counted until then"
    assert (said in found.reason) is (said in found.rule_reasons.get("BAR-01", "")) is (status is Status.UNTESTED)


def test_a_negative_control_that_passed_is_an_error_whatever_interrupted_it() -> None:
    control = case(expected=Outcome.FAIL)
    found = case_result(control, Tier.SIM, 2, tally(result()), [CUT], SUPPLIED, "interrupted by SIGINT")
    assert found.status is Status.ERROR


def test_several_decisions_of_a_rule_must_all_stand() -> None:
    decides = (Decision("BAR-01", "CUT", ("order",), "A3"), Decision("BAR-01", "TXN", ("lost",), "H7"))
    found = case_result(case(*decides), Tier.SIM, 1, tally(result()), [CUT], SUPPLIED)
    assert found.rules == {"BAR-01": Status.INCONCLUSIVE}
    assert found.rule_reasons == {"BAR-01": "TXN/lost had nothing to decide in 1 run"}


@pytest.mark.parametrize(
    ("runs", "status"),
    [
        (tally(result(failing())), Status.PASS),
        (tally(result()), Status.ERROR),
        (tally(result(failing()), result()), Status.ERROR),
        (tally(missed()), Status.INCONCLUSIVE),
        (tally(result(windows={"sent-again": False})), Status.INCONCLUSIVE),
        (tally(result(windows={"sent-again": False}), result(failing())), Status.PASS),
        (tally(result(windows={"sent-again": True})), Status.ERROR),
        (tally(result(windows={"sent-again": True}), result(failing())), Status.ERROR),
    ],
    ids=range(8),
)
def test_a_negative_control_must_fail_and_if_not_the_harness_did(runs: Tally, status: Status) -> None:
    assert stands(runs, expected=Outcome.FAIL).status is status


@pytest.mark.parametrize(
    ("refutes", "status"),
    [({"CUT/order"}, Status.PASS), ({"CUT/order", "TXN/lost"}, Status.PASS), ({"TXN/lost"}, Status.ERROR)],
    ids=range(3),
)
def test_a_negative_control_must_fail_by_what_it_is_wrong_in(refutes: set[str], status: Status) -> None:
    found = stands(tally(result(failing())), expected=Outcome.FAIL, refutes=frozenset(refutes))
    assert found.status is status
    assert ("failed by CUT/order, not by TXN/lost" in found.reason) is (status is Status.ERROR)


def test_a_case_that_was_not_asked_gives_its_status_to_its_rules() -> None:
    skipped = case_not_run(case(), Tier.SPARK, Status.UNTESTED, "needs Java")
    assert (skipped.status, skipped.rules, skipped.runs_demanded) == (Status.UNTESTED, {"BAR-01": Status.UNTESTED}, 0)


def test_the_worst_standing_wins_and_a_pass_beats_not_applicable() -> None:
    ladder = [(status, status.value) for status in Status]
    assert worst_of(ladder) == (Status.FAIL, "FAIL")
    assert worst_of([(Status.NOT_APPLICABLE, "n"), (Status.PASS, "")]) == (Status.PASS, "")
    assert worst_of([(Status.UNTESTED, "u"), (Status.WAIVED, "w"), (Status.PASS, "")]) == (Status.UNTESTED, "u")


def test_a_tally_counts_what_the_certificate_needs() -> None:
    runs = tally(
        result(draw_seed=4, claims="state exactly-once, output exactly-once", landed={"kill worker": 2}),
        result(failing("EXACT", "row"), draw_seed=5, claims="state exactly-once, output exactly-once", id="r-2"),
        missed("faults[13] (cut) never acted", draw_seed=6),
        missed("faults[2] (cut) never acted", draw_seed=7),
    )
    assert (runs.runs, runs.passed, runs.failed, runs.inconclusive) == (4, 1, 1, 2)
    assert (runs.drawn, runs.drawn_failed, runs.two_landed) == (2, 1, 1)
    assert runs.causes == {"faults[n] (cut) never acted": 2}
    assert runs.claims == {"output exactly-once": 1}
    assert runs.undecided_claims == {"state exactly-once": 2, "output exactly-once": 1}
    assert runs.refuted_claims == {"output exactly-once": "run r-2 (EXACT/row)"}


def test_a_claim_is_not_upheld_by_a_run_that_leaves_loss_open() -> None:
    stalled = Verdict("EXACT", Outcome.INCONCLUSIVE, (), {"row-wrong": 3}, "missing records are stalled")
    held = Verdict("STATE", Outcome.PASS, checked={"state-extra": 1, "state-missing": 1})
    runs = tally(result(stalled, held, failing("LIVE", "end"), claims="state exactly-once, output exactly-once"))
    assert (runs.claims["state exactly-once"], runs.claims["output exactly-once"]) == (1, 0)
    assert not runs.refuted_claims


def test_a_plan_that_counted_twice_does_not_stand_for_one_that_never_did() -> None:
    """A case that is run again has runs of some plans more than once."""
    twice = (result(plan_number=0), result(plan_number=0), missed(plan_number=1))
    assert open_plans(2, tally(*twice)) == (1,)
    found = stands(tally(*twice), demanded=2)
    assert (found.status, found.reason.partition(";")[0]) == (Status.INCONCLUSIVE, "1 of 2 runs counted")
    assert stands(tally(*twice, result(plan_number=1)), demanded=2).status is Status.PASS


NO_PYTHON = "no executor has a python-worker."


def test_a_plan_that_strikes_what_a_system_has_not_is_not_demanded() -> None:
    absent = missed(plan_number=1, absent=NO_PYTHON, planned={"kill worker": 1})
    assert not tally(absent).planned
    assert stands(tally(result(plan_number=0), absent), demanded=2).status is Status.PASS
    assert open_plans(2, tally(absent)) == (0,)
    found = stands(tally(absent, missed(plan_number=0)), demanded=2)
    assert (found.status, found.reason.partition(";")[0]) == (Status.INCONCLUSIVE, "0 of 2 runs counted")
    found = stands(tally(absent, missed(plan_number=0, absent=NO_PYTHON)), demanded=2)
    assert (found.status, found.reason) == (Status.NOT_APPLICABLE, "no executor has a python-worker")
    assert found.rules == {"BAR-01": Status.NOT_APPLICABLE}
    drawn = missed(plan_number=1, absent=NO_PYTHON, draw_seed=7)
    assert stands(tally(result(plan_number=0), drawn), demanded=2).status is Status.INCONCLUSIVE


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


def test_what_is_decided_where_something_is_declared_does_not_apply_where_nothing_is() -> None:
    """And where something is, it decides like any other."""
    asked = case(replace(DECISION, where_declared=True))
    for runs, status in (
        (tally(result(NOTHING)), Status.NOT_APPLICABLE),
        (tally(result(NOTHING), missed()), Status.INCONCLUSIVE),
        (tally(result(HALF)), Status.INCONCLUSIVE),
        (tally(result()), Status.PASS),
        (tally(result(failing())), Status.FAIL),
    ):
        found = case_result(asked, Tier.SIM, len(runs.counted) + runs.inconclusive, runs, [CUT], SUPPLIED)
        assert found.rules == {"BAR-01": status}
    beside = case(DECISION, replace(DECISION, oracle="TXN", where_declared=True))
    assert case_result(beside, Tier.SIM, 1, tally(result()), [CUT], SUPPLIED).rules == {"BAR-01": Status.PASS}


def test_a_campaign_counts_windows_and_verdicts_of_decided_runs_alone() -> None:
    counts = Counts()
    hit = {"restored-state": True}
    counts.add(missed(windows=hit), scripted_plan())
    assert (counts.hit, counts.judged) == ({"restored-state": 0}, {"CUT": 0})
    counts.add(result(windows=hit), scripted_plan())
    assert (counts.hit, counts.judged) == ({"restored-state": 1}, {"CUT": 1})


@pytest.mark.parametrize(
    ("unread", "decided", "outcome"),
    [
        ("", Outcome.PASS, Outcome.PASS),
        ("the driver program died over it.", Outcome.PASS, Outcome.INCONCLUSIVE),
        ("the driver program died over it.", Outcome.FAIL, Outcome.FAIL),
    ],
)
def test_state_that_was_to_be_read_and_was_not_leaves_a_run_undecided(
    unread: str, decided: Outcome, outcome: Outcome
) -> None:
    history = run_plan(plan(), registry.system("reference"), registry.toolbox()).history
    history.end = msgspec.structs.replace(history.end, unread=unread)
    found, reason = outcome_of(history, (msgspec.structs.replace(PASSING, outcome=decided),))
    assert found is outcome
    assert (unread in reason and bool(reason)) is (outcome is Outcome.INCONCLUSIVE)
