"""What a rule rests on: what was seen from outside, or the word of the system under test."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.harness.cli import execute
from holdfast.harness.engine.artefacts.plan_file import write_plan
from holdfast.harness.engine.cases.case_status import case_not_run, case_result
from holdfast.harness.engine.cases.results import run_result
from holdfast.harness.engine.certification.certificate import certificate, rule_results
from holdfast.harness.engine.executor.judge import on_its_word
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.evidence import Evidence
from holdfast.harness.model.journal import Status
from holdfast.harness.model.verdict import Anomaly, Outcome, Verdict
from holdfast.reports import verdict
from holdfast.suites.conformance.plans import plan
from holdfast.suites.selfcheck.engine.results import case, result, tally
from holdfast.suites.selfcheck.engine.scripted import ScriptedOracle
from holdfast.suites.selfcheck.engine.test_certificate import rule

CASE = case()
CLAUSES = frozenset(f"{each.oracle}/{clause}" for each in CASE.decides for clause in each.clauses)
ORACLES = registry.toolbox().oracles
OF_REFERENCE = on_its_word(ORACLES, registry.system("reference").evidence())


@pytest.mark.parametrize(
    "clause",
    [
        "EXACT/row-wrong", "NOLOSS/input-lost", "STABLE/row-changed", "TXN/committed-not-visible",
        "COORD/published-not-stored", "REACH/named-not-stored", "RETAIN/deleted-still-stored", "RESTORE/audit-differs",
        "STATE/state-missing",
    ],
)  # fmt: skip
def test_what_is_compared_with_an_observation_needs_no_word(clause: str) -> None:
    assert clause not in OF_REFERENCE


@pytest.mark.parametrize(
    "clause", ["CUT/processed-while-blocked", "COORD/two-ends", "COUNT/delay-wrong", "LIVE/end-not-reached"]
)
def test_what_only_events_of_the_system_tell_rests_on_its_word(clause: str) -> None:
    assert clause in OF_REFERENCE


def test_an_adapter_that_reads_the_evidence_elsewhere_leaves_nothing_to_the_word() -> None:
    read = dict.fromkeys(registry.system("reference").evidence(), Evidence.DERIVED)
    assert {clause.partition("/")[0] for clause in on_its_word(ORACLES, read)} == {"LIVE"}


@pytest.mark.parametrize(("clauses", "word"), [(CLAUSES, 1), (frozenset(), 0)])
def test_the_certificate_counts_rules_that_rest_on_the_word_alone(clauses: frozenset[str], word: int) -> None:
    counted = tally(result())
    results = (case_result(CASE, Tier.SIM, 1, counted, [ScriptedOracle("CUT")], {}),)
    rules = rule_results(
        (rule(), rule("BAR-02")), [CASE], results, {(CASE.id, "sim"): counted}, "RT", on_its_word=clauses
    )
    card = certificate(rules, results, [counted], "RT", ())
    assert [each.on_its_word for each in rules] == [bool(word), False]
    assert (card.decided, card.on_its_word) == (1, word)
    assert verdict.on_its_word(card) in (
        "1 of 1 decided rule rests on reports of the system itself, not seen from outside",
        "0 of 1 decided rule rests on reports of the system itself, not seen from outside",
    )


def test_a_case_that_did_not_run_observes_nothing() -> None:
    skipped = case_not_run(CASE, Tier.PROCESS, Status.UNTESTED, "needs Linux")
    (found,) = rule_results((rule(),), [CASE], [skipped], {}, "RT")
    assert not found.observed_by
    assert not found.on_its_word


@pytest.mark.parametrize(
    ("checked", "believed", "rests"),
    [
        ({"order": 2, "loss": 1}, {"CUT/order", "CUT/loss"}, True),
        ({"order": 2, "loss": 0}, {"CUT/order"}, True),
        ({"order": 2, "loss": 1}, {"CUT/order"}, False),
        ({"order": 2}, {"EXACT/order"}, False),
        ({}, {"CUT/order", "CUT/loss"}, False),
    ],
)
def test_a_verdict_rests_on_the_word_if_all_that_it_decided_does(
    checked: dict[str, int], believed: set[str], rests: bool
) -> None:
    assert Verdict("CUT", Outcome.PASS, checked=checked).rests_on(believed) is rests
    refuted = Verdict("CUT", Outcome.FAIL, (Anomaly("order", "as the test says"),), checked)
    assert refuted.rests_on(believed) is (rests or (not checked and "CUT/order" in believed))


def test_a_single_run_names_the_verdicts_that_rest_on_the_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only certificates did."""
    write_plan(tmp_path / "plan.json", plan())
    assert execute(["run", str(tmp_path / "plan.json"), "--tier", "sim", "--out", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr().out
    (stored,) = (tmp_path / "out").iterdir()
    words = {line.split()[0]: "on its word" in line for line in shown.splitlines() if " decided" in line}
    assert words["CUT"]
    assert not words["EXACT"]
    verdicts = (
        f"{sum(words.values())} of {len(words)} verdicts rest on reports of the system itself, not seen from outside"
    )
    assert verdicts in shown.splitlines()
    assert execute(["judge", str(stored)]) == 0
    assert verdicts in capsys.readouterr().out.splitlines()
    assert execute(["rerun", str(stored), "--times", "1", "--out", str(tmp_path / "again")]) == 0
    said = capsys.readouterr().out
    assert "1 of 1 run reproduced pass (on its word: " in said
    believed = said.partition("(on its word: ")[2].rstrip(")\n").split(", ")
    assert believed == [name for name, word in words.items() if word]


def test_the_journal_keeps_which_verdicts_of_a_run_rest_on_the_word() -> None:
    run = run_plan(plan(), registry.system("reference"), registry.toolbox())
    kept = run_result(run, "area/case", 0, 1.0).on_its_word
    assert kept == tuple(verdict.oracle for verdict in run.verdicts if verdict.rests_on(OF_REFERENCE))
    assert "CUT" in kept
    assert "EXACT" not in kept
