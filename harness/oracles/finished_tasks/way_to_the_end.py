"""What FINAL decides on the way to the end of a job: who finishes when, and which checkpoints there are (RULES FIN)."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.harness.model.checkpoint import FailureReason
from holdfast.harness.model.history import History
from holdfast.harness.model.job import VertexKind
from holdfast.harness.model.sentence import plural
from holdfast.harness.oracles.findings import Findings, replay
from holdfast.harness.oracles.finished_tasks.finish_trace import FinishTrace
from holdfast.harness.oracles.shared.layout import Layouts, widest_layout
from holdfast.harness.oracles.shared.options import checkpoints_after_finish


def judge_way_to_the_end(history: History, findings: Findings) -> None:
    """Decide the clauses of FINAL that follow tasks and checkpoints."""
    judge = _Judge(history, findings)
    replay(
        history,
        {
            **judge.trace.handlers,
            events.TaskStarted: judge.task_started,
            events.EndOfDataSent: judge.end_sent,
            events.EndOfPartitionReceived: judge.channel_ended,
            events.BatchSent: judge.batch_sent,
            events.OperatorFinished: judge.operator_finished,
            events.SnapshotTaken: judge.snapshot_taken,
            events.SubtaskFinished: judge.subtask_finished,
            events.CheckpointTriggered: judge.triggered,
            events.TriggerSent: judge.trigger_sent,
            events.CheckpointRefused: judge.refused,
            events.CheckpointCompleted: judge.ended,
            events.CheckpointAborted: judge.ended,
        },
    )
    judge.close()


class _Judge:
    """Holds each event against what was seen before it."""

    def __init__(self, history: History, findings: Findings) -> None:
        layouts = history.derived(Layouts)
        self.findings = findings
        self.trace = FinishTrace(layouts)
        self.layout_of = layouts.of
        self.goes_on = checkpoints_after_finish(history.plan)
        self.lengths = history.inputs.lengths()
        layout = widest_layout(history)
        self.sources, self.sinks = frozenset(layout.sources), frozenset(layout.sinks)
        job, width = history.plan.job, range(history.plan.topology.parallelism)
        reducing = {vertex.name for vertex in job.of_kind(VertexKind.REDUCE)}
        self.reducing = {f"{name}[{i}]" for name in reducing for i in width}
        self.union = [frozenset(f"{vertex.name}[{i}]" for i in width) for vertex in job.vertices if vertex.union_state]

    # --- tasks ---

    def task_started(self, event: events.TaskStarted) -> None:
        self.trace.task_started(event)
        layout = self.layout_of(event)
        for subtask in layout.subtasks:
            other = self.trace.tasks.get((event.attempt, subtask))
            if other is None or other.started is None:
                continue
            for before, behind in ((other.started, event), (event, other.started)):
                if behind.finished and before.subtask in layout.upstream[behind.subtask]:
                    self.findings.check("running-before-finished")
                    if not before.finished:
                        message = f"{behind.subtask} starts as finished behind {before.subtask}, which runs"
                        self.findings.violated("running-before-finished", message, before, behind)

    def end_sent(self, event: events.EndOfDataSent) -> None:
        self.findings.check("emitted-after-end")
        self.trace.end_sent(event)

    def channel_ended(self, event: events.EndOfPartitionReceived) -> None:
        receiver = event.channel.partition("->")[2]
        self.findings.check("channel-ends-early")
        if event.channel not in self.trace.task(event.attempt, receiver).ended_inputs:
            message = f"{event.channel} ends, and the end of its data was not received"
            self.findings.violated("channel-ends-early", message, event)

    def batch_sent(self, event: events.BatchSent) -> None:
        ended = self.trace.ended_channels.get((event.attempt, event.channel))
        if ended is not None:
            message = f"batch {event.position} enters {event.channel} after the end of its data"
            self.findings.violated("emitted-after-end", message, ended, event)

    def operator_finished(self, event: events.OperatorFinished) -> None:
        findings, task = self.findings, self.trace.task(event.attempt, event.subtask)
        before = task.called
        self.trace.operator_finished(event)
        findings.check("finish-not-once")
        if before is not None:
            findings.violated("finish-not-once", f"finish() of {event.subtask} is called again", before, event)
            return
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

    def snapshot_taken(self, event: events.SnapshotTaken) -> None:
        self.trace.snapshot_taken(event)
        called = self.trace.task(event.attempt, event.subtask).called
        if called is not None and event.subtask in self.reducing and event.state is not None:
            self.findings.check("held-after-finish")
            if event.state.keys:
                message = (
                    f"{event.subtask} holds rows of {plural(event.state.keys, 'key')} in checkpoint "
                    f"{event.checkpoint}, after finish()"
                )
                self.findings.violated("held-after-finish", message, called, event)

    def subtask_finished(self, event: events.SubtaskFinished) -> None:
        if not self.goes_on:
            return
        findings, task = self.findings, self.trace.task(event.attempt, event.subtask)
        findings.check("exit-before-final")
        if task.taken_after is None or task.taken_after > task.notified:
            taken = "none" if task.taken_after is None else f"checkpoint {task.taken_after} first"
            message = f"{event.subtask} ends; after finish() it took {taken}, and its last notice is of {task.notified}"
            findings.violated("exit-before-final", message, event)
        if event.subtask in self.sinks:
            findings.check("exit-uncommitted")
            if task.open:
                message = f"{event.subtask} ends, and {min(task.open)} is not committed"
                findings.violated("exit-uncommitted", message, event)

    def close(self) -> None:
        """Judge who has called finish() once the events of every node are read."""
        over = self.trace.end
        if over is None:
            return
        for subtask in self.layout_of(over).subtasks:
            task = self.trace.tasks.get((self.trace.ended_attempts.get(subtask, 0), subtask))
            if task is None or task.started is None:
                continue
            self.findings.check("finish-not-once")
            if not task.calls and not task.started.finished:
                message = f"the job finished, and finish() of {subtask} was never called"
                self.findings.violated("finish-not-once", message, task.started, over)

    # --- checkpoints ---

    def triggered(self, event: events.CheckpointTriggered) -> None:
        self.trace.triggered(event)
        findings, known = self.findings, self.trace.known
        if not known:
            return
        findings.check("refused-after-finish" if self.goes_on else "triggered-after-finish")
        if not self.goes_on:
            message = f"checkpoint {event.checkpoint} is triggered although {', '.join(sorted(known))} finished"
            findings.violated("triggered-after-finish", message, event)
        findings.check("wrong-participants")
        running = set(self.layout_of(event).subtasks) - known
        if set(event.participants) != running:
            wrong = ", ".join(sorted(set(event.participants) ^ running))
            message = f"checkpoint {event.checkpoint} is wrong about the part of {wrong}"
            findings.violated("wrong-participants", message, event)

    def trigger_sent(self, event: events.TriggerSent) -> None:
        checkpoint = self.trace.pending.get(event.checkpoint)
        if checkpoint is None or not checkpoint.absent:
            return
        self.findings.check("triggered-not-first")
        if event.subtask not in checkpoint.first:
            message = f"{event.subtask} is triggered for checkpoint {event.checkpoint}, and is not the first that runs"
            self.findings.violated("triggered-not-first", message, event)

    def refused(self, event: events.CheckpointRefused) -> None:
        known = self.trace.known
        some = 0 < len(known) < len(self.layout_of(event).subtasks)
        if event.reason is not FailureReason.TASKS_NOT_RUNNING or not some or not self.trace.running:
            return
        if not self.goes_on:
            self.findings.check("triggered-after-finish")
            return
        message = f"a checkpoint is refused ({event.reason}) because {', '.join(sorted(known))} finished"
        self.findings.check("refused-after-finish")
        self.findings.violated("refused-after-finish", message, event)

    def ended(self, event: events.CheckpointCompleted | events.CheckpointAborted) -> None:
        checkpoint = self.trace.ended(event)
        if checkpoint is None:
            return
        for subtasks in self.union:
            after = checkpoint.absent | {subtask for subtask, late in checkpoint.after_finish.items() if late}
            before = {subtask for subtask, late in checkpoint.after_finish.items() if not late}
            if not subtasks & after:
                continue
            self.findings.check("partial-union")
            if isinstance(event, events.CheckpointCompleted) and subtasks & before:
                message = (
                    f"checkpoint {event.checkpoint} completes, which {', '.join(sorted(subtasks & after))} took after "
                    f"finish(), and {', '.join(sorted(subtasks & before))} before"
                )
                self.findings.violated("partial-union", message, event)
