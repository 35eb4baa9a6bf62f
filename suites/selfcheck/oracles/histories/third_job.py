"""Histories for RESTORE and LOUD: the first job leaves checkpoint 1, the second starts empty and draws that id again,
the third restores what the first has left."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role, Target
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits, story
from holdfast.suites.selfcheck.oracles.legal import summary

bad, near = exhibits("RESTORE")
bad_loud, near_loud = exhibits("LOUD")

FIRST, SECOND = [(0, 0), (0, 2)], [(1, 0)]
PATH = "job-0/chk-1/_metadata"
IN_FLIGHT = (events.ChannelContent("source[0]->sum[0]", False, ((1, 5), (1, 6))),)


def _sum(held: Sequence[tuple[int, int]], subtask: str = "sum[0]", offset: int = 4) -> list[Line]:
    """What the only sum that anything was ever added to holds at checkpoint 1, and its source."""
    return [
        events.SnapshotTaken(subtask=subtask, checkpoint=1, state=summary(held)),
        events.SnapshotTaken(subtask="source[0]", checkpoint=1, positions=((0, offset),)),
    ]


def third(
    *lines: Line,
    first: Sequence[Line],
    second: Sequence[Line],
    widths: Sequence[int] = (),
    path: str = PATH,
    states: int = 0,
) -> History:
    """The third job starts so, after what the first two have recorded of their checkpoints 1."""
    wider = (FaultSpec("submit", Target(Role.COORDINATOR), parameters={"parallelism": width}) for width in widths)
    return story(
        *(events.JobSubmitted(), events.AttemptStarted(), *first),
        *(
            events.MetadataPublished(checkpoint=1, path=PATH, files=(), states=states),
            events.CheckpointCompleted(checkpoint=1),
        ),
        *(events.JobSubmitted(attempt=1_000), events.AttemptStarted(attempt=1_001), *second),
        *(
            events.JobSubmitted(attempt=2_000, path=path, checkpoint=1),
            events.AttemptStarted(attempt=2_001, restored_checkpoint=1),
        ),
        *lines,
        faults=tuple(wider),
    )


def starts(held: Sequence[tuple[int, int]], offset: int = 4, *, completed: bool = False, path: str = PATH) -> History:
    """The sum and the source of the third job start with this."""
    second = _sum(SECOND, offset=2)
    if completed:
        second += [
            events.MetadataPublished(checkpoint=1, path="job-1/chk-1/_metadata", files=()),
            events.CheckpointCompleted(checkpoint=1),
        ]
    return third(
        events.TaskStarted(subtask="sum[0]", restored_checkpoint=1, state=summary(held)),
        events.TaskStarted(subtask="source[0]", restored_checkpoint=1, positions=((0, offset),)),
        first=_sum(FIRST),
        second=second,
        path=path,
    )


@bad("state-differs")
def starts_as_one_that_never_completed() -> History:
    return starts(SECOND)


@near("state-differs")
def starts_as_the_one_that_completed() -> History:
    return starts(FIRST)


@bad("position-differs")
def reads_on_from_a_completed_one_that_it_was_not_given() -> History:
    return starts(FIRST, 2, completed=True)


@near("position-differs")
def reads_on_from_the_one_that_it_was_given() -> History:
    return starts(FIRST, completed=True)


@near("state-differs")
def was_given_that_of_the_second_job() -> History:
    return starts(SECOND, 2, completed=True, path="job-1/chk-1/_metadata")


def half(*second: Line, states: int) -> History:
    """So many of two states are in the metadata that the first job published."""
    return third(
        first=[events.CheckpointTriggered(checkpoint=1, participants=("source[0]", "sum[0]"))],
        second=second,
        states=states,
    )


@bad_loud("partial-metadata")
def the_second_job_completed_one_and_the_first_half_of_one() -> History:
    return half(
        events.CheckpointTriggered(checkpoint=1, participants=("sum[0]",)),
        events.MetadataPublished(checkpoint=1, path="job-1/chk-1/_metadata", files=(), states=1),
        events.CheckpointCompleted(checkpoint=1),
        states=1,
    )


@near_loud("partial-metadata")
def the_first_job_completed_one_and_the_second_half_of_one() -> History:
    return half(
        events.CheckpointTriggered(checkpoint=1, participants=("source[0]", "sum[0]")),
        events.MetadataPublished(checkpoint=1, path="job-1/chk-1/_metadata", files=(), states=1),
        states=2,
    )


def puts_back(*contents: events.ChannelContent) -> History:
    """Two batches were in flight at the checkpoint of the first job, and one at that of the second."""
    return third(
        events.TaskStarted(subtask="sum[0]", restored_checkpoint=1),
        events.ChannelStateRestored(subtask="sum[0]", checkpoint=1, channels=contents),
        first=[events.ChannelStateTaken(subtask="sum[0]", checkpoint=1, channels=IN_FLIGHT)],
        second=[
            events.ChannelStateTaken(
                subtask="sum[0]", checkpoint=1, channels=(events.ChannelContent("source[0]->sum[0]", False, ((1, 5),)),)
            )
        ],
    )


@bad("channel-state-differs")
def puts_back_what_was_in_flight_in_the_second_job() -> History:
    return puts_back(events.ChannelContent("source[0]->sum[0]", False, ((1, 5),)))


@near("channel-state-differs")
def puts_back_what_was_in_flight_in_the_first_job() -> History:
    return puts_back(*IN_FLIGHT)


def narrow(*held: Sequence[tuple[int, int]]) -> History:
    """The first job is of two subtasks for each vertex, the second of one, the third of three; its sums hold this."""
    empty = [events.SnapshotTaken(subtask=f"{name}[{i}]", checkpoint=1) for name in ("source", "sink") for i in (0, 1)]
    last = [
        events.TaskStarted(subtask=f"{name}[{i}]", restored_checkpoint=1)
        for name in ("source", "sink")
        for i in range(3)
    ]
    sums = [
        events.TaskStarted(subtask=f"sum[{index}]", restored_checkpoint=1, state=summary(each))
        for index, each in enumerate(held)
    ]
    return third(
        *last,
        *sums,
        first=[
            *empty,
            events.SnapshotTaken(subtask="sum[0]", checkpoint=1, state=summary(FIRST)),
            events.SnapshotTaken(subtask="sum[1]", checkpoint=1, state=summary([])),
        ],
        second=[events.SnapshotTaken(subtask="sum[0]", checkpoint=1, state=summary(SECOND))],
        widths=(1, 3),
    )


@bad("rescaled-state-differs")
def is_wider_and_starts_as_one_that_never_completed() -> History:
    return narrow(SECOND, [], [])


@near("rescaled-state-differs")
def is_wider_and_starts_as_the_one_that_completed() -> History:
    return narrow([], FIRST, [])


@bad_loud("started-empty")
def starts_empty_where_the_second_job_held_nothing() -> History:
    return third(
        events.TaskStarted(subtask="sum[0]", restored_checkpoint=1, state=summary([])),
        first=_sum(FIRST),
        second=_sum([]),
    )


@near_loud("started-empty")
def starts_empty_where_only_the_second_job_held_anything() -> History:
    return third(
        events.TaskStarted(subtask="sum[0]", restored_checkpoint=1, state=summary([])),
        events.TaskStarted(subtask="sum[1]", restored_checkpoint=1, state=summary(FIRST)),
        first=[*_sum([]), *_sum(FIRST, "sum[1]")],
        second=_sum(SECOND),
    )
