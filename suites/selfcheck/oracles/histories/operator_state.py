"""Histories for RESTORE: operator state of a sum at two subtasks, restored at as many, or at three."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.suites.selfcheck.oracles.builder import exhibits, story
from holdfast.suites.selfcheck.oracles.histories.rescaled_restore import WIDER

bad, near = exhibits("RESTORE")

Elements = Sequence[tuple[int, ...]]
SPLIT, UNION, BROADCAST = "split-distribute", "union", "broadcast"
RECORDED = ((1, 2, 3), (4, 5))


def listed(mode: str, elements: tuple[int, ...]) -> tuple[events.ListSummary, ...]:
    return (events.ListSummary("notes", mode, elements),)


def held(mode: str, elements: tuple[int, ...]) -> events.StateSummary:
    return events.StateSummary(lists=listed(mode, elements))


def restored(mode: str, given: Elements, kept: Elements | None = None, recorded: Elements = RECORDED) -> History:
    """What two sums recorded, what two or three of them are given, and keep."""
    taken = [
        events.SnapshotTaken(
            subtask=f"{vertex}[{index}]",
            checkpoint=1,
            state=held(mode, recorded[index]) if vertex == "sum" else None,
        )
        for index in (0, 1)
        for vertex in ("source", "sum", "sink")
    ]
    kept = given if kept is None else kept
    starts = [
        events.TaskStarted(
            subtask=f"{vertex}[{index}]",
            restored_checkpoint=1,
            state=held(mode, kept[index]) if vertex == "sum" else None,
            given=listed(mode, given[index]) if vertex == "sum" else (),
        )
        for index in range(len(given))
        for vertex in ("source", "sum", "sink")
    ]
    wider = len(given) == 3
    return story(
        events.JobSubmitted(),
        events.AttemptStarted(),
        *taken,
        events.CheckpointCompleted(checkpoint=1),
        (events.JobSubmitted(attempt=1_000, path="chk-1", checkpoint=1),) if wider else (),
        events.AttemptStarted(attempt=1_001 if wider else 0, restored_checkpoint=1),
        *starts,
        faults=(WIDER,) if wider else (),
    )


@bad("list-lost")
def the_last_element_is_given_to_nobody() -> History:
    return restored(SPLIT, ((1, 2), (3, 4), ()))


@bad("list-lost")
def an_element_is_given_to_two() -> History:
    return restored(SPLIT, ((1, 2), (2, 3), (4, 5)))


@near("list-lost")
def list_state_is_dealt_out() -> History:
    return restored(SPLIT, ((1, 2), (3, 4), (5,)))


@bad("list-uneven")
def all_is_given_to_the_first() -> History:
    return restored(SPLIT, ((1, 2, 3, 4, 5), (), ()))


@bad("list-uneven")
def elements_are_dealt_out_one_by_one() -> History:
    return restored(SPLIT, ((1, 4), (2, 5), (3,)))


@near("list-uneven")
def another_one_is_given_one_more() -> History:
    return restored(SPLIT, ((5,), (1, 2), (3, 4)))


@bad("union-incomplete")
def union_state_is_split() -> History:
    return restored(UNION, RECORDED)


@near("union-incomplete")
def each_is_given_all() -> History:
    return restored(UNION, ((1, 2, 3, 4, 5), (1, 2, 3, 4, 5)), kept=((1, 3), (2, 4, 5)))


@bad("union-multiplied")
def each_keeps_all() -> History:
    return restored(UNION, ((1, 2, 3, 4, 5), (1, 2, 3, 4, 5)))


@near("union-multiplied")
def three_keep_all_together() -> History:
    whole = (1, 2, 3, 4, 5)
    return restored(UNION, (whole, whole, whole), kept=((1, 3), (), (2, 4, 5)))


@bad("copy-unknown")
def a_subtask_is_given_no_copy() -> History:
    return restored(BROADCAST, ((7,), (7,), ()), recorded=((7,), (7,)))


@near("copy-unknown")
def each_is_given_a_copy() -> History:
    return restored(BROADCAST, ((7,), (7,), (7,)), recorded=((7,), (7,)))
