"""What single clauses need beside their oracle: where a system lacks it, the others decide."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from holdfast.harness.engine.cases.case_status import case_result
from holdfast.harness.engine.executor.judge import judge, missing_evidence
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import EVENT_KINDS, NotificationSent, SnapshotTaken
from holdfast.harness.model.evidence import Evidence
from holdfast.harness.model.journal import Status
from holdfast.harness.model.verdict import Anomaly, Outcome, Verdict
from holdfast.suites.selfcheck.engine.results import case, failing, result, tally
from holdfast.suites.selfcheck.engine.scripted import ScriptedOracle
from holdfast.suites.selfcheck.oracles.builder import HISTORIES

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
