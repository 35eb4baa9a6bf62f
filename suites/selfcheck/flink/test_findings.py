"""Findings about Flink that are kept, rules that its cases decide, and drawn faults that strike it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from holdfast.fixtures.systems.flink.drawn_faults import PATIENT_MS, in_their_time
from holdfast.fixtures.systems.flink.system import Flink
from holdfast.harness.engine.artefacts.stored_run import read_run
from holdfast.harness.engine.executor.judge import judge
from holdfast.harness.engine.nights.settings import read_settings
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.registry import rules
from holdfast.harness.model.events import NotificationReceived, SnapshotTaken
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.target import COORDINATOR, Role, Target
from holdfast.suites import findings
from holdfast.suites.conformance.flink import CASES

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


GUIDE = Path(__file__).parents[3] / "docs" / "real-flink.md"
_RULES = re.compile(r"(?P<area>[A-Z]{3})-(?P<first>\d\d)(?: to (?P=area)-(?P<last>\d\d))?")


def named() -> set[str]:
    """The rules in the table of the guide; `A-01 to A-03` are three."""
    table = GUIDE.read_text().partition("### What is not decided")[2].partition("## 3")[0]
    rows = (row.split("|")[1] for row in table.splitlines() if row.startswith("|"))
    return {
        f"{found['area']}-{number:02}"
        for row in rows
        for found in _RULES.finditer(row)
        for number in range(int(found["first"]), int(found["last"] or found["first"]) + 1)
    }


def test_the_guide_names_what_no_case_decides() -> None:
    decided = {decision.rule for case in CASES for decision in case.decides}
    of_runtimes = {rule.id for rule in rules() if "RT" in rule.subjects}
    assert len(of_runtimes) == 118
    assert named() == of_runtimes - decided


WORKER = Target(Role.WORKER, 0)
CHANNEL = Target(Role.CHANNEL, 2)


def at(kind: str, target: Target, after: int, event: str = "") -> FaultSpec:
    return FaultSpec(kind, target, Schedule(after_checkpoint=after, at_event=event))


@pytest.mark.parametrize(
    ("faults", "progress"),
    [
        ([at("kill", WORKER, 1), at("slow", CHANNEL, 1)], [1, 2]),
        ([at("slow", CHANNEL, 1), at("kill", WORKER, 1)], [2, 1]),
        ([at("kill", COORDINATOR, 1), at("kill", WORKER, 1), at("pause", WORKER, 1)], [1, 2, 3]),
        ([at("kill", COORDINATOR, 1), at("slow", CHANNEL, 3)], [1, 3]),
        ([at("slow", CHANNEL, 1), at("pause", WORKER, 1)], [1, 1]),
        ([at("kill", WORKER, 1), at("pause", COORDINATOR, 1, "failure_counted")], [1, 1]),
        ([at("kill", WORKER, 1), at("slow", CHANNEL, 1, "rows_visible")], [1, 2]),
        ([at("kill", COORDINATOR, 0), at("kill", WORKER, 0)], [0, 1]),
    ],
    ids=[
        "kill",
        "behind",
        "two kills",
        "later",
        "no kill",
        "its failure",
        "another event",
        "at once",
    ],
)
def test_nothing_strikes_while_a_cluster_comes_back(faults: Sequence[FaultSpec], progress: list[int]) -> None:
    placed = in_their_time(faults)
    assert [(each.kind, each.schedule.at_event) for each in placed] == [(f.kind, f.schedule.at_event) for f in faults]
    assert [each.schedule.after_checkpoint for each in placed] == progress


@pytest.mark.parametrize("event", ["failure_counted", "attempt_started"])
def test_what_strikes_later_waits_for_no_recovery(event: str) -> None:
    _, later = in_their_time([at("kill", COORDINATOR, 1), at("kill", WORKER, 1, event)])
    assert later.schedule == Schedule(after_checkpoint=2)
    _, same = in_their_time([at("kill", WORKER, 1), at("pause", WORKER, 1, event)])
    assert same.schedule == Schedule(after_checkpoint=2)
    _, earlier = in_their_time([at("kill", WORKER, 3), at("kill", WORKER, 1, "failure_counted")])
    assert earlier.schedule == Schedule(after_checkpoint=1)
    [alone] = in_their_time([at("kill", WORKER, 1, event)])
    assert alone.schedule.at_event == event


def test_a_fault_that_waits_for_no_failure_any_more_strikes_beside_no_kill() -> None:
    other = Target(Role.WORKER, 1)
    event = "failure_counted"
    *_, beside = in_their_time([at("kill", WORKER, 1), at("kill", other, 3), at("pause", other, 1, event)])
    assert beside.schedule == Schedule(after_checkpoint=2)
    *_, first = in_their_time([at("kill", WORKER, 1), at("kill", other, 1, event), at("pause", WORKER, 1, event)])
    assert first.schedule == Schedule(after_checkpoint=2)


def test_processes_and_channels_are_hit_when_they_run_something() -> None:
    placed = in_their_time([at("pause", WORKER, 0), at("cut", CHANNEL, 0), at("pause", COORDINATOR, 0)])
    assert [each.schedule.at_event for each in placed] == ["job_switched"] * 3
    [early] = in_their_time([at("kill", COORDINATOR, 0)])
    assert early.schedule == Schedule()


def test_a_record_stays_poisoned_until_it_is_fed() -> None:
    poison = FaultSpec("poison", Target(Role.SOURCE_SYSTEM), Schedule(after_checkpoint=2), duration_ms=900)
    [placed] = in_their_time([poison])
    assert (placed.duration_ms, placed.schedule) == (PATIENT_MS, poison.schedule)


@pytest.mark.parametrize(
    ("kind", "occurrences", "lasts"),
    [
        ("storage-error", 1, PATIENT_MS),
        ("slow-storage", 2, PATIENT_MS),
        ("slow-storage", 0, 900),
    ],
)
def test_what_strikes_the_next_calls_waits_for_them(kind: str, occurrences: int, lasts: int) -> None:
    calls: dict[str, int | str] = {"operation": "publish-metadata", "occurrences": occurrences}
    [placed] = in_their_time([FaultSpec(kind, Target(Role.STORAGE), Schedule(after_checkpoint=2), 900, calls)])
    assert placed.duration_ms == lasts
