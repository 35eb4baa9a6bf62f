"""What became of every transaction of a run.

A commit that stands before the publication of its checkpoint in causal order was not caused by it, whichever nodes
they happened on; any other order that shows a violation is taken from one node.
"""

from __future__ import annotations

from typing import NamedTuple

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.oracles.findings import replay
from holdfast.harness.oracles.ledger.checkpoints import CheckpointId, by_checkpoint
from holdfast.harness.oracles.ledger.submissions import Submissions
from holdfast.harness.oracles.shared.layout import Layouts, widest_layout
from holdfast.harness.oracles.sinks.thrown_away import find_thrown_away
from holdfast.harness.oracles.sinks.transaction import Transaction


class Sink:
    """One sink subtask in one attempt.

    Attributes:
        notified: the highest checkpoint that it knows to be complete.
        acknowledged: its acks by checkpoint.
        open: pre-committed and not yet committed transactions that it closed itself, by the checkpoint that did.
        due: transactions whose commit must be requested.
        under_way: those whose commit was requested and not answered.
    """

    __slots__ = ("acknowledged", "due", "notified", "open", "under_way")

    def __init__(self) -> None:
        self.notified = -1
        self.acknowledged: dict[int, events.AckSent] = {}
        self.open: dict[int, Transaction] = {}
        self.due: set[str] = set()
        self.under_way: set[str] = set()


class AboveNotice(NamedTuple):
    """A commit of what the sink does not know to be complete.

    Attributes:
        precommitted: what was committed.
        tried: the commit.
        notified: the highest checkpoint that the sink knew to be complete; -1: none.
    """

    precommitted: events.TransactionPrecommitted
    tried: events.CommitTried
    notified: int


class TransactionTrace:
    """One pass over a history.

    Attributes:
        durable, completed, aborted: checkpoints that were published or completed; completed; aborted.
        early_acks: acks of a checkpoint before a transaction of it was pre-committed, with that.
        precommits: how many there were.
        above_notice: commits of what a later checkpoint closed than the sink was notified of, with that checkpoint.
        notices_below: notices that came while a sink held what a later checkpoint closed.
        failures: failed commits, each with whether it had been tried.
        swallowed: commits that count although they failed and were not tried again, with the failure.
        promised: transactions by checkpoint whose snapshots hold them as pending.
        starts: by sink subtask, its starts.
        layouts: of the jobs of the run.
        abandoned: what attempts up to this one have left need not be committed: a later job started empty, or from an
            older savepoint than the last checkpoint, and does that again.
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
        self.checkpoint = history.derived(Submissions).checkpoint_of
        self.durable: set[CheckpointId] = set()
        self.completed = by_checkpoint(history, events.CheckpointCompleted).things
        self.aborted = by_checkpoint(history, events.CheckpointAborted).things
        self.promised: dict[CheckpointId, list[Transaction]] = {}
        self.starts: dict[str, list[events.TaskStarted]] = {}
        self._thrown_away: list[events.TransactionAborted] = []
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
        if self._thrown_away:
            find_thrown_away(history, self.transactions, self._thrown_away, self._kept)

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
        sink.notified = max(sink.notified, event.checkpoint)
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
        transaction.tried = transaction.tried or event
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
        if precommitted.checkpoint > sink.notified:
            self.above_notice.append(AboveNotice(precommitted, event, sink.notified))

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
            self._thrown_away.append(event)
            return
        transaction = self._transaction(event.transaction)
        transaction.aborted = transaction.aborted or event

    # --- tasks ---

    def _task_started(self, event: events.TaskStarted) -> None:
        if event.subtask not in self.sink_names:
            return
        self.starts.setdefault(event.subtask, []).append(event)
        self._kept.setdefault(event.attempt, set()).update(event.pending_transactions)
        sink = self._sink(event, event.subtask)
        if event.restored_checkpoint is not None:
            sink.notified = event.restored_checkpoint
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


def _goes_back(history: History, submitted: events.JobSubmitted) -> bool:
    """Whether a job begins in front of the last checkpoint of those before it."""
    if submitted.checkpoint is None:
        return True
    job_of = history.derived(Submissions).of
    before = (event for event in history.of(events.CheckpointCompleted) if job_of(event) == job_of(submitted) - 1)
    return any(event.checkpoint > submitted.checkpoint for event in before)
