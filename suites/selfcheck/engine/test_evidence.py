"""What a verdict rests on: evidence of the system, what single clauses need beside their oracle, or its word alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from holdfast.harness.cli import execute
from holdfast.harness.engine.artefacts.json_files import write_plan
from holdfast.harness.engine.cases.case_status import case_not_run, case_result
from holdfast.harness.engine.cases.results import run_result
from holdfast.harness.engine.certification.certificate import certificate, rule_results
from holdfast.harness.engine.executor.judge import judge, missing_evidence, on_its_word
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.answers import evidence_of
from holdfast.harness.engine.site.foreign import WrongAnswer
from holdfast.harness.model.capability import Evidence
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import EVENT_KINDS, NotificationSent, SnapshotTaken
from holdfast.harness.model.journal import Status
from holdfast.harness.model.verdict import Anomaly, Outcome, Verdict
from holdfast.harness.spi.system import System
from holdfast.reports import verdict
from holdfast.suites.conformance.plans import plan
from holdfast.suites.selfcheck.engine.results import case, failing, result, tally
from holdfast.suites.selfcheck.engine.scripted import ScriptedOracle
from holdfast.suites.selfcheck.engine.test_certificate import rule
from holdfast.suites.selfcheck.oracles.builder import HISTORIES


class Telling:
    """As much of a system as is asked."""

    def __init__(self, supplied: dict[Any, Any]) -> None:
        self.supplied = supplied

    def evidence(self) -> dict[Any, Any]:
        return self.supplied


def _asked(system: Telling) -> object:
    return evidence_of(cast("System", system))


def test_an_equal_answer_of_the_same_system_is_right() -> None:
    system = Telling({"input_read": Evidence.NATIVE})
    assert _asked(system) is _asked(system) is system.supplied


@pytest.mark.parametrize(("kind", "value"), [("input_read", "some"), ("other", "native"), (1, Evidence.NATIVE)])
def test_an_answer_that_has_become_wrong_is_refused(kind: object, value: object) -> None:
    system = Telling({"input_read": Evidence.NATIVE})
    _asked(system)
    system.supplied[kind] = value
    with pytest.raises(WrongAnswer, match="evidence"):
        _asked(system)


def test_another_answer_is_not_taken_for_an_equal_one() -> None:
    _asked(Telling({"input_read": Evidence.NATIVE}))
    with pytest.raises(WrongAnswer, match="evidence"):
        _asked(Telling({"input_read": "native"}))


HISTORY = next(iter(HISTORIES.values()))()
ALL = {"snapshot_taken": Evidence.DERIVED, "notification_sent": Evidence.DERIVED}
WITHOUT_NOTICES = {"snapshot_taken": Evidence.DERIVED}


class TwoClauses(ScriptedOracle):
    """Its clause `loss` needs notices as well."""

    clause_evidence: Mapping[str, tuple[type, ...]] = {"loss": (NotificationSent,)}

    def __init__(self, *anomalies: str, checked: tuple[str, ...] = ("order", "loss")) -> None:
        super().__init__("CUT", evidence=(SnapshotTaken,))
        found = tuple(Anomaly(clause, f"{clause} is broken") for clause in anomalies)
        outcome = Outcome.FAIL if anomalies else Outcome.PASS
        self.verdict = Verdict("CUT", outcome, found, dict.fromkeys(checked, 1))

    def judge(self, history: object) -> Verdict:
        return self.verdict


@pytest.mark.parametrize(
    ("oracle", "evidence", "outcome", "anomalies", "checked"),
    [
        (TwoClauses(), ALL, Outcome.PASS, [], {"order", "loss"}),
        (TwoClauses(), WITHOUT_NOTICES, Outcome.PASS, [], {"order"}),
        (TwoClauses("loss"), ALL, Outcome.FAIL, ["loss"], {"order", "loss"}),
        (TwoClauses("loss"), WITHOUT_NOTICES, Outcome.PASS, [], {"order"}),
        (TwoClauses("order", "loss"), WITHOUT_NOTICES, Outcome.FAIL, ["order"], {"order"}),
        (TwoClauses("loss", checked=("loss",)), WITHOUT_NOTICES, Outcome.INCONCLUSIVE, [], set()),
    ],
    ids=range(6),
)
def test_a_clause_whose_evidence_is_missing_decides_nothing(
    oracle: TwoClauses, evidence: Mapping[str, Evidence], outcome: Outcome, anomalies: list[str], checked: set[str]
) -> None:
    [verdict] = judge(HISTORY, [oracle], evidence)
    assert verdict.outcome is outcome
    assert [each.clause for each in verdict.anomalies] == anomalies
    assert set(verdict.checked) == checked
    assert judge(HISTORY, [oracle]) == (oracle.verdict,)


def test_an_oracle_without_its_own_evidence_does_not_judge() -> None:
    assert judge(HISTORY, [TwoClauses()], {"notification_sent": Evidence.DERIVED}) == ()


def test_what_oracles_see_of_one_system_they_do_not_see_of_the_next() -> None:
    oracles = (TwoClauses("loss"),)
    for evidence, checked in ((ALL, {"order", "loss"}), (WITHOUT_NOTICES, {"order"}), (ALL, {"order", "loss"})):
        [verdict] = judge(HISTORY, oracles, evidence)
        assert set(verdict.checked) == checked
    changing = dict(ALL)
    assert judge(HISTORY, oracles, changing)
    del changing["snapshot_taken"]
    assert judge(HISTORY, oracles, changing) == ()


def test_a_rule_is_unobserved_if_one_of_its_clauses_is() -> None:
    found = case_result(case(), Tier.SIM, 1, tally(result()), [TwoClauses()], WITHOUT_NOTICES)
    assert found.rules == {"BAR-01": Status.UNOBSERVED}
    assert "CUT needs notification_sent" in found.rule_reasons["BAR-01"]
    seen = case_result(case(), Tier.SIM, 1, tally(result(failing())), [TwoClauses()], WITHOUT_NOTICES)
    assert seen.rules == {"BAR-01": Status.FAIL}


def test_oracles_name_clauses_and_events_that_exist_and_the_reference_lacks_nothing_for_them() -> None:
    supplied = registry.system("reference").evidence()
    for oracle in registry.toolbox().oracles:
        needed = getattr(oracle, "clause_evidence", {})
        assert needed.keys() <= oracle.clauses.keys(), oracle.name
        assert {kind for kinds in needed.values() for kind in kinds} <= set(EVENT_KINDS.values()), oracle.name
        assert not missing_evidence(oracle, supplied, *needed), oracle.name


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
