"""Events as steps of a diagram: on which line each stands, as what it is drawn, and the few characters beside it."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import events
from holdfast.harness.model.picture import StepShape
from holdfast.harness.model.topology import channel_ends, process_of

MOST_CHARACTERS = 24
"""Of a label."""
FAULTS, COORDINATOR, STORAGE, OUTPUT, AUDIT = "faults", "coordinator", "storage", "output", "harness"

_OF_RECEIVER = (
    events.BatchProcessed,
    events.BarrierReceived,
    events.CancellationReceived,
    events.EndOfDataReceived,
    events.EndOfPartitionReceived,
    events.ChannelBlocked,
    events.ChannelUnblocked,
)
_OF_COORDINATOR = (
    events.TriggerSent,
    events.AckReceived,
    events.DeclineReceived,
    events.NotificationSent,
    events.SharedStateRejected,
    events.StateOverBudget,
    events.FailureCounted,
    events.SplitsAssigned,
    events.QueryStarted,
    events.CheckpointFolderSeen,
    events.FinishReceived,
    events.SubtaskStatistics,
)
_LINES: Mapping[type[events.Event], str] = {
    **dict.fromkeys(
        (
            events.FaultInjected,
            events.FaultHealed,
            events.InputDelayed,
            events.InputTruncated,
            events.MachineStalled,
            events.ConnectionsRefused,
            events.LocalCopySpoilt,
        ),
        FAULTS,
    ),
    **dict.fromkeys(
        (
            events.FileWritten,
            events.FileDeleted,
            events.StorageFailed,
            events.StorageSlowed,
            events.StorageListed,
            events.StorageObserved,
            events.ObjectDamaged,
            events.ObjectMended,
        ),
        STORAGE,
    ),
    **dict.fromkeys(
        (events.RowsVisible, events.RowsChanged, events.ReaderPolled, events.InvariantChecked),
        OUTPUT,
    ),
    **dict.fromkeys(
        (events.CheckpointAudited, events.SubtaskAudited, events.SubtaskMoved, events.LocalDiskListed),
        AUDIT,
    ),
}
_SHAPES: Mapping[type[events.Event], StepShape] = {
    events.CheckpointTriggered: StepShape.TRIGGER,
    events.SavepointTriggered: StepShape.TRIGGER,
    events.SnapshotTaken: StepShape.SNAPSHOT,
    events.CheckpointCompleted: StepShape.COMPLETE,
    events.SavepointCompleted: StepShape.COMPLETE,
    events.CheckpointAborted: StepShape.ABORT,
    events.CheckpointRefused: StepShape.ABORT,
    events.RecoveryFailed: StepShape.ABORT,
    events.RestartRefused: StepShape.ABORT,
    events.StorageFailed: StepShape.ABORT,
    events.AttemptStarted: StepShape.BEGIN,
    events.TaskStarted: StepShape.BEGIN,
    events.NodeStarted: StepShape.BEGIN,
    events.StateRestored: StepShape.BEGIN,
    events.NodeDied: StepShape.END,
    events.TaskStopped: StepShape.END,
    events.SubtaskFinished: StepShape.END,
    events.FaultInjected: StepShape.FAULT,
    events.ObjectDamaged: StepShape.FAULT,
    events.InputTruncated: StepShape.FAULT,
    events.LocalCopySpoilt: StepShape.FAULT,
    events.MessageDisturbed: StepShape.FAULT,
    events.ChannelBlocked: StepShape.BLOCK,
}
_LABELS: Mapping[type[events.Event], str] = {
    events.FaultHealed: "{0.fault_kind} over",
    events.MessageDisturbed: "{0.message}: {0.way}",
    events.JobSwitched: "job {0.status}",
    events.JobSubmitted: "job submitted",
    events.FailureCounted: "failure counted",
    events.RescaleRequested: "rescale to {0.parallelism}?",
    events.RescaleAccepted: "{0.parallelism} accepted",
    events.RescaleRefused: "{0.parallelism} refused",
    events.RestartScheduled: "restart in {0.delay_ms} ms",
    events.RestartRefused: "no restart",
    events.RecoveryFailed: "CP {0.checkpoint} unusable",
    events.CheckpointTriggered: "CP {0.checkpoint} triggered",
    events.CheckpointCompleted: "CP {0.checkpoint} complete",
    events.SharedStateRegistered: "uses files",
    events.SharedStateReleased: "lets files go",
    events.CheckpointAborted: "CP {0.checkpoint} aborted",
    events.CheckpointDropped: "CP {0.checkpoint} dropped",
    events.CheckpointRetained: "CP {0.checkpoint} retained",
    events.SavepointTriggered: "savepoint {0.checkpoint}",
    events.SavepointCompleted: "savepoint {0.checkpoint}",
    events.MetadataPublished: "metadata {0.checkpoint}",
    events.TriggerSent: "trigger {0.checkpoint}",
    events.TriggerReceived: "trigger {0.checkpoint}",
    events.AckSent: "ack {0.checkpoint}",
    events.AckReceived: "ack {0.checkpoint}",
    events.DeclineSent: "decline {0.checkpoint}",
    events.DeclineReceived: "decline {0.checkpoint}",
    events.NotificationSent: "notice {0.checkpoint}",
    events.NotificationReceived: "notice {0.checkpoint}",
    events.SnapshotReleased: "snapshot {0.checkpoint} freed",
    events.ChannelStateTaken: "in flight at {0.checkpoint}",
    events.ChannelStateRestored: "in flight put back",
    events.AlignmentTimedOut: "waits no longer",
    events.BarrierSent: "barrier {0.checkpoint}",
    events.BarrierReceived: "barrier {0.checkpoint}",
    events.CancellationSent: "cancel {0.checkpoint}",
    events.CancellationReceived: "cancel {0.checkpoint}",
    events.ChannelBlocked: "blocks an input",
    events.ChannelUnblocked: "unblocks",
    events.BatchSent: "batch {0.position}",
    events.BatchProcessed: "batch {0.position}",
    events.EndOfDataSent: "end of data",
    events.EndOfDataReceived: "end of data",
    events.SourceEmitted: "offsets {0.first_offset}–{0.next_offset}",
    events.InputRead: "reads from {0.first_offset}",
    events.TaskStopped: "stops",
    events.OperatorFinished: "finish()",
    events.SubtaskFinished: "ends",
    events.FinishReceived: "end heard",
    events.TransactionPrecommitted: "pre-commit {0.checkpoint}",
    events.CommitTried: "tries commit",
    events.TransactionCommitted: "committed",
    events.TransactionAborted: "rolled back",
    events.FileDeleted: "deletes",
    events.StorageFailed: "{0.operation} fails",
    events.StorageSlowed: "{0.operation} slowed",
    events.StorageObserved: "looked into",
    events.RowsVisible: "{0.records} rows visible",
    events.CheckpointAudited: "CP {0.checkpoint} restored",
    events.SubtaskAudited: "CP {0.checkpoint} restored",
    events.SubtaskMoved: "state moved",
    events.InputAcknowledged: "answers up to {0.next_offset}",
    events.StateRestored: "from CP {0.checkpoint}",
}
TELLING_NOTHING = (
    events.CheckpointStatistics,
    events.SubtaskStatistics,
    events.RestoreStatistics,
    events.RestoreCompleted,
    events.FaultStruck,
    events.SnapshotReleased,
    events.JobConfigured,
    events.CheckpointDrawn,
)
"""What explains nothing unless a witness names it, as everything that stands on the line AUDIT."""
_SENT = {sent: fields for sent, _, fields in events.MESSAGE_EDGES}
_RECEIVED = {received: (sent, fields) for sent, received, fields in events.MESSAGE_EDGES}


def sent_as(event: events.Event) -> tuple[object, ...]:
    """What identifies the message that an event sends; empty: it sends none."""
    fields = _SENT.get(type(event))
    return () if fields is None else (type(event), *(getattr(event, field) for field in fields))


def received_as(event: events.Event) -> tuple[object, ...]:
    """What identifies the message that an event receives; empty: it receives none."""
    edge = _RECEIVED.get(type(event))
    return () if edge is None else (edge[0], *(getattr(event, field) for field in edge[1]))


def line_of(event: events.Event) -> str:
    """The name of the line that an event stands on; of a death that of the process."""
    known = _LINES.get(type(event))
    if known is not None:
        return known
    if isinstance(event, _OF_COORDINATOR):
        return COORDINATOR
    channel = getattr(event, "channel", "")
    if channel:
        return channel_ends(channel)[isinstance(event, _OF_RECEIVER)]
    node = event.dead_node if isinstance(event, events.NodeDied) else event.node
    subtask: str = getattr(event, "subtask", "")
    return subtask or process_of(node) or node


def shape_of(event: events.Event) -> StepShape:
    """The shape by which an event is drawn."""
    return _SHAPES.get(type(event), StepShape.STEP)


def label_of(event: events.Event, target: str = "") -> str:
    """What stands beside it.

    Args:
        event: which.
        target: of a fault, in words.
    """
    if isinstance(event, events.FaultInjected):
        words = f"{event.fault_kind} {target or event.target}"
    elif isinstance(event, events.NodeDied):
        words = "killed" if event.cause in events.BY_HARNESS - {events.LEFT} else "dies"
    elif isinstance(event, events.AttemptStarted):
        words = f"attempt {event.attempt}, {_from(event.restored_checkpoint)}"
    elif isinstance(event, events.TaskStarted):
        words = f"{_from(event.restored_checkpoint)}{_positions(event.positions)}"
    elif isinstance(event, events.SnapshotTaken):
        held = f": {event.state.records} records" if event.state is not None and event.state.records else ""
        words = f"snapshot {event.checkpoint}{_positions(event.positions) or held}"
    elif isinstance(event, events.FileWritten):
        words = f"writes {event.file.path.rpartition('/')[2]}"
    elif isinstance(event, events.FileDeleted | events.ObjectDamaged | events.ObjectMended):
        verb = {events.FileDeleted: "deletes", events.ObjectDamaged: "damages"}.get(type(event), "mends")
        words = f"{verb} {event.path.rpartition('/')[2]}"
    elif (form := _LABELS.get(type(event))) is not None:
        words = form.format(event)
    else:
        words = events.KIND_NAMES[type(event)].replace("_", " ")
    return words if len(words) <= MOST_CHARACTERS else f"{words[: MOST_CHARACTERS - 1].rstrip()}…"


def _positions(positions: tuple[tuple[int, int], ...]) -> str:
    """Next offsets, where they are few."""
    return f" at {', '.join(str(offset) for _, offset in positions)}" if 0 < len(positions) <= 2 else ""


def _from(checkpoint: int | None) -> str:
    return "from nothing" if checkpoint is None else f"from CP {checkpoint}"
