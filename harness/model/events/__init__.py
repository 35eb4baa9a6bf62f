"""The one table of event kinds: everything that a history can record.

Rules of this package:
- A kind is a class in the file of its subject, and stands in the table here; everybody imports it from here. Its tag is
  the kind's name on disk. Header fields (node to evidence) are stamped by the driver.
- A node is one life of one process: `worker-1.0` is the first life of worker 1. A subtask is `vertex[index]`,
  a channel `vertex[index]->vertex[index]`.
- Order is (node, sequence) plus MESSAGE_EDGES. `time_ns` is monotonic within a node and for display elsewhere.
- An operation at a boundary is recorded before it is tried, then as ok or failed; neither means undecided.
"""

from __future__ import annotations

from typing import get_args

from holdfast.harness.model.events.checkpoint import (
    AckOutcome,
    AckReceived,
    AckSent,
    AlignmentTimedOut,
    ChannelStateRestored,
    ChannelStateTaken,
    CheckpointAborted,
    CheckpointCompleted,
    CheckpointCounts,
    CheckpointDrawn,
    CheckpointDropped,
    CheckpointRefused,
    CheckpointRequested,
    CheckpointRetained,
    CheckpointStatistics,
    CheckpointStatus,
    CheckpointTriggered,
    CheckpointType,
    DeclineReceived,
    DeclineSent,
    MetadataPublished,
    NotificationReceived,
    NotificationSent,
    RestoreCompleted,
    RestoreStatistics,
    SavepointCompleted,
    SavepointTriggered,
    SharedStateRegistered,
    SharedStateRejected,
    SharedStateReleased,
    SnapshotReleased,
    SnapshotTaken,
    StateOverBudget,
    SubtaskStatistics,
    TriggerReceived,
    TriggerSent,
)
from holdfast.harness.model.events.event import (
    SCHEMA_VERSION,
    BroadcastSummary,
    ChannelContent,
    Event,
    FileReference,
    HeldState,
    ListSummary,
    SharedFileUse,
    SharedHandle,
    StateSummary,
)
from holdfast.harness.model.events.fault import (
    BY_HARNESS,
    LEFT,
    ConnectionsRefused,
    FaultHealed,
    FaultInjected,
    FaultStruck,
    InputDelayed,
    InputTruncated,
    MachineStalled,
    MessageDisturbed,
    NodeDied,
    NodeStarted,
)
from holdfast.harness.model.events.job import (
    OVER,
    AttemptStarted,
    CheckpointFolderSeen,
    CoordinatorClaimed,
    CoordinatorSuperseded,
    FailureCounted,
    JobConfigured,
    JobStatus,
    JobSubmitted,
    JobSwitched,
    QueryStarted,
    RecoveryFailed,
    RescaleAccepted,
    RescaleRefused,
    RescaleRequested,
    RestartRefused,
    RestartScheduled,
)
from holdfast.harness.model.events.output import (
    AcknowledgementHeld,
    CommitFailed,
    CommitTried,
    InputAcknowledged,
    InvariantChecked,
    ProgramHeld,
    ProgramReady,
    ReaderPolled,
    RowsChanged,
    RowsVisible,
    StateFound,
    StateRestored,
    TransactionAborted,
    TransactionCommitted,
    TransactionPrecommitted,
)
from holdfast.harness.model.events.storage import (
    CheckpointAudited,
    FileDeleted,
    FileWritten,
    LocalCopiesPruned,
    LocalCopyRefused,
    LocalCopySpoilt,
    LocalCopyUsed,
    LocalCopyWritten,
    LocalDiskListed,
    ObjectDamaged,
    ObjectMended,
    StateFileRead,
    StorageFailed,
    StorageListed,
    StorageObserved,
    StorageSlowed,
    SubtaskAudited,
    SubtaskMoved,
)
from holdfast.harness.model.events.task import (
    BarrierReceived,
    BarrierSent,
    BatchProcessed,
    BatchSent,
    BuffersResized,
    CancellationReceived,
    CancellationSent,
    ChannelBlocked,
    ChannelUnblocked,
    EndOfDataReceived,
    EndOfDataSent,
    EndOfPartitionReceived,
    FinishReceived,
    InputRead,
    KeysLookedUp,
    LateRecords,
    LookedUp,
    NamedTimers,
    OperatorFinished,
    RecordFailed,
    RecordsDropped,
    SourceEmitted,
    SplitsAssigned,
    SplitsLeft,
    SplitsListed,
    SplitsReceived,
    SubtaskFinished,
    TaskStarted,
    TaskStopped,
    TimersFired,
    TimersSet,
)

AnyEvent = (
    NodeStarted | NodeDied | FaultInjected | FaultStruck | FaultHealed | InputDelayed | InputTruncated
    | MessageDisturbed | MachineStalled | ConnectionsRefused
    | CoordinatorClaimed | CoordinatorSuperseded | JobConfigured | JobSubmitted | JobSwitched | AttemptStarted
    | QueryStarted | CheckpointFolderSeen
    | RescaleRequested | RescaleAccepted | RescaleRefused
    | FailureCounted | RestartScheduled | RestartRefused | RecoveryFailed
    | CheckpointRequested | CheckpointRefused | CheckpointDrawn | CheckpointTriggered | TriggerSent | AckReceived
    | DeclineReceived | MetadataPublished | CheckpointCompleted | CheckpointAborted | CheckpointDropped
    | CheckpointRetained | SavepointTriggered | SavepointCompleted | NotificationSent
    | CheckpointRetained | NotificationSent
    | SharedStateRegistered | SharedStateReleased | SharedStateRejected | StateOverBudget
    | SplitsAssigned | SplitsReceived | SplitsLeft | SplitsListed
    | TaskStarted | InputRead | SourceEmitted | RecordFailed
    | OperatorFinished | SubtaskFinished | FinishReceived | TaskStopped
    | TimersSet | TimersFired | RecordsDropped | KeysLookedUp
    | BatchSent | BatchProcessed | BarrierSent | BarrierReceived | CancellationSent | CancellationReceived
    | EndOfDataSent | EndOfDataReceived | EndOfPartitionReceived | ChannelBlocked | ChannelUnblocked | BuffersResized
    | TriggerReceived | AlignmentTimedOut | SnapshotTaken | SnapshotReleased | ChannelStateTaken | ChannelStateRestored
    | AckSent | DeclineSent | NotificationReceived
    | TransactionPrecommitted | CommitTried | TransactionCommitted | CommitFailed | TransactionAborted
    | FileWritten | FileDeleted | StorageFailed | StorageSlowed | ObjectDamaged | ObjectMended
    | StateFound | StateRestored | ProgramReady | ProgramHeld | AcknowledgementHeld | InputAcknowledged
    | RowsVisible | RowsChanged | ReaderPolled | InvariantChecked
    | CheckpointStatistics | SubtaskStatistics | RestoreStatistics | RestoreCompleted
    | CheckpointAudited | SubtaskAudited | SubtaskMoved | StorageListed | StorageObserved
    | LocalCopyWritten | LocalCopyUsed | LocalCopyRefused | LocalCopiesPruned | LocalCopySpoilt | LocalDiskListed
    | StateFileRead
)  # fmt: skip
"""The union a line of a history decodes to."""

EVENT_KINDS: dict[str, type[Event]] = {str(kind.__struct_config__.tag): kind for kind in get_args(AnyEvent)}
KIND_NAMES: dict[type[Event], str] = {kind: name for name, kind in EVENT_KINDS.items()}

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

__all__ = [
    "BY_HARNESS", "EVENT_KINDS", "KIND_NAMES", "LEFT", "MESSAGE_EDGES", "OVER", "SCHEMA_VERSION", "AckOutcome",
    "AckReceived", "AckSent", "AcknowledgementHeld", "AlignmentTimedOut", "AnyEvent", "AttemptStarted",
    "BarrierReceived", "BarrierSent", "BatchProcessed", "BatchSent", "BroadcastSummary", "BuffersResized",
    "CancellationReceived", "CancellationSent", "ChannelBlocked", "ChannelContent", "ChannelStateRestored",
    "ChannelStateTaken", "ChannelUnblocked", "CheckpointAborted", "CheckpointAudited", "CheckpointCompleted",
    "CheckpointCounts", "CheckpointDrawn", "CheckpointDropped", "CheckpointFolderSeen",
    "CheckpointRefused", "CheckpointRequested",
    "CheckpointRetained", "CheckpointStatistics", "CheckpointStatus", "CheckpointTriggered", "CheckpointType",
    "CommitFailed", "CommitTried", "ConnectionsRefused", "CoordinatorClaimed", "CoordinatorSuperseded",
    "DeclineReceived", "DeclineSent",
    "EndOfDataReceived", "EndOfDataSent", "EndOfPartitionReceived", "Event", "FailureCounted", "FaultHealed",
    "FaultInjected", "FaultStruck", "FileDeleted",
    "FileReference", "FileWritten", "FinishReceived", "HeldState", "InputAcknowledged",
    "InputDelayed", "InputRead", "InputTruncated", "InvariantChecked", "JobConfigured", "JobStatus", "JobSubmitted",
    "JobSwitched", "KeysLookedUp", "LateRecords", "ListSummary", "LocalCopiesPruned", "LocalCopyRefused",
    "LocalCopySpoilt", "LocalCopyUsed", "LocalCopyWritten", "LocalDiskListed", "LookedUp", "MachineStalled",
    "MessageDisturbed",
    "MetadataPublished", "NamedTimers", "NodeDied", "NodeStarted", "NotificationReceived", "NotificationSent",
    "ObjectDamaged", "ObjectMended", "OperatorFinished", "ProgramHeld", "ProgramReady",
    "QueryStarted", "ReaderPolled", "RecordFailed",
    "RecordsDropped", "RecoveryFailed", "RescaleAccepted", "RescaleRefused", "RescaleRequested", "RestartRefused",
    "RestartScheduled", "RestoreCompleted", "RestoreStatistics",
    "RowsChanged", "RowsVisible", "SavepointCompleted", "SavepointTriggered", "SharedFileUse", "SharedHandle",
    "SharedStateRegistered", "SharedStateRejected", "SharedStateReleased", "SnapshotReleased", "SnapshotTaken",
    "SourceEmitted", "SplitsAssigned", "SplitsLeft", "SplitsListed", "SplitsReceived", "StateFileRead", "StateFound",
    "StateOverBudget", "StateRestored", "StateSummary", "StorageFailed", "StorageListed", "StorageObserved",
    "StorageSlowed", "SubtaskAudited", "SubtaskFinished", "SubtaskMoved", "SubtaskStatistics", "TaskStarted",
    "TaskStopped", "TimersFired", "TimersSet", "TransactionAborted", "TransactionCommitted", "TransactionPrecommitted",
    "TriggerReceived", "TriggerSent",
]  # fmt: skip
