"""The checkpoints of one life of the coordinator as the history shows them, and the reports that are due on them."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from holdfast.harness.model.events import (
    AckReceived,
    AttemptStarted,
    CheckpointAborted,
    CheckpointCompleted,
    CheckpointCounts,
    CheckpointStatus,
    CheckpointTriggered,
    Event,
    SavepointCompleted,
)


class Checkpoint:
    """A checkpoint in progress, as the history shows it.

    Attributes:
        idle_since: the end of the checkpoint before it, if none was in progress since; None: it is the first, or others
            were.
        beside_others: another checkpoint was in progress.
        acknowledged: by subtask, the ack that was counted.
        reported: subtasks whose part was reported.
        delta_bytes, full_bytes: of the acks; None: that of one ack is unknown.
    """

    __slots__ = (
        "acknowledged", "beside_others", "delta_bytes", "full_bytes", "idle_since", "reported", "triggered",
    )  # fmt: skip

    def __init__(self, triggered: CheckpointTriggered, idle_since: Event | None, *, beside_others: bool) -> None:
        self.triggered = triggered
        self.idle_since = idle_since
        self.beside_others = beside_others
        self.acknowledged: dict[str, AckReceived] = {}
        self.reported: set[str] = set()
        self.delta_bytes: int | None = 0
        self.full_bytes: int | None = 0


class DueReport(NamedTuple):
    """A report that must come, and the facts when it became due."""

    cause: CheckpointTriggered | CheckpointCompleted | CheckpointAborted | SavepointCompleted
    status: CheckpointStatus
    checkpoint: Checkpoint
    counts: CheckpointCounts
    acknowledged: int
    delta_bytes: int | None
    full_bytes: int | None


class Life:
    """One life of the coordinator.

    Attributes:
        ongoing: checkpoints in progress.
        aborted: the last one that was; its last part may be reported afterwards.
        due: reports that have not come yet, in the order in which they became due.
        restores: attempts that began from a checkpoint and are not reported yet, with the counts then.
        restoring: the last attempt, if it began from a checkpoint; running: when it ran after that.
        last_end: of a checkpoint.
        paths, files: of the checkpoints that are retained.
    """

    def __init__(self) -> None:
        self.ongoing: dict[int, Checkpoint] = {}
        self.aborted: dict[int, Checkpoint] = {}
        self.due: deque[DueReport] = deque()
        self.restores: deque[tuple[AttemptStarted, CheckpointCounts]] = deque()
        self.restored = self.completed = self.failed = 0
        self.restoring: AttemptStarted | None = None
        self.running: Event | None = None
        self.last_end: Event | None = None
        self.paths: dict[int, str] = {}
        self.files: dict[int, frozenset[str]] = {}

    def counts(self) -> CheckpointCounts:
        in_progress = len(self.ongoing)
        total = in_progress + self.completed + self.failed
        return CheckpointCounts(self.restored, total, in_progress, self.completed, self.failed)
