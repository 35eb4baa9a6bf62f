"""What proves that the next version of a job took its place."""

from __future__ import annotations

import pytest

from holdfast.faults.upgrade import upgrade
from holdfast.harness.model.events import AttemptStarted, CheckpointCompleted, Event, JobStatus, JobSwitched
from holdfast.suites.selfcheck.faults.scene import at, landed

STOPPED, REPLAYED = upgrade("stop"), upgrade("replay")
BEGUN = (2, 130)


def started(attempt: int, time_ms: float) -> Event:
    return at(time_ms, "coordinator.1", AttemptStarted(attempt=attempt, restored_checkpoint=1))


def completed(attempt: int, time_ms: float, checkpoint: int, position: int) -> Event:
    return at(
        time_ms,
        "coordinator.1",
        CheckpointCompleted(attempt=attempt, checkpoint=checkpoint, positions=(position,)),
    )


FIRST = [completed(1, 50, 1, 3), completed(1, 90, 2, 5)]


@pytest.mark.parametrize("way", ["stop", "kill"])
def test_the_next_version_completed_a_checkpoint(way: str) -> None:
    assert landed(upgrade(way), [*FIRST, started(*BEGUN), completed(2, 150, 3, 7)])


@pytest.mark.parametrize(
    "events",
    [
        [],
        [completed(1, 110, 3, 7)],
        [started(*BEGUN)],
        [completed(1, 110, 3, 7), started(*BEGUN)],
        [started(2, 80), completed(2, 150, 3, 7)],
    ],
    ids=["nothing", "of-the-former", "none-of-the-next", "of-the-former-alone", "begun-before-the-fault"],
)
def test_nothing_of_the_next_version_proves_nothing(events: list[Event]) -> None:
    assert not landed(STOPPED, [*FIRST, *events])


@pytest.mark.parametrize(("checkpoint", "expected"), [(2, True), (3, False)])
def test_where_that_is_the_way_it_did_a_checkpoint_again(checkpoint: int, expected: bool) -> None:
    events = [*FIRST, started(*BEGUN), completed(2, 150, checkpoint, 5)]
    assert landed(REPLAYED, events) is expected


@pytest.mark.parametrize(("time_ms", "expected"), [(150, True), (95, False)])
def test_one_that_fails_has_taken_its_place(time_ms: float, expected: bool) -> None:
    failed = at(time_ms, "coordinator.1", JobSwitched(status=JobStatus.FAILED, reason="it does not start"))
    assert landed(REPLAYED, [*FIRST, failed]) is expected
