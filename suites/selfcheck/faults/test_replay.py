"""What proves that work was done twice, and that a kill came in the middle of a checkpoint."""

from __future__ import annotations

import pytest

from holdfast.harness.model.events import CheckpointCompleted, CheckpointTriggered, Event, NodeDied, RowsVisible
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.selfcheck.faults.scene import at, landed

REPLAY = FaultSpec("replay", COORDINATOR)


def completed(checkpoint: int, time_ms: float, position: int) -> Event:
    return at(time_ms, "coordinator.0", CheckpointCompleted(checkpoint=checkpoint, positions=(position,)))


def test_a_checkpoint_that_completes_again_was_replayed() -> None:
    assert landed(REPLAY, [completed(1, 50, 3), completed(2, 90, 5), completed(2, 150, 5)])


def test_it_may_complete_for_the_first_time_while_the_job_is_stopped() -> None:
    assert landed(REPLAY, [completed(1, 50, 3), completed(2, 110, 5), completed(2, 150, 5)])


@pytest.mark.parametrize(
    "events",
    [
        [completed(1, 50, 3), completed(2, 90, 5), completed(3, 150, 7)],
        [completed(1, 50, 3), completed(1, 60, 3), completed(2, 150, 5)],
    ],
    ids=["only-new-ones", "before-the-fault"],
)
def test_otherwise_nothing_was(events: list[Event]) -> None:
    assert not landed(REPLAY, events)


@pytest.mark.parametrize(("visible_ms", "expected"), [(None, False), (40, False), (95, True), (160, False)])
def test_an_empty_checkpoint_proves_nothing_unless_rows_came_of_it(visible_ms: float | None, expected: bool) -> None:
    events = [completed(1, 50, 3), completed(2, 90, 3), completed(2, 150, 3)]
    if visible_ms is not None:
        events.append(at(visible_ms, "reader.0", RowsVisible(name="batch", poll=1, records=1, checksum=0)))
    assert landed(REPLAY, events) is expected


@pytest.mark.parametrize(("visible_ms", "expected"), [((), True), ((40,), False), ((40, 95), True), ((95,), True)])
def test_input_of_which_no_row_came_proves_nothing_where_rows_come(
    visible_ms: tuple[float, ...], expected: bool
) -> None:
    """A filter may leave nothing of a batch; a query that keeps all in its state shows no row for long."""
    rows = [at(each, "reader.0", RowsVisible(name="batch", poll=1, records=1, checksum=0)) for each in visible_ms]
    events = sorted(
        [completed(1, 50, 3), completed(2, 90, 5), completed(2, 150, 5), *rows], key=lambda each: each.time_ns
    )
    assert landed(REPLAY, events) is expected


@pytest.mark.parametrize(
    ("before_ms", "behind_ms", "expected"),
    [(900, 1_000, True), (1_000, 1_999, False), (0, 0, False), (None, 1_000, False), (900, None, False)],
    ids=["passed-an-end", "within-one", "stood", "unknown-before", "unknown-behind"],
)
def test_where_windows_are_wanted_the_watermark_has_passed_the_end_of_one(
    before_ms: int | None, behind_ms: int | None, expected: bool
) -> None:
    spec = FaultSpec("replay", COORDINATOR, parameters={"windows": 1})
    times = [(1, 50, 3, before_ms), (2, 90, 5, behind_ms), (2, 150, 5, behind_ms)]
    events = [
        at(
            time_ms,
            "coordinator.0",
            CheckpointCompleted(checkpoint=number, positions=(end,), watermark_ms=watermark_ms),
        )
        for number, time_ms, end, watermark_ms in times
    ]
    assert landed(spec, events) is expected


def test_the_first_checkpoint_has_passed_no_window() -> None:
    spec = FaultSpec("replay", COORDINATOR, parameters={"windows": 1})
    twice = [CheckpointCompleted(checkpoint=1, positions=(3,), watermark_ms=5_000) for _ in range(2)]
    assert not landed(
        spec, [at(time_ms, "coordinator.0", each) for time_ms, each in zip((50, 150), twice, strict=True)]
    )


@pytest.mark.parametrize(("completed_ms", "unfinished"), [(90, False), (102, True), (None, True)])
def test_a_kill_in_the_middle_of_a_checkpoint(completed_ms: float | None, unfinished: bool) -> None:
    spec = FaultSpec("kill", COORDINATOR, parameters={"unfinished": 1})
    events = [
        completed(1, 50, 3),
        at(80, "coordinator.0", CheckpointTriggered(checkpoint=2, participants=())),
        at(101, "harness.0", NodeDied(dead_node="coordinator.0", cause="kill")),
    ]
    if completed_ms is not None:
        events.append(completed(2, completed_ms, 5))
    assert landed(spec, events) is unfinished


def test_a_kill_before_the_first_checkpoint_is_in_none() -> None:
    spec = FaultSpec("kill", COORDINATOR, parameters={"unfinished": 1})
    assert not landed(spec, [at(101, "harness.0", NodeDied(dead_node="coordinator.0", cause="kill"))])
