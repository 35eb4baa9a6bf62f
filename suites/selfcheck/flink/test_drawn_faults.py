"""Faults of drawn plans strike real Flink when there is something to hit."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from holdfast.fixtures.systems.flink.drawn_faults import PATIENT_MS, in_their_time
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.target import COORDINATOR, Role, Target

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
