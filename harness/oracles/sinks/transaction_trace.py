"""What became of every transaction of a run.

A commit that stands before the publication of its checkpoint in causal order was not caused by it, whichever nodes
they happened on; any other order that shows a violation is taken from one node.
"""

from __future__ import annotations

from typing import NamedTuple

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.oracles.findings import replay
from holdfast.harness.oracles.shared.layout import Layouts, widest_layout
from holdfast.harness.oracles.shared.submissions import Submissions

AGAIN = "#"
"""In the name of a unit, before the number of its appearance: NOREPEAT decides whether its rows are others."""
Checkpoint = tuple[int, int]
"""A job, and the id of a checkpoint in it: the next job uses ids again that the last one drew and never completed."""
OfCheckpoint = (
    events.SnapshotTaken
    | events.TransactionPrecommitted
    | events.MetadataPublished
    | events.CheckpointCompleted
    | events.SavepointCompleted
    | events.CheckpointAborted
)


class Transaction:
    """One transaction.

    Attributes:
        checkpoints: those that promise it: the one that closed it, and every snapshot it is pending in.
        precommitted, committed, aborted: the first such event. One without a name aborts what was not committed, or is
            seen to be committed behind it.
        seen: the first time that the committed reader saw rows of it, where something was aborted without a name.
        tried: a commit was asked for, or confirmed.
        early: the first such event, if no promising checkpoint was durable then.
        recovered: the first start of a sink that found it in its state and not committed.
        failed: a failed commit that nobody has reacted to.
        overdue: the notice that its sink heard when a commit had been due since the one before, was not asked for, and
            no other was under way.
        again: how often it was committed once more.
        repeated: where that failed, in an attempt not older than the one that had committed it.
        carried: whether the next snapshot of its subtask in its attempt held it; None: there was none.
    """

    __slots__ = (
        "aborted", "again", "carried", "checkpoints", "committed", "early", "failed", "name", "overdue",
        "precommitted", "recovered", "repeated", "seen", "tried",
    )  # fmt: skip

    def __init__(self, name: str) -> None:
        self.name = name
        self.checkpoints: set[Checkpoint] = set()
        self.precommitted: events.TransactionPrecommitted | None = None
        self.committed: events.TransactionCommitted | None = None
        self.aborted: events.TransactionAborted | None = None
        self.seen: events.RowsVisible | None = None
        self.tried = False
        self.early: events.CommitTried | events.TransactionCommitted | None = None
        self.recovered: events.TaskStarted | None = None
        self.failed: events.CommitFailed | None = None
        self.overdue: events.NotificationReceived | None = None
        self.again = 0
        self.repeated: events.CommitFailed | None = None
        self.carried: bool | None = None


class Sink:
    """One sink subtask in one attempt.

    Attributes:
        told: the highest checkpoint that it knows to be complete.
        acknowledged: its acks by checkpoint.
        open: pre-committed and not yet committed transactions that it closed itself, by the checkpoint that did.
        due: transactions whose commit must be asked for.
        under_way: those whose commit was asked for and not answered.
    """

    __slots__ = ("acknowledged", "due", "open", "told", "under_way")

    def __init__(self) -> None:
        self.told = -1
        self.acknowledged: dict[int, events.AckSent] = {}
        self.open: dict[int, Transaction] = {}
        self.due: set[str] = set()
        self.under_way: set[str] = set()


class AboveNotice(NamedTuple):
    """A commit of what the sink does not know to be complete.

    Attributes:
        precommitted: what was committed.
        tried: the commit.
        told: the highest checkpoint that the sink knew to be complete; -1: none.
    """

    precommitted: events.TransactionPrecommitted
    tried: events.CommitTried
    told: int


class TransactionTrace:
    """One pass over a history.

    Attributes:
        durable, completed, aborted: checkpoints that were published or completed; completed; aborted.
        early_acks: acks of a checkpoint before a transaction of it was pre-committed, with that.
        precommits: how many there were.
        above_notice: commits of what a later checkpoint closed than the sink had heard of, with that checkpoint.
        notices_below: notices that came while a sink held what a later checkpoint closed.
        failures: failed commits, each with whether it had been tried.
        swallowed: commits that count although they failed and were not tried again, with the failure.
        promised: transactions by checkpoint whose snapshots hold them as pending.
        starts: by sink subtask, its starts.
        layouts: of the jobs of the run.
        abandoned: nobody has to commit what attempts up to this one have left: a job came later that started empty, or
            from an older savepoint than the last checkpoint, and does that again.
    """

    def __init__(self, history: History) -> None:
        self.early_acks: list[tuple[events.AckSent, events.TransactionPrecommitted]] = []
        self.precommits = 0
        self.above_notice: list[AboveNotice] = []
        self.notices_below = 0
        self.failures: list[tuple[events.CommitFailed, bool]] = []
        self.swallowed: list[tuple[events.CommitFailed, events.TransactionCommitted]] = []
        self.transactions: dict[str, Transaction] = {}
        self.sinks: dict[tuple[int, str], Sink] = {}
        self.layouts = history.derived(Layouts)
        self.sink_names = frozenset(widest_layout(history).sinks)
        self._job_of = history.derived(Submissions).of
        self.durable: set[Checkpoint] = set()
        self.completed = {self.checkpoint(event) for event in history.of(events.CheckpointCompleted)}
        self.aborted = {self.checkpoint(event) for event in history.of(events.CheckpointAborted)}
        self.promised: dict[Checkpoint, list[Transaction]] = {}
        self.starts: dict[str, list[events.TaskStarted]] = {}
        self._cleared: dict[str, list[events.TransactionAborted]] = {}
        self._kept: dict[int, set[str]] = {}
        going_back = (event for event in history.of(events.JobSubmitted) if _goes_back(history, event))
        self.abandoned = max((event.attempt for event in going_back), default=0)
        replay(
            history,
            {
                events.SnapshotTaken: self._snapshot_taken,
                events.AckSent: self._ack_sent,
                events.TransactionPrecommitted: self._precommitted,
                events.MetadataPublished: self._durable,
                events.CheckpointCompleted: self._durable,
                events.SavepointCompleted: self._durable,
                events.NotificationReceived: self._notified,
                events.CommitTried: self._commit_tried,
                events.TransactionCommitted: self._committed,
                events.CommitFailed: self._commit_failed,
                events.TransactionAborted: self._aborted,
                events.TaskStarted: self._task_started,
                events.TaskStopped: self._task_stopped,
                events.FailureCounted: self._failure_counted,
            },
        )
        if self._cleared:
            self._find_cleared(history)

    def of_unit(self, name: str) -> Transaction | None:
        """The transaction that a unit of output is named after."""
        name = name.rpartition("/")[2]
        for candidate in (name, name.rpartition(".")[0], name.rpartition(AGAIN)[0]):
            if candidate in self.transactions:
                return self.transactions[candidate]
        return None

    def checkpoint(self, event: OfCheckpoint) -> Checkpoint:
        """The checkpoint of an event."""
        return self._job_of(event), event.checkpoint

    def _transaction(self, name: str) -> Transaction:
        known = self.transactions.get(name)
        if known is None:
            known = self.transactions[name] = Transaction(name)
        return known

    def _sink(self, event: events.Event, subtask: str) -> Sink:
        known = self.sinks.get((event.attempt, subtask))
        if known is None:
            known = self.sinks[event.attempt, subtask] = Sink()
        return known

    # --- checkpoints ---

    def _snapshot_taken(self, event: events.SnapshotTaken) -> None:
        if event.subtask not in self.sink_names:
            return
        pending, checkpoint = event.pending_transactions, event.checkpoint
        for name in pending:
            transaction, promise = self._transaction(name), self.checkpoint(event)
            transaction.checkpoints.add(promise)
            self.promised.setdefault(promise, []).append(transaction)
        for closed, transaction in self._sink(event, event.subtask).open.items():
            if closed < checkpoint and transaction.carried is None:
                transaction.carried = transaction.name in pending

    def _ack_sent(self, event: events.AckSent) -> None:
        if event.subtask in self.sink_names:
            self._sink(event, event.subtask).acknowledged[event.checkpoint] = event

    def _durable(
        self, event: events.MetadataPublished | events.CheckpointCompleted | events.SavepointCompleted
    ) -> None:
        self.durable.add(self.checkpoint(event))

    def _notified(self, event: events.NotificationReceived) -> None:
        if not event.completed or event.subtask not in self.sink_names:
            return
        sink = self._sink(event, event.subtask)
        if not sink.under_way:
            for name in sink.due:
                transaction = self.transactions[name]
                transaction.overdue = transaction.overdue or event
        sink.due.update(
            transaction.name
            for closed, transaction in sink.open.items()
            if closed <= event.checkpoint and transaction.name not in sink.under_way
        )
        sink.told = max(sink.told, event.checkpoint)
        if any(closed > event.checkpoint for closed in sink.open):
            self.notices_below += 1

    # --- transactions ---

    def _precommitted(self, event: events.TransactionPrecommitted) -> None:
        transaction, sink = self._transaction(event.transaction), self._sink(event, event.subtask)
        transaction.checkpoints.add(self.checkpoint(event))
        transaction.precommitted = transaction.precommitted or event
        sink.open[event.checkpoint] = transaction
        self.precommits += 1
        ack = sink.acknowledged.get(event.checkpoint)
        if ack is not None:
            self.early_acks.append((ack, event))

    def _asked(self, transaction: Transaction, event: events.CommitTried | events.TransactionCommitted) -> None:
        transaction.tried = True
        if transaction.early is None and transaction.checkpoints.isdisjoint(self.durable):
            transaction.early = event

    def _commit_tried(self, event: events.CommitTried) -> None:
        transaction = self._transaction(event.transaction)
        transaction.failed = None
        self._asked(transaction, event)
        sink = self._sink(event, event.subtask)
        sink.due.discard(event.transaction)
        sink.under_way.add(event.transaction)
        precommitted = transaction.precommitted
        if event.recovering or precommitted is None or precommitted.attempt != event.attempt:
            return
        if precommitted.checkpoint > sink.told:
            self.above_notice.append(AboveNotice(precommitted, event, sink.told))

    def _committed(self, event: events.TransactionCommitted) -> None:
        transaction = self._transaction(event.transaction)
        self._asked(transaction, event)
        if transaction.committed is None:
            transaction.committed = event
        else:
            transaction.again += 1
        if transaction.failed is not None:
            self.swallowed.append((transaction.failed, event))
            transaction.failed = None
        sink = self._sink(event, event.subtask)
        sink.due.discard(event.transaction)
        sink.under_way.discard(event.transaction)
        if transaction.precommitted is not None:
            sink.open.pop(transaction.precommitted.checkpoint, None)

    def _commit_failed(self, event: events.CommitFailed) -> None:
        transaction = self._transaction(event.transaction)
        transaction.failed = event
        sink = self._sink(event, event.subtask)
        self.failures.append((event, event.transaction in sink.under_way))
        sink.under_way.discard(event.transaction)
        sink.due.add(event.transaction)
        if transaction.committed is not None and transaction.committed.attempt <= event.attempt:
            transaction.again += 1
            transaction.repeated = transaction.repeated or event

    def _aborted(self, event: events.TransactionAborted) -> None:
        if not event.transaction:
            self._cleared.setdefault(event.subtask, []).append(event)
            return
        transaction = self._transaction(event.transaction)
        transaction.aborted = transaction.aborted or event

    def _find_cleared(self, history: History) -> None:
        """A start throws away what older attempts have left, but for what it restored. Who commits that later, as
        somebody who is taken for dead, commits what is aborted."""
        looks: dict[str, list[tuple[int, int]]] = {}
        for seen in history.of(events.RowsVisible):
            transaction = self.of_unit(seen.name)
            if transaction is not None and transaction.seen is None:
                transaction.seen = seen
                if (left := transaction.precommitted) is not None:
                    looks.setdefault(left.subtask, []).append((left.attempt, seen.poll))
        for transaction in self.transactions.values():
            left = transaction.precommitted
            if left is None or transaction.aborted is not None:
                continue
            for event in self._cleared.get(left.subtask, ()):
                if event.attempt <= left.attempt or transaction.name in self._kept.get(event.attempt, ()):
                    continue
                own = [poll for attempt, poll in looks.get(left.subtask, ()) if attempt >= event.attempt]
                if transaction.committed is None or _is_late(transaction, event, own):
                    transaction.aborted = event
                    break

    # --- tasks ---

    def _task_started(self, event: events.TaskStarted) -> None:
        if event.subtask not in self.sink_names:
            return
        self.starts.setdefault(event.subtask, []).append(event)
        self._kept.setdefault(event.attempt, set()).update(event.pending_transactions)
        sink = self._sink(event, event.subtask)
        if event.restored_checkpoint is not None:
            sink.told = event.restored_checkpoint
        for name in event.pending_transactions:
            transaction = self._transaction(name)
            if transaction.committed is None:
                transaction.recovered = transaction.recovered or event
                sink.due.add(name)

    def _task_stopped(self, event: events.TaskStopped) -> None:
        if event.subtask in self.sink_names:
            self._failure_counted(event)

    def _failure_counted(self, event: events.Event) -> None:
        """A failed commit led to a failure, of the task or of the job."""
        for transaction in self.transactions.values():
            if transaction.failed is not None and transaction.failed.attempt <= event.attempt:
                transaction.failed = None


def _is_late(transaction: Transaction, start: events.TransactionAborted, looks: list[int]) -> bool:
    """Whether a commit came behind a start of another attempt. The reader tells of what it saw. Of other rows an
    attempt tells that commits what it has thrown away, and a node on which the start came first. A later attempt that
    confirms a commit does not tell when that was.

    Args:
        transaction: that was committed.
        start: of a later attempt than the one that prepared it.
        looks: of the reader, which found rows that the same subtask prepared behind this start.
    """
    committed, seen = transaction.committed, transaction.seen
    if committed is None:
        return False
    if seen is not None:
        return bool(looks) and seen.poll > min(looks)
    behind = committed.node == start.node and committed.sequence > start.sequence
    return committed.attempt == start.attempt or (committed.attempt < start.attempt and behind)


def _goes_back(history: History, submitted: events.JobSubmitted) -> bool:
    """Whether a job begins in front of the last checkpoint of those before it."""
    if submitted.checkpoint is None:
        return True
    job_of = history.derived(Submissions).of
    before = (event for event in history.of(events.CheckpointCompleted) if job_of(event) == job_of(submitted) - 1)
    return any(event.checkpoint > submitted.checkpoint for event in before)
