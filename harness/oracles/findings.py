"""What an oracle collects while it judges: counts of decided things, and anomalies with their witnesses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import structs

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.model.verdict import NOTHING_TO_DECIDE, Anomaly, Damage, Moment, Outcome, Verdict

ANOMALIES_PER_CLAUSE = 3
"""More of a kind only hide the first."""

_WORDS: dict[type[events.Event], str] = {
    events.NodeStarted: "started",
    events.NodeDied: "{0.dead_node} died: {0.cause}",
    events.FaultInjected: "faults[{0.fault}] ({0.fault_kind}) hit {0.target}",
    events.MachineStalled: "the machine kept the run waiting for {0.stalled_ns} ns",
    events.ConnectionsRefused: "connections that are not of the run were refused: {0.connections}",
    events.FaultHealed: "faults[{0.fault}] ({0.fault_kind}) of {0.target} is over",
    events.CoordinatorClaimed: "took over under epoch {0.epoch}",
    events.CoordinatorSuperseded: "was superseded, its epoch is {0.epoch}",
    events.JobConfigured: "job configured",
    events.JobSubmitted: "a new job begins from checkpoint {0.checkpoint}, {0.path}",
    events.JobSwitched: "job {0.status}: {0.reason}",
    events.AttemptStarted: "attempt {0.attempt} started from checkpoint {0.restored_checkpoint}",
    events.RescaleRequested: "parallelism {0.parallelism} is required",
    events.RescaleAccepted: "parallelism {0.parallelism} is accepted",
    events.RescaleRefused: "parallelism {0.parallelism} refused: {0.reason}",
    events.FailureCounted: "failure counted: {0.cause}",
    events.RestartScheduled: "restart scheduled in {0.delay_ms} ms",
    events.RestartRefused: "restart refused: {0.reason}",
    events.RecoveryFailed: "recovery from checkpoint {0.checkpoint} failed: {0.reason}",
    events.CheckpointRequested: "request {0.request} ({0.origin}) arrived",
    events.CheckpointRefused: "request {0.request} ({0.origin}) refused: {0.reason}",
    events.CheckpointDrawn: "id {0.checkpoint} drawn for request {0.request} ({0.origin})",
    events.CheckpointTriggered: "checkpoint {0.checkpoint} triggered in attempt {0.attempt}",
    events.TriggerSent: "trigger {0.checkpoint} sent to {0.subtask}",
    events.AckReceived: "acknowledgement {0.checkpoint} of {0.subtask}, attempt {0.attempt}, received: {0.outcome}",
    events.DeclineReceived: "decline {0.checkpoint} of {0.subtask} received: {0.reason}",
    events.MetadataPublished: "metadata of checkpoint {0.checkpoint} published as {0.path}",
    events.SharedStateRegistered: "shared files of checkpoint {0.checkpoint} registered",
    events.SharedStateReleased: "shared files of checkpoint {0.checkpoint} released",
    events.StateOverBudget: "state of {0.subtask} in checkpoint {0.checkpoint} has no room: {0.reason}",
    events.SharedStateRejected: "state of {0.subtask} in checkpoint {0.checkpoint} rejected: {0.reason}",
    events.CheckpointCompleted: "checkpoint {0.checkpoint} completed",
    events.CheckpointAborted: "checkpoint {0.checkpoint} aborted: {0.reason}",
    events.CheckpointDropped: "checkpoint {0.checkpoint} dropped",
    events.CheckpointRetained: "checkpoint {0.checkpoint} is left to the user as {0.path}",
    events.SavepointTriggered: "savepoint {0.checkpoint} goes to {0.folder}, {0.format}, {0.stop}",
    events.SavepointCompleted: "savepoint {0.checkpoint} is complete as {0.path}",
    events.NotificationSent: "notice of checkpoint {0.checkpoint} sent to {0.subtask}, completed: {0.completed}",
    events.TaskStarted: "{0.subtask} started from checkpoint {0.restored_checkpoint} in attempt {0.attempt}",
    events.TaskStopped: "{0.subtask} stopped: {0.reason}",
    events.TimersSet: "{0.subtask} sets timers {0.timers}",
    events.TimersFired: "{0.subtask} takes timers {0.timers} at {0.time_ms} ms",
    events.KeysLookedUp: "{0.subtask} looks up at {0.now_ms} ms (key, partition, offset, found) {0.found}",
    events.RecordsDropped: "{0.subtask} drops (partition, offset, window, watermark) {0.records}",
    events.OperatorFinished: "finish() of {0.subtask} called",
    events.SubtaskFinished: "{0.subtask} ended",
    events.FinishReceived: "end of {0.subtask} received",
    events.InputRead: "{0.subtask} is handed partition {0.partition} from offset {0.first_offset} on",
    events.SourceEmitted: "{0.subtask} emitted partition {0.partition} offsets {0.first_offset} to {0.next_offset}",
    events.SplitsAssigned: "splits {0.splits} assigned to {0.subtask}, attempt {0.attempt}",
    events.SplitsLeft: "checkpoint {0.checkpoint} leaves splits {0.splits} of {0.vertex} to the enumerator",
    events.SplitsListed: "the source system lists splits {0.splits}",
    events.SplitsReceived: "splits {0.splits} received by {0.subtask}",
    events.RecordFailed: "record {0.offset} of partition {0.partition} made {0.subtask} fail: {0.cause}",
    events.TriggerReceived: "trigger {0.checkpoint} received by {0.subtask}",
    events.BatchSent: "batch {0.position} sent on {0.channel}",
    events.BatchProcessed: "batch {0.position} processed from {0.channel}",
    events.BarrierSent: "barrier {0.checkpoint} sent on {0.channel}",
    events.BarrierReceived: "barrier {0.checkpoint} received on {0.channel}",
    events.CancellationSent: "cancellation of {0.checkpoint} sent on {0.channel}",
    events.CancellationReceived: "cancellation of {0.checkpoint} received on {0.channel}",
    events.EndOfDataSent: "end of the records sent on {0.channel}",
    events.EndOfDataReceived: "end of the records received on {0.channel}",
    events.EndOfPartitionReceived: "end of the sender received on {0.channel}",
    events.ChannelBlocked: "{0.channel} blocked for checkpoint {0.checkpoint}",
    events.ChannelUnblocked: "{0.channel} unblocked for checkpoint {0.checkpoint}",
    events.SnapshotTaken: "{0.subtask} took snapshot {0.checkpoint}",
    events.SnapshotReleased: "{0.subtask} released snapshot {0.checkpoint}, which kept {0.kept_entries} entries",
    events.AlignmentTimedOut: "{0.subtask} waits no longer for the alignment of checkpoint {0.checkpoint}",
    events.BuffersResized: "{0.subtask} gives its inputs {0.buffers} buffers at either end",
    events.ChannelStateTaken: "{0.subtask} knows what was in flight at snapshot {0.checkpoint}",
    events.ChannelStateRestored: "{0.subtask} puts back what was in flight at snapshot {0.checkpoint}",
    events.AckSent: "{0.subtask} acknowledged checkpoint {0.checkpoint}",
    events.DeclineSent: "{0.subtask} declined checkpoint {0.checkpoint}: {0.reason}",
    events.NotificationReceived: "{0.subtask} received notice of checkpoint {0.checkpoint}, completed: {0.completed}",
    events.TransactionPrecommitted: "{0.subtask} pre-committed {0.transaction} at checkpoint {0.checkpoint}",
    events.CommitTried: "{0.subtask} tried to commit {0.transaction}",
    events.TransactionCommitted: "{0.subtask} committed {0.transaction}",
    events.CommitFailed: "{0.subtask} failed to commit {0.transaction}: {0.reason}",
    events.TransactionAborted: "{0.subtask} aborted {0.what}",
    events.FileWritten: "{0.file.path} written, {0.file.length} bytes, checksum {0.file.checksum:#010x}",
    events.FileDeleted: "{0.path} deleted",
    events.StorageFailed: "storage refused to {0.operation} {0.path}: {0.reason}",
    events.ObjectDamaged: "the harness damages {0.path}: {0.left} of {0.length} bytes are left",
    events.ObjectMended: "the harness ends the damage of {0.path}: {0.length} bytes put back",
    events.StorageSlowed: "storage holds up {0.operation} {0.path} for {0.delay_ms} ms",
    events.InputDelayed: "records of partition {0.partition} arrive now that were due since {0.since_ns} ns",
    events.InputTruncated: "partition {0.partition} begins at offset {0.next_offset} from now on",
    events.MessageDisturbed: "{0.message} of or for {0.subtask}, checkpoint {0.checkpoint}, meets the fault {0.way}",
    events.QueryStarted: "query {0.query}, run {0.run}, keeps its progress in {0.folder}",
    events.CheckpointFolderSeen: "folder {0.folder} has {0.files} files behind the first micro-batch",
    events.StateFound: "the table holds records {0.positions} of the partitions when life {0.attempt} begins",
    events.StateRestored: "life {0.attempt} reports that it restored checkpoint {0.checkpoint}",
    events.ProgramHeld: "held at gate {0.gate}",
    events.ProgramReady: "ready at offsets {0.positions}",
    events.AcknowledgementHeld: "acknowledgement of partition {0.partition} before {0.next_offset} held at a gate",
    events.InputAcknowledged: "partition {0.partition} acknowledged before offset {0.next_offset}",
    events.RowsVisible: "{0.records} rows of {0.name} visible at poll {0.poll}",
    events.InvariantChecked: "{0.unit}, poll {0.poll}: {0.rows} rows are visible",
    events.RowsChanged: "{0.name} changed at poll {0.poll}, vanished: {0.vanished}",
    events.ReaderPolled: "reader ended after {0.polls} polls",
    events.CheckpointStatistics: "checkpoint {0.checkpoint} reported as {0.status} {0.failure_reason}",
    events.SubtaskStatistics: "part of {0.subtask} in checkpoint {0.checkpoint} reported",
    events.RestoreStatistics: "restore of checkpoint {0.checkpoint} reported from {0.path}",
    events.RestoreCompleted: "restore of checkpoint {0.checkpoint} reported to have taken {0.duration_ms:.3f} ms",
    events.CheckpointAudited: "checkpoint {0.checkpoint} restored for audit: {0.problem}",
    events.SubtaskAudited: "{0.subtask} restored for audit from checkpoint {0.checkpoint}",
    events.SubtaskMoved: "{0.subtask} of checkpoint {0.checkpoint} moved from {0.source} to {0.target}: {0.problem}",
    events.StorageListed: "storage listed",
    events.LocalCopyWritten: "{0.subtask} keeps a local copy of checkpoint {0.checkpoint} at {0.path}",
    events.LocalCopyUsed: "{0.subtask} restores checkpoint {0.checkpoint} from the local copy at {0.path}",
    events.LocalCopyRefused: "{0.subtask} finds no local copy of checkpoint {0.checkpoint} to use: {0.reason}",
    events.LocalCopiesPruned: "{0.subtask} removes its local copies at {0.paths}",
    events.LocalCopySpoilt: "the harness spoils local copies of worker {0.worker} ({0.way}): {0.paths}",
    events.LocalDiskListed: "local disk of worker {0.worker} listed",
    events.StateFileRead: "{0.reader} reads {0.path} from the checkpoint storage",
    events.StorageObserved: "storage looked into when checkpoint {0.checkpoint} had completed",
}


def event_line(event: events.Event) -> str:
    """One event in plain words: `worker-1.0 #41: barrier 3 received on source[0]->sum[1]`."""
    return f"{_header(event)}: {in_words(event)}"


def in_words(event: events.Event) -> str:
    """What happened, without where."""
    return _WORDS.get(type(event), type(event).__name__).format(event).rstrip(" :")


def _header(event: events.Event) -> str:
    return f"{event.node} #{event.sequence}"


def events_of(witness: Iterable[str], history: History) -> dict[int, int]:
    """By the place of each event that a witness names, the number of its line, counted from 1.

    A line is only taken for an event that reads exactly like it: what is said of rows names none.
    """
    places: dict[str, int] | None = None
    found: dict[int, int] = {}
    for number, words in enumerate(witness, start=1):
        header, colon, _ = words.partition(": ")
        if not colon or " #" not in header:
            continue
        places = places or {_header(event): place for place, event in enumerate(history.events)}
        place = places.get(header)
        if place is not None and event_line(history.events[place]) == words:
            found.setdefault(place, number)
    return found


Handlers = Mapping[type[events.Event], Callable[[Any], None]]
"""By kind, what is done with an event."""


def replay(history: History, handlers: Handlers) -> None:
    """Hand every event of the named kinds to its handler, in causal order."""
    for event in history.of_kinds(handlers):
        handlers[type(event)](event)


def left_open(verdict: Verdict, reason: str) -> Verdict:
    """The judgement where something could not be decided for this reason: nothing less than a failure counts then."""
    if not reason or verdict.outcome is Outcome.FAIL:
        return verdict
    return structs.replace(verdict, outcome=Outcome.INCONCLUSIVE, reason=reason)


class Findings:
    """Collects for one verdict.

    Args:
        oracle: its name.
        clauses: its clauses; any other name is a KeyError.

    Attributes:
        checked: by clause, how many things were decided. What decides thousands adds to it itself, in place of `check`.
    """

    __slots__ = ("_anomalies", "_information", "_oracle", "checked")

    def __init__(self, oracle: str, clauses: Mapping[str, str]) -> None:
        self._oracle = oracle
        self.checked = dict.fromkeys(clauses, 0)
        self._anomalies: list[tuple[Anomaly, events.Event | None]] = []
        self._information: list[str] = []

    def check(self, clause: str, count: int = 1) -> None:
        """`count` things of a clause were decided, whichever way."""
        self.checked[clause] += count

    def violated(
        self,
        clause: str,
        message: str,
        *witness: events.Event | str,
        damage: Damage | None = None,
        seen: events.Event | None = None,
    ) -> None:
        """Record an anomaly of a clause.

        Args:
            clause: which.
            message: one sentence.
            witness: earliest first: events, or lines about rows.
            damage: what it does to a user, where that does not follow from the clause.
            seen: the event at which it was there to be seen, where the witness is only rows.
        """
        self.checked[clause] = self.checked[clause] or 1
        if sum(anomaly.clause == clause for anomaly, _ in self._anomalies) < ANOMALIES_PER_CLAUSE:
            lines = tuple(each if isinstance(each, str) else event_line(each) for each in witness)
            last = next((each for each in reversed(witness) if isinstance(each, events.Event)), seen)
            at = None if last is None else Moment(last.node, last.sequence, last.time_ns)
            self._anomalies.append((Anomaly(clause, message, lines, at, damage), last))

    def inform(self, note: str) -> None:
        """Add a note to the verdict that is no failure."""
        self._information.append(note)

    def verdict(self, history: History | None = None) -> Verdict:
        """The judgement. Given the history, anomalies are put in the causal order of their last witness."""
        checked = {clause: count for clause, count in self.checked.items() if count}
        information = tuple(self._information)
        if self._anomalies:
            if history is not None:
                self._anomalies.sort(key=lambda found: -1 if found[1] is None else history.position(found[1]))
            anomalies = tuple(anomaly for anomaly, _ in self._anomalies)
            return Verdict(self._oracle, Outcome.FAIL, anomalies, checked, information=information)
        if not checked:
            return Verdict(self._oracle, Outcome.INCONCLUSIVE, reason=NOTHING_TO_DECIDE, information=information)
        return Verdict(self._oracle, Outcome.PASS, checked=checked, information=information)
