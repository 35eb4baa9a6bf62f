"""The one table of event kinds: what the history of an accused can say.

Rules of this file:
- A kind is a class; its tag is the kind's name on disk. Header fields (node to evidence) are stamped by the driver.
- A node is one life of one process: `worker-1.0` is the first life of worker 1. A subtask is `vertex[index]`,
  a channel `vertex[index]->vertex[index]`.
- Order is (node, sequence) plus MESSAGE_EDGES. `time_ns` is monotonic within a node and for display elsewhere.
- An operation at a boundary is recorded before it is tried, then as ok or failed; neither means undecided.
"""

from __future__ import annotations

from enum import StrEnum
from typing import get_args

import msgspec

from holdfast.harness.model.checkpoint import CheckpointOrigin, FailureReason
from holdfast.harness.model.configuration import EffectiveConfiguration
from holdfast.harness.model.evidence import Evidence

SCHEMA_VERSION = 1


class JobStatus(StrEnum):
    """Where a job can be."""

    CREATED = "created"
    RUNNING = "running"
    RESTARTING = "restarting"
    CANCELLING = "cancelling"
    """A user has ended it, and what is left of it goes."""
    FINISHED = "finished"
    CANCELED = "canceled"
    """A user wanted no more of it."""
    FAILED = "failed"
    SUSPENDED = "suspended"
    """A user wants it to go on later."""


OVER = frozenset({JobStatus.CANCELLING, JobStatus.FINISHED, JobStatus.CANCELED, JobStatus.FAILED, JobStatus.SUSPENDED})
"""From these no job comes back."""


class AckOutcome(StrEnum):
    """What the coordinator made of an acknowledgement."""

    SUCCESS = "success"
    DUPLICATE = "duplicate"
    UNKNOWN = "unknown"
    """Of another attempt or of a checkpoint never triggered: its state is discarded."""
    DISCARDED = "discarded"
    """Of a checkpoint that ended already: its state is discarded."""


class FileReference(msgspec.Struct, frozen=True, gc=False):
    """A stored file as its writer knew it. `checksum` is the CRC-32 of the content."""

    path: str
    length: int
    checksum: int


class BroadcastSummary(msgspec.Struct, frozen=True):
    """What one subtask's copy of broadcast state held: number, sum of values and of identity hashes of its records."""

    records: int
    value: int
    digest: int


class StateSummary(msgspec.Struct, frozen=True):
    """What one subtask's state held, in a form that can be added up over subtasks.

    Attributes:
        keys: number of keys.
        records: contributing inputs.
        value: sum of values.
        digest: sum modulo 2**64 of identity hashes (see Contract).
        entries: value by key, given when there are at most 16 keys.
        broadcast: the copy of broadcast state, which is the same in every subtask and in none of the sums above.
    """

    keys: int = 0
    records: int = 0
    value: int = 0
    digest: int = 0
    entries: dict[str, int] | None = None
    broadcast: BroadcastSummary | None = None


class ChannelContent(msgspec.Struct, frozen=True, gc=False):
    """In-flight batches of one channel at a cut.

    Attributes:
        channel: which.
        output: they waited at its sender; else at its receiver.
        batches: (attempt that counted it, position), in order.
        state: what they add up to, as far as it can be told.
    """

    channel: str
    output: bool
    batches: tuple[tuple[int, int], ...]
    state: StateSummary | None = None


class Event(msgspec.Struct, tag_field="kind", kw_only=True, forbid_unknown_fields=True, gc=False):
    """Header of every event.

    Attributes:
        version: schema version of the line.
        node: which life of which process it happened in.
        sequence: dense from 0 within a node.
        time_ns: since the start of the run, on the clock of `Deployment.now_ms`; one origin for all nodes.
        attempt: execution attempt (epoch) of the job that it belongs to, 0 before the first.
        evidence: how the fact is known.
    """

    version: int = SCHEMA_VERSION
    node: str = ""
    sequence: int = -1
    time_ns: int = 0
    attempt: int = 0
    evidence: Evidence = Evidence.NATIVE


# --- nodes and faults, recorded by the harness -----------------------------------------------------------------------


class NodeStarted(Event, tag="node_started"):
    """A process (on the simulator: a node) began to live."""


class NodeDied(Event, tag="node_died"):
    """It ended; recorded by the harness under a node of its own, because the dead write nothing."""

    dead_node: str
    cause: str


class FaultInjected(Event, tag="fault_injected"):
    """A fault began to act. `fault` is its index in the plan."""

    fault: int
    fault_kind: str
    target: str


class FaultHealed(Event, tag="fault_healed"):
    """A fault was undone and the undo was checked."""

    fault: int
    fault_kind: str
    target: str


# --- job and recovery, recorded by the coordinator -------------------------------------------------------------------


class CoordinatorClaimed(Event, tag="coordinator_claimed"):
    """A coordinator has taken over a job: from now on nothing counts that one with a lower epoch does. No attempt of
    the job is below `first_attempt`."""

    epoch: int
    first_attempt: int = 0


class CoordinatorSuperseded(Event, tag="coordinator_superseded"):
    """A coordinator was refused, because a successor has claimed a higher epoch than its own, and ends."""

    epoch: int


class JobConfigured(Event, tag="job_configured"):
    """What is in force for the job, told whenever a coordinator begins to live, and at submit."""

    configuration: EffectiveConfiguration


class JobSubmitted(Event, tag="job_submitted"):
    """A job begins that no coordinator has worked for yet, on a fresh cluster. It restores a checkpoint that an earlier
    one left, by its `path`, or starts empty, without a path. Its attempts are above the `attempt` of this event."""

    path: str = ""
    checkpoint: int | None = None


class JobSwitched(Event, tag="job_switched"):
    """The job changed its status."""

    status: JobStatus
    reason: str = ""


class AttemptStarted(Event, tag="attempt_started"):
    """An execution attempt is deployed, from a checkpoint or, with None, from the initial state; `subtasks` are those
    that it is one of, where it is not one of all."""

    restored_checkpoint: int | None = None
    subtasks: tuple[str, ...] = ()


class FailureCounted(Event, tag="failure_counted"):
    """A failure was handed to the restart strategy, or, as one that no restart can help, was not.

    `subtask` failed; empty: a worker, or the coordinator's own work. `subtasks` go down with it; empty: all.
    `failed_checkpoint` is the one whose failure was one more than tolerable; 0 where something else failed.
    """

    cause: str
    subtask: str = ""
    subtasks: tuple[str, ...] = ()
    recoverable: bool = True
    failed_checkpoint: int = 0


class RestartScheduled(Event, tag="restart_scheduled"):
    """The strategy allows a restart after a delay."""

    delay_ms: int


class RestartRefused(Event, tag="restart_refused"):
    """The strategy refuses: the job fails."""

    reason: str


class RecoveryFailed(Event, tag="recovery_failed"):
    """The checkpoint to restore cannot be used; said loudly."""

    checkpoint: int
    reason: str


# --- checkpoints, recorded by the coordinator ------------------------------------------------------------------------


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


class SplitsAssigned(Event, tag="splits_assigned"):
    """An enumerator sent splits to a reader; `attempt` is the reader's."""

    subtask: str
    splits: tuple[int, ...]


class SplitsLeft(Event, tag="splits_left"):
    """An enumerator's part of a checkpoint: the splits of a source vertex that no reader's part holds."""

    checkpoint: int
    vertex: str
    splits: tuple[int, ...]


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

    `files` is the metadata and all that it names, `states` the number of subtask states in it.
    """

    checkpoint: int
    path: str
    files: tuple[FileReference, ...]
    states: int = 0


class CheckpointCompleted(Event, tag="checkpoint_completed"):
    """Terminal. From now on it is a recovery point and may be told. `positions` are the recorded next offsets."""

    checkpoint: int
    positions: tuple[int, ...] = ()


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


class FinishReceived(Event, tag="finish_received"):
    """The coordinator heard that a subtask finished, or found it so in the checkpoint that an attempt starts from."""

    subtask: str


class NotificationSent(Event, tag="notification_sent"):
    """The news of a checkpoint's end left for one subtask."""

    checkpoint: int
    subtask: str
    completed: bool


# --- tasks -----------------------------------------------------------------------------------------------------------


class TaskStarted(Event, tag="task_started"):
    """A subtask runs, with the state that it starts from.

    `positions` holds (partition, next offset) of a source subtask, `pending_transactions` those a sink found in its
    state. `finished`: it had finished before the restored checkpoint, and only says so to those behind it.
    """

    subtask: str
    restored_checkpoint: int | None = None
    state: StateSummary | None = None
    positions: tuple[tuple[int, int], ...] = ()
    pending_transactions: tuple[str, ...] = ()
    finished: bool = False


class OperatorFinished(Event, tag="operator_finished"):
    """finish() of a subtask was called: no input will come any more, and what it held back has been emitted."""

    subtask: str


class SubtaskFinished(Event, tag="subtask_finished"):
    """A subtask ended well, with the state and positions that it had: from now on it takes part in nothing."""

    subtask: str
    state: StateSummary | None = None
    positions: tuple[tuple[int, int], ...] = ()


class TaskStopped(Event, tag="task_stopped"):
    """A subtask was cancelled or failed."""

    subtask: str
    reason: str


class SourceEmitted(Event, tag="source_emitted"):
    """A source subtask emitted the records [first_offset, next_offset) of a partition."""

    subtask: str
    partition: int
    first_offset: int
    next_offset: int


class SplitsReceived(Event, tag="splits_received"):
    """A reader was given splits; it may have some of them already."""

    subtask: str
    splits: tuple[int, ...]


class RecordFailed(Event, tag="record_failed"):
    """A record made its operator fail. `recoverable` False: the operator says that no restart can help."""

    subtask: str
    partition: int
    offset: int
    cause: str
    recoverable: bool = True


class TriggerReceived(Event, tag="trigger_received"):
    """A source subtask got the trigger message."""

    checkpoint: int
    subtask: str


class BatchSent(Event, tag="batch_sent"):
    """A batch entered a channel. `position` counts the batches of this channel and attempt from 0. What was in flight
    at the restored cut is not sent again: see ChannelStateRestored, and `origin` of BatchProcessed."""

    channel: str
    position: int
    records: int
    origin: int = 0


class BatchProcessed(Event, tag="batch_processed"):
    """A batch left a channel and took effect on the receiving subtask. One that was in flight at the restored cut has
    the position of its `origin`, the attempt that counted it; 0: this one."""

    channel: str
    position: int
    records: int
    origin: int = 0


class BarrierSent(Event, tag="barrier_sent"):
    """A barrier entered a channel; `overtaking` in front of what waited at its sender."""

    channel: str
    checkpoint: int
    overtaking: bool = False


class BarrierReceived(Event, tag="barrier_received"):
    """A barrier left a channel; `overtaking` in front of what waited at its receiver. `held_bytes` waited then in the
    channels that its receiver had blocked."""

    channel: str
    checkpoint: int
    held_bytes: int = 0
    overtaking: bool = False


class EndOfDataSent(Event, tag="end_of_data_sent"):
    """The end of the records entered a channel; barriers may follow."""

    channel: str


class EndOfDataReceived(Event, tag="end_of_data_received"):
    """The end of the records left a channel."""

    channel: str


class EndOfPartitionReceived(Event, tag="end_of_partition_received"):
    """The end of its sender left a channel: no barrier will come on it any more."""

    channel: str


class CancellationSent(Event, tag="cancellation_sent"):
    """A marker entered a channel in the place of a barrier: the checkpoint was given up above."""

    channel: str
    checkpoint: int


class CancellationReceived(Event, tag="cancellation_received"):
    """Such a marker left a channel."""

    channel: str
    checkpoint: int


class ChannelBlocked(Event, tag="channel_blocked"):
    """Aligned: nothing is taken from this channel until the alignment ends."""

    channel: str
    checkpoint: int


class ChannelUnblocked(Event, tag="channel_unblocked"):
    """The alignment ended or was given up."""

    channel: str
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
        kept_entries: entries that had been kept for it beside the present state.
        open_versions: versions that are still kept for other snapshots.
        page_entries: how many entries are kept together at most, because one of them changes.
    """

    subtask: str
    checkpoint: int
    kept_entries: int
    open_versions: int
    page_entries: int = 1


class ChannelStateTaken(Event, tag="channel_state_taken"):
    """What was in flight at a subtask's cut is known: the last barrier is there, and ours have left their buffers or
    overtaken them. An aligned snapshot may have overtaken outputs, too, if its checkpoint may switch."""

    subtask: str
    checkpoint: int
    channels: tuple[ChannelContent, ...] = ()


class AlignmentTimedOut(Event, tag="alignment_timed_out"):
    """A checkpoint that began aligned took too long: from now on its barriers overtake at this subtask."""

    subtask: str
    checkpoint: int


class BuffersResized(Event, tag="buffers_resized"):
    """Buffer debloating: from now on either end of each input of a subtask holds so many batches."""

    subtask: str
    buffers: int


class ChannelStateRestored(Event, tag="channel_state_restored"):
    """A subtask put back what was in flight, or with `skipped` left it out as it was told to."""

    subtask: str
    checkpoint: int
    channels: tuple[ChannelContent, ...] = ()
    skipped: bool = False


class AckSent(Event, tag="ack_sent"):
    """A subtask acknowledged, naming the files that hold its state; `inline_bytes` of it came with the message."""

    subtask: str
    checkpoint: int
    files: tuple[FileReference, ...] = ()
    inline_bytes: int = 0


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


# --- transactions of a two-phase-commit sink -------------------------------------------------------------------------


class TransactionPrecommitted(Event, tag="transaction_precommitted"):
    """The rows of a transaction are durable and invisible. `checkpoint` is the barrier that closed it."""

    subtask: str
    transaction: str
    checkpoint: int
    records: int


class CommitTried(Event, tag="commit_tried"):
    """A commit was asked of the sink system; `recovering` when a restored state asks for it."""

    subtask: str
    transaction: str
    recovering: bool = False


class TransactionCommitted(Event, tag="transaction_committed"):
    """The sink system confirmed; committing again what is committed also ends here."""

    subtask: str
    transaction: str


class CommitFailed(Event, tag="commit_failed"):
    """The sink system answered with an error."""

    subtask: str
    transaction: str
    reason: str


class TransactionAborted(Event, tag="transaction_aborted"):
    """An invisible transaction was thrown away."""

    subtask: str
    transaction: str


# --- storage and reader, recorded at the boundary --------------------------------------------------------------------


class FileWritten(Event, tag="file_written"):
    """A file of the checkpoint storage is complete and durable under this path."""

    file: FileReference


class FileDeleted(Event, tag="file_deleted"):
    """A file of the checkpoint storage is gone."""

    path: str


class StorageFailed(Event, tag="storage_failed"):
    """A storage operation failed. `injected` when a fault of the plan made it fail; `subtask` and `checkpoint` where it
    was a part of a snapshot."""

    operation: str
    path: str
    reason: str
    injected: bool = False
    subtask: str = ""
    checkpoint: int = 0


class StorageSlowed(Event, tag="storage_slowed"):
    """A storage operation is held up on purpose, by a fault of the plan."""

    operation: str
    path: str
    delay_ms: int


class RowsVisible(Event, tag="rows_visible"):
    """The committed reader saw a unit of output for the first time."""

    name: str
    poll: int
    records: int
    checksum: int
    final: bool = False


class RowsChanged(Event, tag="rows_changed"):
    """A unit that was visible changed its content, or with `vanished` is not there any more."""

    name: str
    poll: int
    vanished: bool
    final: bool = False


class ReaderPolled(Event, tag="reader_polled"):
    """How often the reader looked, recorded when it ends."""

    polls: int
    interval_ms: int


# --- what the coordinator reports of its checkpoints -----------------------------------------------------------------


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


# --- audit, after the run --------------------------------------------------------------------------------------------


class CheckpointAudited(Event, tag="checkpoint_audited"):
    """A retained checkpoint was restored once more into a fresh runtime; `problem` is empty if that worked."""

    checkpoint: int
    problem: str = ""


class SubtaskAudited(Event, tag="subtask_audited"):
    """What that restore gave one subtask."""

    checkpoint: int
    subtask: str
    state: StateSummary | None = None
    positions: tuple[tuple[int, int], ...] = ()
    pending_transactions: tuple[str, ...] = ()


class StorageListed(Event, tag="storage_listed"):
    """All files of the checkpoint storage after the run, read back by the harness."""

    files: tuple[FileReference, ...]


AnyEvent = (
    NodeStarted | NodeDied | FaultInjected | FaultHealed
    | CoordinatorClaimed | CoordinatorSuperseded
    | JobConfigured | JobSubmitted | JobSwitched | AttemptStarted | FailureCounted | RestartScheduled | RestartRefused
    | RecoveryFailed
    | CheckpointRequested | CheckpointRefused | CheckpointDrawn
    | CheckpointTriggered | TriggerSent | AckReceived | DeclineReceived | MetadataPublished | CheckpointCompleted
    | CheckpointAborted | CheckpointDropped | CheckpointRetained | NotificationSent | FinishReceived
    | SplitsAssigned | SplitsLeft | SplitsReceived
    | TaskStarted | OperatorFinished | SubtaskFinished | TaskStopped | SourceEmitted | RecordFailed | TriggerReceived
    | BatchSent | BatchProcessed | EndOfDataSent | EndOfDataReceived | EndOfPartitionReceived | BarrierSent
    | BarrierReceived | CancellationSent | CancellationReceived | ChannelBlocked | ChannelUnblocked | SnapshotTaken
    | SnapshotReleased | AlignmentTimedOut | BuffersResized | ChannelStateTaken
    | ChannelStateRestored | AckSent | DeclineSent | NotificationReceived
    | TransactionPrecommitted | CommitTried | TransactionCommitted | CommitFailed | TransactionAborted
    | FileWritten | FileDeleted | StorageFailed | StorageSlowed | RowsVisible | RowsChanged | ReaderPolled
    | CheckpointStatistics | SubtaskStatistics | RestoreStatistics
    | CheckpointAudited | SubtaskAudited | StorageListed
)  # fmt: skip
"""The union a line of a history decodes to."""

EVENT_KINDS: dict[str, type[Event]] = {str(kind.__struct_config__.tag): kind for kind in get_args(AnyEvent)}

MESSAGE_EDGES: tuple[tuple[type[Event], type[Event], tuple[str, ...]], ...] = (
    (AttemptStarted, TaskStarted, ("attempt",)),
    (TriggerSent, TriggerReceived, ("attempt", "checkpoint", "subtask")),
    (SplitsAssigned, SplitsReceived, ("attempt", "subtask", "splits")),
    (BarrierSent, BarrierReceived, ("attempt", "channel", "checkpoint")),
    (CancellationSent, CancellationReceived, ("attempt", "channel", "checkpoint")),
    (BatchSent, BatchProcessed, ("attempt", "channel", "position", "origin")),
    (EndOfDataSent, EndOfDataReceived, ("attempt", "channel")),
    (SubtaskFinished, FinishReceived, ("attempt", "subtask")),
    (AckSent, AckReceived, ("attempt", "checkpoint", "subtask")),
    (DeclineSent, DeclineReceived, ("attempt", "checkpoint", "subtask")),
    (NotificationSent, NotificationReceived, ("attempt", "checkpoint", "subtask", "completed")),
)
"""(sent, received, fields that pair them): what orders events of different nodes. Of several sends with one pairing
the first orders; a reception whose send was not recorded (its sender died first) is not ordered by it."""
