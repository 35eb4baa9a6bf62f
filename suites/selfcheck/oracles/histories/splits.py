"""Histories for COORD: splits that an enumerator assigns, of two readers and four partitions."""

from __future__ import annotations

from holdfast.harness.model.events import (
    AckOutcome,
    AckReceived,
    AttemptStarted,
    CheckpointCompleted,
    CheckpointTriggered,
    Event,
    MetadataPublished,
    SnapshotTaken,
    SplitsLeft,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.jobs import FORWARD
from holdfast.suites.selfcheck.oracles.builder import exhibits, input_log
from holdfast.suites.selfcheck.oracles.builder import story as any_story

bad, near = exhibits("COORD")

ALL = tuple(f"{vertex}[{index}]" for vertex in ("source", "map", "sink") for index in (0, 1))


def story(first: tuple[int, ...], second: tuple[int, ...], left: tuple[int, ...]) -> History:
    """A checkpoint with what the readers have in it, and what they leave to the enumerator."""
    held = dict(zip(ALL, (first, second, (), (), (), ()), strict=True))
    snapshots: list[Event] = [
        SnapshotTaken(subtask=subtask, checkpoint=1, positions=tuple((split, 3) for split in splits))
        for subtask, splits in held.items()
    ]
    acks: list[Event] = [AckReceived(checkpoint=1, subtask=each, outcome=AckOutcome.SUCCESS) for each in ALL]
    return any_story(
        AttemptStarted(),
        CheckpointTriggered(checkpoint=1, participants=ALL),
        snapshots,
        acks,
        SplitsLeft(checkpoint=1, vertex="source", splits=left),
        MetadataPublished(checkpoint=1, path="chk-1/_metadata", files=()),
        CheckpointCompleted(checkpoint=1),
        job=FORWARD,
        inputs=input_log(10, 10, 10, 10),
    )


@bad("split-lost")
def a_split_that_was_sent_is_nobodys() -> History:
    return story((0, 2), (1,), ())


@near("split-lost")
def a_split_that_was_sent_is_the_enumerators() -> History:
    return story((0, 2), (1,), (3,))


@near("split-lost")
def readers_have_all_splits() -> History:
    return story((0, 2), (1, 3), ())


@bad("split-twice")
def two_readers_have_a_split() -> History:
    return story((0, 2), (1, 2, 3), ())


@bad("split-twice")
def a_reader_has_a_split_that_the_enumerator_keeps() -> History:
    return story((0, 2), (1, 3), (3,))


@near("split-twice")
def no_reader_has_any_split_yet() -> History:
    return story((), (), (0, 1, 2, 3))
