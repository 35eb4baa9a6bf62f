"""How the tasks of a run came to their end, and which checkpoints they were in: what FINAL decides on the way."""

from __future__ import annotations

from holdfast.harness.model.checkpoint import FailureReason
from holdfast.harness.model.events import (
    AttemptStarted,
    BatchSent,
    CheckpointAborted,
    CheckpointCompleted,
    CheckpointRefused,
    CheckpointTriggered,
    EndOfDataReceived,
    EndOfDataSent,
    FinishReceived,
    JobStatus,
    JobSwitched,
    NotificationReceived,
    OperatorFinished,
    SnapshotTaken,
    SourceEmitted,
    SubtaskFinished,
    TaskStarted,
    TransactionAborted,
    TransactionCommitted,
    TransactionPrecommitted,
    TriggerSent,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.job import VertexKind
from holdfast.harness.model.plural import plural
from holdfast.harness.oracles.findings import Findings, replay
from holdfast.harness.oracles.models.layout import Layouts, widest_layout
from holdfast.harness.oracles.models.options import checkpoints_after_finish


class _Subtask:
    """One subtask in one attempt.

    Attributes:
        started: how.
        called: its first finish().
        calls: how often finish() was called.
        told: the highest checkpoint that it knows to be complete.
        taken_after: the lowest checkpoint that it took after finish(), or None.
        ended_inputs: channels whose data has ended.
        positions: of a source, where each partition goes on.
        open: of a sink, transactions that are not committed.
    """

    __slots__ = ("called", "calls", "ended_inputs", "open", "positions", "started", "taken_after", "told")

    def __init__(self) -> None:
        self.started: TaskStarted | None = None
        self.called: OperatorFinished | None = None
        self.calls = 0
        self.told = -1
        self.taken_after: int | None = None
        self.ended_inputs: set[str] = set()
        self.positions: dict[int, int] = {}
        self.open: set[str] = set()


class _Checkpoint:
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
    """One pass over a history; what one event decides is judged on the way."""

    def __init__(self, history: History, findings: Findings) -> None:
        self.findings = findings
        self.goes_on = checkpoints_after_finish(history.plan)
        self.lengths = history.inputs.lengths()
        self.layout_of = Layouts(history).of
        layout = widest_layout(history.plan)
        self.sources, self.sinks = frozenset(layout.sources), frozenset(layout.sinks)
        job, width = history.plan.job, range(history.plan.topology.parallelism)
        reducing = {vertex.name for vertex in job.of_kind(VertexKind.REDUCE)}
        self.reducing = {f"{name}[{i}]" for name in reducing for i in width}
        self.union = [frozenset(f"{vertex.name}[{i}]" for i in width) for vertex in job.vertices if vertex.union_state]
        self.tasks: dict[tuple[int, str], _Subtask] = {}
        self.ended_channels: dict[tuple[int, str], EndOfDataSent] = {}
        self.attempts: dict[str, int] = {}
        self.running = False
        self.known: set[str] = set()
        self.pending: dict[int, _Checkpoint] = {}
        self.ends: list[JobSwitched] = []
        self.ended_attempts: dict[str, int] = {}
        replay(
            history,
            {
                TaskStarted: self._task_started,
                SourceEmitted: self._source_emitted,
                EndOfDataReceived: self._end_received,
                EndOfDataSent: self._end_sent,
                BatchSent: self._batch_sent,
                OperatorFinished: self._operator_finished,
                SnapshotTaken: self._snapshot_taken,
                NotificationReceived: self._notified,
                TransactionPrecommitted: self._precommitted,
                TransactionCommitted: self._settled,
                TransactionAborted: self._settled,
                SubtaskFinished: self._subtask_finished,
                AttemptStarted: self._attempt_started,
                FinishReceived: self._finish_received,
                CheckpointTriggered: self._triggered,
                TriggerSent: self._trigger_sent,
                CheckpointRefused: self._refused,
                CheckpointCompleted: self._completed,
                CheckpointAborted: self._aborted,
                JobSwitched: self._switched,
            },
        )
        for over in self.ends:
            self._judge_calls(over)

    def _task(self, attempt: int, subtask: str) -> _Subtask:
        known = self.tasks.get((attempt, subtask))
        if known is None:
            known = self.tasks[attempt, subtask] = _Subtask()
        return known

    # --- tasks ---

    def _task_started(self, event: TaskStarted) -> None:
        task = self._task(event.attempt, event.subtask)
        task.started = event
        task.positions = dict(event.positions)
        task.open = set(event.pending_transactions)
        if event.restored_checkpoint is not None:
            task.told = event.restored_checkpoint
        layout = self.layout_of(event)
        for subtask in layout.subtasks:
            other = self.tasks.get((event.attempt, subtask))
            if other is None or other.started is None:
                continue
            for before, behind in ((other.started, event), (event, other.started)):
                if behind.finished and before.subtask in layout.upstream[behind.subtask]:
                    self.findings.check("running-before-finished")
                    if not before.finished:
                        message = f"{behind.subtask} starts as finished behind {before.subtask}, which runs"
                        self.findings.violated("running-before-finished", message, before, behind)

    def _source_emitted(self, event: SourceEmitted) -> None:
        self._task(event.attempt, event.subtask).positions[event.partition] = event.next_offset

    def _end_received(self, event: EndOfDataReceived) -> None:
        receiver = event.channel.partition("->")[2]
        self._task(event.attempt, receiver).ended_inputs.add(event.channel)

    def _end_sent(self, event: EndOfDataSent) -> None:
        self.findings.check("emitted-after-end")
        self.ended_channels[event.attempt, event.channel] = event

    def _batch_sent(self, event: BatchSent) -> None:
        ended = self.ended_channels.get((event.attempt, event.channel))
        if ended is not None:
            message = f"batch {event.position} enters {event.channel} behind the end of its data"
            self.findings.violated("emitted-after-end", message, ended, event)

    def _operator_finished(self, event: OperatorFinished) -> None:
        task, findings = self._task(event.attempt, event.subtask), self.findings
        task.calls += 1
        findings.check("finish-not-once")
        if task.called is not None:
            message = f"finish() of {event.subtask} is called again"
            findings.violated("finish-not-once", message, task.called, event)
            return
        task.called = event
        findings.check("finished-early")
        missing = sorted(set(self.layout_of(event).inputs.get(event.subtask, ())) - task.ended_inputs)
        unread = [
            f"offset {position} of partition {partition}"
            for partition, position in sorted(task.positions.items())
            if event.subtask in self.sources and 0 <= position < self.lengths[partition]
        ]
        if missing or unread:
            what = f"the data of {', '.join(missing)} has not ended" if missing else f"{', '.join(unread)} is next"
            findings.violated("finished-early", f"finish() of {event.subtask} is called, and {what}", event)

    def _snapshot_taken(self, event: SnapshotTaken) -> None:
        task = self._task(event.attempt, event.subtask)
        checkpoint = self.pending.get(event.checkpoint)
        if checkpoint is not None:
            checkpoint.after_finish[event.subtask] = task.called is not None
        if task.called is None:
            return
        if task.taken_after is None:
            task.taken_after = event.checkpoint
        if event.subtask in self.reducing and event.state is not None:
            self.findings.check("held-after-finish")
            if event.state.keys:
                message = (
                    f"{event.subtask} holds rows of {plural(event.state.keys, 'key')} in checkpoint "
                    f"{event.checkpoint}, "
                    "after finish()"
                )
                self.findings.violated("held-after-finish", message, task.called, event)

    def _notified(self, event: NotificationReceived) -> None:
        if event.completed:
            task = self._task(event.attempt, event.subtask)
            task.told = max(task.told, event.checkpoint)

    def _precommitted(self, event: TransactionPrecommitted) -> None:
        self._task(event.attempt, event.subtask).open.add(event.transaction)

    def _settled(self, event: TransactionCommitted | TransactionAborted) -> None:
        self._task(event.attempt, event.subtask).open.discard(event.transaction)

    def _subtask_finished(self, event: SubtaskFinished) -> None:
        if not self.goes_on:
            return
        task, findings = self._task(event.attempt, event.subtask), self.findings
        findings.check("exit-before-final")
        if task.taken_after is None or task.taken_after > task.told:
            taken = "none" if task.taken_after is None else f"checkpoint {task.taken_after} first"
            message = f"{event.subtask} ends; after finish() it took {taken}, and it heard of {task.told}"
            findings.violated("exit-before-final", message, event)
        if event.subtask in self.sinks:
            findings.check("exit-uncommitted")
            if task.open:
                message = f"{event.subtask} ends, and {min(task.open)} is not committed"
                findings.violated("exit-uncommitted", message, event)

    # --- the coordinator ---

    def _attempt_started(self, event: AttemptStarted) -> None:
        self.running = False
        self.pending.clear()
        for subtask in event.subtasks or self.layout_of(event).subtasks:
            self.attempts[subtask] = event.attempt
            self.known.discard(subtask)

    def _switched(self, event: JobSwitched) -> None:
        self.running = event.status is JobStatus.RUNNING
        if event.status is JobStatus.FINISHED and not self.ends:
            self.ends.append(event)
            self.ended_attempts = dict(self.attempts)

    def _judge_calls(self, over: JobSwitched) -> None:
        """Who has called finish() is known when every node has been heard."""
        for subtask in self.layout_of(over).subtasks:
            task = self.tasks.get((self.ended_attempts.get(subtask, 0), subtask))
            if task is None or task.started is None:
                continue
            self.findings.check("finish-not-once")
            if not task.calls and not task.started.finished:
                message = f"the job finished, and finish() of {subtask} was never called"
                self.findings.violated("finish-not-once", message, task.started, over)

    def _finish_received(self, event: FinishReceived) -> None:
        if event.attempt == self.attempts.get(event.subtask):
            self.known.add(event.subtask)

    def _triggered(self, event: CheckpointTriggered) -> None:
        layout = self.layout_of(event)
        findings, running = self.findings, set(layout.subtasks) - self.known
        first = {subtask for subtask in running if layout.upstream[subtask] <= self.known}
        self.pending[event.checkpoint] = _Checkpoint(first, frozenset(self.known))
        if not self.known:
            return
        findings.check("refused-after-finish" if self.goes_on else "triggered-after-finish")
        if not self.goes_on:
            message = f"checkpoint {event.checkpoint} is triggered although {', '.join(sorted(self.known))} finished"
            findings.violated("triggered-after-finish", message, event)
        findings.check("asked-wrongly")
        if set(event.participants) != running:
            wrong = ", ".join(sorted(set(event.participants) ^ running))
            message = f"checkpoint {event.checkpoint} is wrong about the part of {wrong}"
            findings.violated("asked-wrongly", message, event)

    def _trigger_sent(self, event: TriggerSent) -> None:
        checkpoint = self.pending.get(event.checkpoint)
        if checkpoint is None or not checkpoint.absent:
            return
        self.findings.check("triggered-not-first")
        if event.subtask not in checkpoint.first:
            message = f"{event.subtask} is triggered for checkpoint {event.checkpoint}, and is not the first that runs"
            self.findings.violated("triggered-not-first", message, event)

    def _refused(self, event: CheckpointRefused) -> None:
        some = 0 < len(self.known) < len(self.layout_of(event).subtasks)
        if event.reason is not FailureReason.TASKS_NOT_RUNNING or not some or not self.running:
            return
        clause = "refused-after-finish" if self.goes_on else "triggered-after-finish"
        self.findings.check(clause)
        if self.goes_on:
            message = f"a checkpoint is refused ({event.reason}) because {', '.join(sorted(self.known))} finished"
            self.findings.violated(clause, message, event)

    def _completed(self, event: CheckpointCompleted) -> None:
        self._ended(event)

    def _aborted(self, event: CheckpointAborted) -> None:
        self._ended(event)

    def _ended(self, event: CheckpointCompleted | CheckpointAborted) -> None:
        checkpoint = self.pending.pop(event.checkpoint, None)
        if checkpoint is None:
            return
        for subtasks in self.union:
            after = checkpoint.absent | {subtask for subtask, late in checkpoint.after_finish.items() if late}
            before = {subtask for subtask, late in checkpoint.after_finish.items() if not late}
            if not subtasks & after:
                continue
            self.findings.check("partial-union")
            if isinstance(event, CheckpointCompleted) and subtasks & before:
                message = (
                    f"checkpoint {event.checkpoint} completes, which {', '.join(sorted(subtasks & after))} took after "
                    f"finish(), and {', '.join(sorted(subtasks & before))} before"
                )
                self.findings.violated("partial-union", message, event)
