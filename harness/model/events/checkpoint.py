"""The life of a checkpoint, recorded by the coordinator, the part of each subtask in it, and what the system reports of
it."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from holdfast.harness.model.checkpoint import CheckpointOrigin, FailureReason, SavepointFormat, StopMode
from holdfast.harness.model.events.event import (
    ChannelContent,
    Event,
    FileReference,
    SharedFileUse,
    SharedHandle,
    StateSummary,
)


class AckOutcome(StrEnum):
    """What the coordinator made of an acknowledgement."""

    SUCCESS = "success"
    DUPLICATE = "duplicate"
    UNKNOWN = "unknown"
    """Of another attempt or of a checkpoint never triggered: its state is discarded."""
    DISCARDED = "discarded"
    """Of a checkpoint that ended already: its state is discarded."""


class CheckpointRequested(Event, tag="checkpoint_requested"):
    """A checkpoint was requested. `request` counts the requests of one life of the coordinator."""

    request: int
    origin: CheckpointOrigin


class CheckpointRefused(Event, tag="checkpoint_refused"):
    """A request was refused: no id was drawn for it, and no task was notified of it."""

    request: int
    origin: CheckpointOrigin
    reason: FailureReason


class CheckpointDrawn(Event, tag="checkpoint_drawn"):
    """A request's turn has come, and it has an id; the checkpoint is triggered when the id is durable."""

    checkpoint: int
    request: int
    origin: CheckpointOrigin


class CheckpointTriggered(Event, tag="checkpoint_triggered"):
    """A checkpoint became pending. `participants` are the subtasks whose acks it needs."""

    checkpoint: int
    participants: tuple[str, ...]
    origin: CheckpointOrigin = CheckpointOrigin.PERIODIC


class TriggerSent(Event, tag="trigger_sent"):
    """The trigger message left for one source subtask."""

    checkpoint: int
    subtask: str


class AckReceived(Event, tag="ack_received"):
    """An acknowledgement arrived. `attempt` is the sender's, as the message carries it."""

    checkpoint: int
    subtask: str
    outcome: AckOutcome


class DeclineReceived(Event, tag="decline_received"):
    """A task declined; `cause` is the kind of its reason."""

    checkpoint: int
    subtask: str
    reason: str
    cause: FailureReason = FailureReason.DECLINED


class MetadataPublished(Event, tag="metadata_published"):
    """The metadata of a checkpoint became visible under its final name, or was found there by a recovery.

    `files` is the metadata and all that it names, `states` the number of subtask states in it; 0: they are not
    counted.
    """

    checkpoint: int
    path: str
    files: tuple[FileReference, ...]
    states: int = 0


class SharedStateRegistered(Event, tag="shared_state_registered"):
    """A checkpoint uses these shared files from now on, those of one subtask or of all."""

    checkpoint: int
    files: tuple[SharedFileUse, ...]


class SharedStateReleased(Event, tag="shared_state_released"):
    """A checkpoint does not use these shared files any more. Of which no use is left, that is to be deleted."""

    checkpoint: int
    files: tuple[SharedFileUse, ...]


class SharedStateRejected(Event, tag="shared_state_rejected"):
    """The state of a subtask names shared files that contradict its handles: the checkpoint is aborted."""

    checkpoint: int
    subtask: str
    reason: str


class StateOverBudget(Event, tag="state_over_budget"):
    """With the state of a subtask more would be in the coordinator's memory than is allowed: the checkpoint is
    aborted."""

    checkpoint: int
    subtask: str
    reason: str


class CheckpointCompleted(Event, tag="checkpoint_completed"):
    """Terminal. From now on it is a recovery point, and may be reported. `positions` are the recorded next offsets.
    `watermark_ms` is the event time up to which its state has closed windows; None where that is not reported."""

    checkpoint: int
    positions: tuple[int, ...] = ()
    watermark_ms: int | None = None


class SavepointTriggered(Event, tag="savepoint_triggered"):
    """A checkpoint that was just triggered is a savepoint: all of it is written below `folder`, which ends with `/`."""

    checkpoint: int
    folder: str
    format: SavepointFormat
    stop: StopMode = StopMode.GO_ON


class SavepointCompleted(Event, tag="savepoint_completed"):
    """A savepoint is the user's from now on, under the path of its metadata; or a recovery found it to be one.

    Where it is a recovery point as well, a CheckpointCompleted follows; else this is the end of its checkpoint.
    `files` is the metadata and all that it names, `states` the number of subtask states in it.
    """

    checkpoint: int
    path: str
    files: tuple[FileReference, ...]
    positions: tuple[int, ...] = ()
    recovery_point: bool = False
    states: int = 0


class CheckpointAborted(Event, tag="checkpoint_aborted"):
    """Terminal. `reason` is a FailureReason."""

    checkpoint: int
    reason: str


class CheckpointDropped(Event, tag="checkpoint_dropped"):
    """A completed checkpoint is no longer retained; its files may go."""

    checkpoint: int


class CheckpointRetained(Event, tag="checkpoint_retained"):
    """The job is over and leaves a completed checkpoint to the user, under this path."""

    checkpoint: int
    path: str


class NotificationSent(Event, tag="notification_sent"):
    """The news of a checkpoint's end left for one subtask."""

    checkpoint: int
    subtask: str
    completed: bool


class TriggerReceived(Event, tag="trigger_received"):
    """A source subtask got the trigger message."""

    checkpoint: int
    subtask: str


class AlignmentTimedOut(Event, tag="alignment_timed_out"):
    """A checkpoint that began aligned took too long: from now on its barriers overtake at this subtask."""

    subtask: str
    checkpoint: int


class SnapshotTaken(Event, tag="snapshot_taken"):
    """The synchronous part of a subtask's snapshot: from here its state at this checkpoint is fixed. `unaligned`: what
    is in flight belongs to it, see ChannelStateTaken."""

    subtask: str
    checkpoint: int
    state: StateSummary | None = None
    positions: tuple[tuple[int, int], ...] = ()
    pending_transactions: tuple[str, ...] = ()
    unaligned: bool = False


class SnapshotReleased(Event, tag="snapshot_released"):
    """A subtask freed the version of its state that the snapshot was written from: it is durable, or will never be
    needed.

    Attributes:
        kept_entries: entries that had been kept for it beside the present state; None: its backend does not report it.
        open_versions: versions that are still kept for other snapshots.
        page_entries: how many entries are kept together at most, because one of them changes; believed as far as that
            is a small part of all keys.
    """

    subtask: str
    checkpoint: int
    kept_entries: int | None
    open_versions: int
    page_entries: int = 1


class ChannelStateTaken(Event, tag="channel_state_taken"):
    """What was in flight at a subtask's cut is known: the last barrier is there, and ours have left their buffers or
    overtaken them. An aligned snapshot may have overtaken outputs, too, if its checkpoint may switch."""

    subtask: str
    checkpoint: int
    channels: tuple[ChannelContent, ...] = ()


class ChannelStateRestored(Event, tag="channel_state_restored"):
    """A subtask restored in-flight records, or with `skipped` left them out as its deployment demands."""

    subtask: str
    checkpoint: int
    channels: tuple[ChannelContent, ...] = ()
    skipped: bool = False


class AckSent(Event, tag="ack_sent"):
    """A subtask acknowledged, naming the files that it stored for it; `inline_bytes` of it came with the message.
    `shared` are all shared files that its state refers to, also those that an earlier checkpoint has stored."""

    subtask: str
    checkpoint: int
    files: tuple[FileReference, ...] = ()
    inline_bytes: int = 0
    shared: tuple[SharedHandle, ...] = ()


class DeclineSent(Event, tag="decline_sent"):
    """A subtask declined; `cause` is the kind of its reason."""

    subtask: str
    checkpoint: int
    reason: str
    cause: FailureReason = FailureReason.DECLINED


class NotificationReceived(Event, tag="notification_received"):
    """A subtask was notified of a checkpoint's end."""

    subtask: str
    checkpoint: int
    completed: bool


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
