"""The life of a checkpoint, recorded by the coordinator."""

from __future__ import annotations

from enum import StrEnum

from holdfast.harness.model.checkpoint import CheckpointOrigin, FailureReason, SavepointFormat, StopMode
from holdfast.harness.model.events.event import Event
from holdfast.harness.model.events.state import FileReference, SharedFileUse


class AckOutcome(StrEnum):
    """What the coordinator made of an acknowledgement."""

    SUCCESS = "success"
    DUPLICATE = "duplicate"
    UNKNOWN = "unknown"
    """Of another attempt or of a checkpoint never triggered: its state is discarded."""
    DISCARDED = "discarded"
    """Of a checkpoint that ended already: its state is discarded."""


class CheckpointRequested(Event, tag="checkpoint_requested"):
    """Somebody asked for a checkpoint. `request` counts the requests of one life of the coordinator."""

    request: int
    origin: CheckpointOrigin


class CheckpointRefused(Event, tag="checkpoint_refused"):
    """Nothing comes of a request: no id was drawn for it and no task has heard of it."""

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

    `files` is the metadata and all that it names, `states` the number of subtask states in it; 0: nobody counts
    them.
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
    """The state of a subtask names shared files which cannot be what it says: the checkpoint is aborted."""

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
    `watermark_ms` is the event time up to which its state has done with windows; None where nobody says."""

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
