"""What the system reports of its checkpoints."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from holdfast.harness.model.events.event import Event


class CheckpointStatus(StrEnum):
    """Where a reported checkpoint stands."""

    IN_PROGRESS = "in progress"
    COMPLETED = "completed"
    FAILED = "failed"


class CheckpointType(StrEnum):
    """What kind of snapshot is reported."""

    CHECKPOINT = "checkpoint"
    UNALIGNED_CHECKPOINT = "unaligned checkpoint"
    SWITCHED_CHECKPOINT = "unaligned checkpoint after timeout"
    """It began aligned, and was not so at every subtask to its end."""
    SAVEPOINT = "savepoint"


class CheckpointCounts(msgspec.Struct, frozen=True, gc=False):
    """Checkpoints since this coordinator began; in_progress + completed + failed = total. `restored`: how often a
    checkpoint was restored."""

    restored: int = 0
    total: int = 0
    in_progress: int = 0
    completed: int = 0
    failed: int = 0


class CheckpointStatistics(Event, tag="checkpoint_statistics"):
    """What the system reports of a checkpoint, once when it begins and once when it ended.

    Attributes:
        checkpoint, checkpoint_type, status: which, and where it stands.
        triggered_ms: on the coordinator's clock.
        duration_ms: until its end; 0 while it is in progress.
        failure_reason: of a failed one.
        delta_bytes: what this checkpoint stored; what it shares with older ones is not counted.
        full_bytes: all state that it names.
        acknowledged, participants: subtasks that acknowledged, of how many.
        path: where its metadata is, of a completed one.
        idle_ms: from the end of the checkpoint before it to its trigger; 0 if one was in progress then; None for the
            first of this coordinator.
        counts: after this.
    """

    checkpoint: int
    status: CheckpointStatus
    checkpoint_type: CheckpointType = CheckpointType.CHECKPOINT
    triggered_ms: float = 0.0
    duration_ms: float = 0.0
    failure_reason: str = ""
    delta_bytes: int = 0
    full_bytes: int = 0
    acknowledged: int = 0
    participants: int = 0
    path: str = ""
    idle_ms: float | None = None
    counts: CheckpointCounts = CheckpointCounts()


class SubtaskStatistics(Event, tag="subtask_statistics"):
    """What the system reports of a subtask's part in a checkpoint, when its acknowledgement is counted.

    Attributes:
        start_delay_ms: from the trigger to the first barrier.
        alignment_ms: from the first barrier to the last one.
        held_bytes: what waited behind barriers when the last one came.
        sync_ms, async_ms: of the snapshot: while no record was processed, and beside the records.
        end_to_end_ms: from the trigger to the acknowledgement, on the coordinator's clock.
        delta_bytes, full_bytes: as of the checkpoint.
    """

    checkpoint: int
    subtask: str
    start_delay_ms: float = 0.0
    alignment_ms: float = 0.0
    held_bytes: int = 0
    sync_ms: float = 0.0
    async_ms: float = 0.0
    end_to_end_ms: float = 0.0
    delta_bytes: int = 0
    full_bytes: int = 0


class RestoreStatistics(Event, tag="restore_statistics"):
    """What the system reports when an attempt begins from a checkpoint."""

    checkpoint: int
    path: str
    counts: CheckpointCounts = CheckpointCounts()


class RestoreCompleted(Event, tag="restore_completed"):
    """What the system reports when every subtask runs that was to begin from a checkpoint: how long that took."""

    checkpoint: int
    duration_ms: float
