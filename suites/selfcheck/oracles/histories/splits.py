"""Histories for COORD: splits that an enumerator assigns, of two readers and four partitions."""

from __future__ import annotations

from holdfast.harness.model.events import (
    AckOutcome, SnapshotTaken, SplitsAssigned, SplitsLeft, SplitsListed, SplitsReceived,
)  # fmt: skip
from holdfast.harness.model.jobs import FORWARD
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, input_log
from holdfast.suites.selfcheck.oracles.lines import (
    ack_sent, acked, attempt, completed, died, finalized, published, snapshot, triggered,
)  # fmt: skip

ALL = tuple(f"{vertex}[{index}]" for vertex in ("source", "map", "sink") for index in (0, 1))


def snapshot_of(
    first: tuple[int, ...],
    second: tuple[int, ...],
    left: tuple[int, ...],
    *listings: tuple[int, ...],
    behind: tuple[int, ...] = (),
) -> list[Line]:
    """A checkpoint with what the readers have in it, and what they leave to the enumerator; what was listed before."""
    held = dict(zip(ALL, (first, second, (), (), (), ()), strict=True))
    snapshots: list[Line] = [
        snapshot(subtask, 1, *tuple((split, 3) for split in splits)) for subtask, splits in held.items()
    ]
    acks: list[Line] = [acked(1, each) for each in ALL]
    return [[SplitsListed(splits=each) for each in listings], attempt(), triggered(1, *ALL),
            [SplitsListed(splits=behind)] if behind else [], snapshots, acks,
            SplitsLeft(checkpoint=1, vertex="source", splits=left), published(1), completed()]  # fmt: skip


bad, near = exhibits("COORD", inputs=input_log(10, 10, 10, 10), job=FORWARD)

bad("split-lost", "a split that was sent is nobodys", snapshot_of((0, 2), (1,), ()))
near("split-lost", "a split that was sent is the enumerators", snapshot_of((0, 2), (1,), (3,)))
near("split-lost", "readers have all splits", snapshot_of((0, 2), (1, 3), ()))

bad("split-twice", "two readers have a split", snapshot_of((0, 2), (1, 2, 3), ()))
bad("split-twice", "a reader has a split that the enumerator keeps", snapshot_of((0, 2), (1, 3), (3,)))
near("split-twice", "no reader has any split yet", snapshot_of((), (), (0, 1, 2, 3)))

ONE_ASSIGNED, OTHER_ASSIGNED, BOTH_ASSIGNED = (
    SplitsAssigned(node="coordinator.0", subtask="source[1]", splits=splits) for splits in ((1,), (3,), (1, 3))
)  # fmt: skip
ONE_RECEIVED, BOTH_RECEIVED = (SplitsReceived(subtask="source[1]", splits=splits) for splits in ((1,), (1, 3)))
AGAIN: list[Line] = [150, ONE_ASSIGNED]
ACK_TAKEN: list[Line] = [1, at("coordinator.0", acked(1, "source[1]", outcome=AckOutcome.DISCARDED))]
"""A while after it was sent."""

DIES: list[Line] = [died(), attempt()]

bad("split-mistaken", "a reader is given splits of another",
    attempt(), BOTH_ASSIGNED, SplitsReceived(subtask="source[1]", splits=(0, 2)))  # fmt: skip
bad("split-mistaken", "a reader is given a part", attempt(), BOTH_ASSIGNED, ONE_RECEIVED)
bad("split-mistaken", "a reader is given splits of its last attempt",
    attempt(), BOTH_ASSIGNED, BOTH_RECEIVED, attempt(), OTHER_ASSIGNED, BOTH_RECEIVED)  # fmt: skip
bad("split-mistaken", "the next coordinator assigned others", attempt(), DIES, OTHER_ASSIGNED, ONE_RECEIVED)
near("split-mistaken", "a reader is given what it was assigned",
     attempt(), ONE_ASSIGNED, BOTH_ASSIGNED, ONE_RECEIVED, BOTH_RECEIVED)  # fmt: skip
near("split-mistaken", "the coordinator dies before it writes down what it assigned",
     attempt(), ONE_RECEIVED, DIES, ONE_ASSIGNED, ONE_RECEIVED)  # fmt: skip

bad("split-assigned-again", "nobody takes the confirmation", attempt(), ONE_ASSIGNED, ONE_RECEIVED, AGAIN * 4)
near("split-assigned-again", "the confirmation comes late", attempt(), ONE_ASSIGNED, ONE_RECEIVED, AGAIN * 3)
bad("split-assigned-again", "a later ack of the reader is taken",
    attempt(), ONE_ASSIGNED, ONE_RECEIVED, 1, ack_sent("source[1]"), ACK_TAKEN, AGAIN * 4)  # fmt: skip
near("split-assigned-again", "a later ack of the reader is late",
     attempt(), ONE_ASSIGNED, ONE_RECEIVED, 1, ack_sent("source[1]"), AGAIN * 5, ACK_TAKEN, AGAIN * 3)  # fmt: skip
near("split-assigned-again", "the assignment was lost for long", attempt(), AGAIN * 8, ONE_RECEIVED, 150)

bad("split-lost", "a split is lost that only the first listing held",
    snapshot_of((0, 2), (1,), (), (0, 1, 2, 3), (0, 1, 2)))  # fmt: skip
near("split-lost", "a split that was not listed yet is in no part", snapshot_of((0, 2), (1,), (), (0, 1, 2), (0, 1, 2)))
near("split-lost", "a split that was listed behind the trigger is in no part",
     snapshot_of((0, 2), (1,), (), (0, 1, 2), behind=(0, 1, 2, 3)))  # fmt: skip
near("split-lost", "a split that a later listing leaves out stays its readers",
     snapshot_of((0, 2), (1, 3), (), (0, 1, 2, 3), (0, 1, 2)))  # fmt: skip

OTHER = "coordinator.1"
GOES_ON: list[Line] = [
    snapshot_of((0, 2), (1, 3), (), (0, 1, 2, 3)), at(OTHER, SplitsListed(splits=(0, 1, 2))),
    at(OTHER, attempt(1), triggered(2, *ALL), attempt=2),
]  # fmt: skip
"""Another coordinator goes on from the checkpoint of all splits."""
COMPLETES: list[Line] = [
    [SnapshotTaken(attempt=2, subtask=each, checkpoint=2) for each in ALL[1:]],
    at(OTHER, acked(2, *ALL), SplitsLeft(checkpoint=2, vertex="source", splits=()), published(2), completed(2),
       attempt=2),
]  # fmt: skip

bad("split-lost", "a restored split is lost because a new coordinators listing leaves it out",
    GOES_ON, SnapshotTaken(attempt=2, subtask="source[0]", checkpoint=2, positions=((0, 3), (1, 3), (2, 3))),
    COMPLETES)  # fmt: skip
near("split-lost", "a restored split is held though a new coordinators listing leaves it out",
     GOES_ON, SnapshotTaken(attempt=2, subtask="source[0]", checkpoint=2, positions=((0, 3), (1, 3), (2, 3), (3, 3))),
     COMPLETES)  # fmt: skip

THREE_COMPLETE: list[Line] = [[triggered(n, *ALL), acked(n, *ALL), finalized(n)] for n in (1, 2, 3)]

bad("split-not-listed", "a job goes on and a split is in no listing",
    SplitsListed(splits=(0, 1, 2)), SplitsListed(splits=(0, 1, 2)), attempt(), THREE_COMPLETE)  # fmt: skip
near("split-not-listed", "a split is in a later listing",
     SplitsListed(splits=(0, 1, 2)), SplitsListed(splits=(0, 1, 2, 3)), attempt(), THREE_COMPLETE)  # fmt: skip
near("split-not-listed", "a split is in an earlier listing only",
     SplitsListed(splits=(0, 1, 2, 3)), SplitsListed(splits=(0, 1, 2)), attempt(), THREE_COMPLETE)  # fmt: skip
near("split-not-listed", "a job that has hardly gone on may still list it",
     SplitsListed(splits=(0, 1, 2)), attempt(), THREE_COMPLETE[:1])  # fmt: skip
