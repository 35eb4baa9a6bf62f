"""How the tasks of a run came to their end, and which checkpoints they were in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from holdfast.harness.model import events
from holdfast.harness.oracles.shared.layout import Layouts


class Task:
    """One subtask in one attempt.

    Attributes:
        started: how.
        called: its first finish().
        calls: how often finish() was called.
        notified: the highest checkpoint that it knows to be complete.
        taken_after: the lowest checkpoint that it took after finish(), or None.
        ended_inputs: channels whose data has ended.
        positions: of a source, where each partition goes on.
        open: of a sink, transactions that are not committed.
    """

    __slots__ = ("called", "calls", "ended_inputs", "notified", "open", "positions", "started", "taken_after")

    def __init__(self) -> None:
        self.started: events.TaskStarted | None = None
        self.called: events.OperatorFinished | None = None
        self.calls = 0
        self.notified = -1
        self.taken_after: int | None = None
        self.ended_inputs: set[str] = set()
        self.positions: dict[int, int] = {}
        self.open: set[str] = set()


class Pending:
    """A pending checkpoint.

    Attributes:
        first: the subtasks that its trigger may go to.
        after_finish: by participant, whether its snapshot came after finish().
        absent: subtasks that had ended before it.
    """

    __slots__ = ("absent", "after_finish", "first")

    def __init__(self, first: set[str], absent: frozenset[str]) -> None:
        self.first = first
        self.absent = absent
        self.after_finish: dict[str, bool] = {}


class FinishTrace:
    """What one pass over a history has shown so far. Each method takes one event.

    Attributes:
        tasks: by attempt and subtask.
        ended_channels: by attempt and channel, the end of its data.
        running: the coordinator reports that the job runs.
        known: subtasks that the coordinator knows to have finished.
        pending: by id, of the present attempt.
        end: the first end of the job that finished; None: it has not.
        ended_attempts: by subtask, the attempt that it was in then.
    """

    def __init__(self, layouts: Layouts) -> None:
        self._layouts = layouts
        self.tasks: dict[tuple[int, str], Task] = {}
        self.ended_channels: dict[tuple[int, str], events.EndOfDataSent] = {}
        self._attempts: dict[str, int] = {}
        self.running = False
        self.known: set[str] = set()
        self.pending: dict[int, Pending] = {}
        self.end: events.JobSwitched | None = None
        self.ended_attempts: dict[str, int] = {}

    @property
    def handlers(self) -> Mapping[type[events.Event], Callable[[Any], None]]:
        """By kind of event, who takes it; but for the end of a checkpoint, which `ended` takes."""
        return {
            events.TaskStarted: self.task_started,
            events.SourceEmitted: self.source_emitted,
            events.EndOfDataReceived: self.end_received,
            events.EndOfDataSent: self.end_sent,
            events.OperatorFinished: self.operator_finished,
            events.SnapshotTaken: self.snapshot_taken,
            events.NotificationReceived: self.notified,
            events.TransactionPrecommitted: self.precommitted,
            events.TransactionCommitted: self.settled,
            events.TransactionAborted: self.settled,
            events.AttemptStarted: self.attempt_started,
            events.FinishReceived: self.finish_received,
            events.CheckpointTriggered: self.triggered,
            events.JobSwitched: self.switched,
        }

    def task(self, attempt: int, subtask: str) -> Task:
        """What is known of a subtask in an attempt."""
        known = self.tasks.get((attempt, subtask))
        if known is None:
            known = self.tasks[attempt, subtask] = Task()
        return known

    # --- tasks ---

    def task_started(self, event: events.TaskStarted) -> None:
        """A subtask begins, from what it restores."""
        task = self.task(event.attempt, event.subtask)
        task.started = event
        task.positions = dict(event.positions)
        task.open = set(event.pending_transactions)
        if event.restored_checkpoint is not None:
            task.notified = event.restored_checkpoint

    def source_emitted(self, event: events.SourceEmitted) -> None:
        """A source goes on."""
        self.task(event.attempt, event.subtask).positions[event.partition] = event.next_offset

    def end_received(self, event: events.EndOfDataReceived) -> None:
        """The data of an input ends."""
        receiver = event.channel.partition("->")[2]
        self.task(event.attempt, receiver).ended_inputs.add(event.channel)

    def end_sent(self, event: events.EndOfDataSent) -> None:
        """The data of an output ends."""
        self.ended_channels[event.attempt, event.channel] = event

    def operator_finished(self, event: events.OperatorFinished) -> None:
        """finish() of a subtask is called."""
        task = self.task(event.attempt, event.subtask)
        task.positions.update(event.positions)
        task.calls += 1
        task.called = task.called or event

    def snapshot_taken(self, event: events.SnapshotTaken) -> None:
        """A subtask takes its part of a checkpoint."""
        task = self.task(event.attempt, event.subtask)
        checkpoint = self.pending.get(event.checkpoint)
        if checkpoint is not None:
            checkpoint.after_finish[event.subtask] = task.called is not None
        if task.called is not None and task.taken_after is None:
            task.taken_after = event.checkpoint

    def notified(self, event: events.NotificationReceived) -> None:
        """A subtask is notified how a checkpoint ended."""
        if event.completed:
            task = self.task(event.attempt, event.subtask)
            task.notified = max(task.notified, event.checkpoint)

    def precommitted(self, event: events.TransactionPrecommitted) -> None:
        """A sink has a transaction to commit."""
        self.task(event.attempt, event.subtask).open.add(event.transaction)

    def settled(self, event: events.TransactionCommitted | events.TransactionAborted) -> None:
        """A transaction is over."""
        self.task(event.attempt, event.subtask).open.discard(event.transaction)

    # --- the coordinator ---

    def attempt_started(self, event: events.AttemptStarted) -> None:
        """Subtasks begin once more."""
        self.running = False
        self.pending.clear()
        for subtask in event.subtasks or self._layouts.of(event).subtasks:
            self._attempts[subtask] = event.attempt
            self.known.discard(subtask)

    def switched(self, event: events.JobSwitched) -> None:
        """The job changes its status."""
        self.running = event.status is events.JobStatus.RUNNING
        if event.status is events.JobStatus.FINISHED and self.end is None:
            self.end = event
            self.ended_attempts = dict(self._attempts)

    def finish_received(self, event: events.FinishReceived) -> None:
        """The coordinator is notified that a subtask has finished."""
        if event.attempt == self._attempts.get(event.subtask):
            self.known.add(event.subtask)

    def triggered(self, event: events.CheckpointTriggered) -> None:
        """A checkpoint begins at the first subtasks that run."""
        layout = self._layouts.of(event)
        first = {
            subtask
            for subtask in layout.subtasks
            if subtask not in self.known and layout.upstream[subtask] <= self.known
        }
        self.pending[event.checkpoint] = Pending(first, frozenset(self.known))

    def ended(self, event: events.CheckpointCompleted | events.CheckpointAborted) -> Pending | None:
        """A checkpoint is over: what was known of it."""
        return self.pending.pop(event.checkpoint, None)
