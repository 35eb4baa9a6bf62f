"""A subtask's part in a checkpoint: from its trigger or barrier to the news of how it ended."""

from __future__ import annotations

from holdfast.harness.model.checkpoint import FailureReason
from holdfast.harness.model.events.event import Event
from holdfast.harness.model.events.state import ChannelContent, FileReference, SharedHandle, StateSummary


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
        kept_entries: entries that had been kept for it beside the present state; None: its backend does not tell.
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
    """A subtask put back what was in flight, or with `skipped` left it out as it was told to."""

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
    """A subtask heard of a checkpoint's end."""

    subtask: str
    checkpoint: int
    completed: bool
