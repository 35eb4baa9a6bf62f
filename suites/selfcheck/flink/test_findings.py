"""Findings about Flink that are kept: each history shows its own still, without a Flink, and a waiver means it."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.fixtures.systems.flink.system import Flink
from holdfast.harness.engine.artefacts.stored_run import read_run
from holdfast.harness.engine.executor.judge import judge
from holdfast.harness.engine.nights.settings import read_settings
from holdfast.harness.engine.site import registry
from holdfast.harness.model.events import NotificationReceived, SnapshotTaken
from holdfast.harness.model.history import History
from holdfast.suites import findings

KEPT = Path(findings.__path__[0])
WAIVERS = read_settings(KEPT / "waivers.toml", KEPT).waivers
FORGETS = "flink-forgets-aborts"
REFUTED: dict[str, set[str]] = {
    "FLINK-37870": {"CUT/begins-aligned"},
    "FLINK-38267": {"LIVE/no-new-checkpoints", "LIVE/input-not-drained", "LIVE/end-not-reached"},
    "flink-counts-a-checkpoint-twice": {"COUNT/failed-below-tolerable", "COUNT/tolerable-exceeded"},
    FORGETS: set(),
}
"""By folder, the clauses that refute the version of its plan."""


def kept(name: str) -> tuple[History, set[str]]:
    """A history, and the clauses that refute it."""
    history, _ = read_run(KEPT / name)
    system = registry.system(history.plan.system)
    verdicts = judge(history, registry.toolbox().oracles, system.evidence())
    return history, {f"{verdict.oracle}/{anomaly.clause}" for verdict in verdicts for anomaly in verdict.anomalies}


def test_each_folder_is_judged_here() -> None:
    assert {folder.parent.name for folder in KEPT.glob("*/plan.json")} == set(REFUTED)


@pytest.mark.parametrize("name", REFUTED)
def test_a_kept_history_shows_its_finding(name: str) -> None:
    history, clauses = kept(name)
    assert clauses == REFUTED[name]
    waived = [waiver for waiver in WAIVERS if waiver.reason.startswith(f"{name}:")]
    assert bool(waived) is bool(clauses)
    assert not clauses or history.plan.system in {waiver.system for waiver in waived}


def test_a_task_takes_snapshots_behind_the_news_that_they_are_aborted() -> None:
    """Where two were aborted before the barrier of the first had come."""
    history, _ = read_run(KEPT / FORGETS)
    aborted = {
        (event.subtask, event.checkpoint): event.time_ns
        for event in history.of(NotificationReceived)
        if not event.completed
    }
    late = [
        event
        for event in history.of(SnapshotTaken)
        if event.time_ns > aborted.get((event.subtask, event.checkpoint), 1 << 63)
    ]
    assert len(late) > 1


def test_waivers_name_versions_that_can_be_had_and_rules_that_the_clauses_decide() -> None:
    deciding = {
        (each.rule, f"{each.oracle}/{clause}")
        for case in registry.cases()
        for each in case.decides
        for clause in each.clauses
    }
    for waiver in WAIVERS:
        assert any((waiver.rule, clause) in deciding for clause in REFUTED[waiver.reason.partition(":")[0]])
        assert Flink(waiver.system.partition("+")[2]).name == waiver.system
