"""The state machine that COORD holds a coordinator's trace against.

All orders are taken from coordinators: the lives of a coordinator follow each other, so their events are ordered
although their nodes differ.
"""

from __future__ import annotations

from holdfast.harness.model.checkpoint import CheckpointOrigin, FailureReason
from holdfast.harness.model.events import (
    AckOutcome,
    AckReceived,
    AttemptStarted,
    CheckpointAborted,
    CheckpointCompleted,
    CheckpointDrawn,
    CheckpointTriggered,
    DeclineReceived,
    Event,
    FailureCounted,
    FinishReceived,
    JobStatus,
    JobSubmitted,
    JobSwitched,
    MetadataPublished,
    NotificationSent,
    OperatorFinished,
    TaskStarted,
    TriggerSent,
)
from holdfast.harness.model.history import History
from holdfast.harness.oracles.findings import Findings, replay
from holdfast.harness.oracles.models.layout import Layouts
from holdfast.harness.oracles.models.options import MAX_CONCURRENT, checkpoints_after_finish, number
from holdfast.harness.oracles.traces.attempt_trace import AttemptTrace, restored_name
from holdfast.harness.oracles.traces.notice_trace import NoticeTrace

NOTHING = -1
"""Stands for no checkpoint, below all ids."""


_DECLINES = frozenset(
    {
        FailureReason.DECLINED,
        FailureReason.ASYNCHRONOUS_PART,
        FailureReason.TASK_NOT_READY,
        FailureReason.TASK_CLOSING,
        FailureReason.END_OF_STREAM,
        FailureReason.CANCELLATION_BARRIER,
    }
)


class Checkpoint:
    """What the coordinator did with one checkpoint.

    Attributes:
        triggered: None if it was never seen to begin.
        acked: participants whose ack was counted.
        full_ns: when the last of them was, or None.
        declined: a decline that came while acks were missing.
        durable: its metadata was published.
        ended: its first end.
    """

    __slots__ = ("acked", "declined", "durable", "ended", "full_ns", "triggered")

    def __init__(self, triggered: CheckpointTriggered | None) -> None:
        self.triggered = triggered
        self.acked: set[str] = set()
        self.full_ns: int | None = None
        self.declined: DeclineReceived | None = None
        self.durable = False
        self.ended: CheckpointCompleted | CheckpointAborted | None = None


class CoordinatorModel:
    """The state machine.

    Attributes:
        node: the coordinator's present life.
        pending: ids of the present attempt that have not ended.
        failing: the job has failed over and the next attempt has not started.
        notices: of how checkpoints end.
        attempts: of the job.
        to_subsume: pending ones that are older than what has just completed, with that.
        restored: a new job that has not drawn an id yet.
        slot_awaits: the abort since which nothing was triggered, although the attempt ran on.
        latest: highest id that completed or was restored.
        completions: by node, the sequence of its last CheckpointCompleted.
    """

    def __init__(self, history: History, findings: Findings) -> None:
        self.findings = findings
        self.limit = number(history.plan, MAX_CONCURRENT, 1)
        self.layouts = Layouts(history)
        self.finished: set[str] = set()
        self.ending = False
        self.goes_on = checkpoints_after_finish(history.plan)
        self.durability_seen = bool(history.of(MetadataPublished))
        self.checkpoints: dict[int, Checkpoint] = {}
        self.node = ""
        self.highest: CheckpointTriggered | None = None
        self.pending: set[int] = set()
        self.failing = False
        self.notices = NoticeTrace(findings)
        self.slot_awaits: CheckpointAborted | None = None
        self.to_subsume: dict[int, CheckpointCompleted] = {}
        self.restored: JobSubmitted | None = None
        self.attempts = AttemptTrace(findings, self.layouts)
        self.latest = NOTHING
        self.durable: set[int] = set()
        self.completions: dict[str, int] = {}
        replay(
            history,
            {
                CheckpointTriggered: self._triggered,
                TriggerSent: self._trigger_sent,
                AckReceived: self._acknowledged,
                DeclineReceived: self._declined,
                MetadataPublished: self._published,
                CheckpointCompleted: self._completed,
                CheckpointAborted: self._aborted,
                NotificationSent: self._notified,
                FinishReceived: self._finish_received,
                OperatorFinished: self._operator_finished,
                FailureCounted: self._failed_over,
                JobSubmitted: self._submitted,
                JobSwitched: self._switched,
                CheckpointDrawn: self._drawn,
                AttemptStarted: self._attempt_started,
                TaskStarted: self.attempts.task_started,
            },
        )
        self.notices.settle()

    def _of(self, checkpoint: int) -> Checkpoint:
        known = self.checkpoints.get(checkpoint)
        if known is None:
            known = self.checkpoints[checkpoint] = Checkpoint(None)
        return known

    # --- checkpoints ---

    def _drawn(self, event: CheckpointDrawn) -> None:
        """The first id of a job that restores a checkpoint of an earlier one."""
        restored, self.restored = self.restored, None
        if restored is None or restored.checkpoint is None:
            return
        self.findings.check("wrong-first-id")
        if event.checkpoint != restored.checkpoint + 1:
            message = f"a job that restores checkpoint {restored.checkpoint} begins with id {event.checkpoint}"
            self.findings.violated("wrong-first-id", message, restored, event)

    def _triggered(self, event: CheckpointTriggered) -> None:
        self._settle_subsumed(event)
        findings, checkpoint = self.findings, event.checkpoint
        self.node = event.node
        if self.highest is not None:
            findings.check("ids-not-increasing")
            if checkpoint <= self.highest.checkpoint:
                message = f"checkpoint {checkpoint} is triggered after checkpoint {self.highest.checkpoint}"
                findings.violated("ids-not-increasing", message, self.highest, event)
        if self.highest is None or checkpoint > self.highest.checkpoint:
            self.highest = event
        self.checkpoints[checkpoint] = Checkpoint(event)
        self.pending.add(checkpoint)
        findings.check("too-many-pending")
        if len(self.pending) > self.limit and event.origin is not CheckpointOrigin.FORCED:
            message = f"checkpoints {sorted(self.pending)} are pending at once, {self.limit} may be"
            findings.violated("too-many-pending", message, event)
        if self.slot_awaits is not None:
            findings.check("slot-not-freed")
            self.slot_awaits = None

    def _trigger_sent(self, event: TriggerSent) -> None:
        self.findings.check("triggered-not-a-source")
        if not self.layouts.of(event).upstream.get(event.subtask, set()) <= self.finished:
            message = f"{event.subtask} is told to begin checkpoint {event.checkpoint}, and has inputs"
            self.findings.violated("triggered-not-a-source", message, event)

    def _operator_finished(self, event: OperatorFinished) -> None:
        self.ending = True

    def _finish_received(self, event: FinishReceived) -> None:
        self.finished.add(event.subtask)
        if not self.goes_on:
            self.slot_awaits = None

    def _acknowledged(self, event: AckReceived) -> None:
        self._went_on(event)
        checkpoint = self.checkpoints.get(event.checkpoint)
        counted = event.outcome is AckOutcome.SUCCESS
        objection = self._objection(checkpoint, event)
        if objection:
            self.findings.check("ack-counted-wrongly")
            if counted:
                message = f"the ack of {event.subtask} for checkpoint {event.checkpoint} is counted, {objection}"
                self.findings.violated("ack-counted-wrongly", message, event)
        elif counted and checkpoint is not None and checkpoint.triggered is not None:
            checkpoint.acked.add(event.subtask)
            if len(checkpoint.acked) == len(checkpoint.triggered.participants):
                checkpoint.full_ns = event.time_ns

    def _declined(self, event: DeclineReceived) -> None:
        self._went_on(event)
        checkpoint = self.checkpoints.get(event.checkpoint)
        if checkpoint is None or checkpoint.ended is not None or checkpoint.full_ns is not None:
            return
        triggered = checkpoint.triggered
        if triggered is not None and self.attempts.present(triggered, event.subtask) == event.attempt:
            checkpoint.declined = checkpoint.declined or event

    def _published(self, event: MetadataPublished) -> None:
        self._of(event.checkpoint).durable = True
        self.durable.add(event.checkpoint)

    def _completed(self, event: CheckpointCompleted) -> None:
        self._went_on(event)
        findings = self.findings
        checkpoint = self._of(event.checkpoint)
        triggered = checkpoint.triggered
        findings.check("completed-without-ack")
        missing = sorted(set(triggered.participants) - checkpoint.acked) if triggered else []
        if missing and triggered:
            message = f"checkpoint {event.checkpoint} completes without an ack of {', '.join(missing)}"
            findings.violated("completed-without-ack", message, triggered, event)
        elif triggered is None and self.highest is not None:
            message = f"checkpoint {event.checkpoint} completes without having been triggered"
            findings.violated("completed-without-ack", message, event)
        if self.durability_seen:
            findings.check("told-before-durable")
            if not checkpoint.durable:
                message = f"checkpoint {event.checkpoint} completes before its metadata is published"
                findings.violated("told-before-durable", message, event)
        if checkpoint.declined is not None:
            message = f"checkpoint {event.checkpoint} completes though {checkpoint.declined.subtask} declined it"
            findings.violated("completed-after-decline", message, checkpoint.declined, event)
        self._end(checkpoint, event)
        for older in self.pending:
            known = self.checkpoints[older]
            if older < event.checkpoint and known.full_ns is None:
                self.to_subsume[older] = event
        self.latest = max(self.latest, event.checkpoint)
        self.completions[event.node] = event.sequence

    def _aborted(self, event: CheckpointAborted) -> None:
        checkpoint = self._of(event.checkpoint)
        if checkpoint.declined is not None:
            self.findings.check("completed-after-decline")
        if event.reason == FailureReason.TASK_FAILURE:
            self.findings.check("pending-at-restart")
        newer = self.to_subsume.pop(event.checkpoint, None)
        self._judge_reason(checkpoint, event, newer)
        if not self._end(checkpoint, event) or self.failing:
            return
        if checkpoint.triggered is not None:
            self.notices.owe(event, checkpoint.triggered.participants)
        if checkpoint.full_ns is None and (self.goes_on or not self.finished):
            self.slot_awaits = event

    def _end(self, checkpoint: Checkpoint, event: CheckpointCompleted | CheckpointAborted) -> bool:
        """Whether this is the first end of the checkpoint."""
        self.findings.check("two-ends")
        self.pending.discard(event.checkpoint)
        if checkpoint.ended is not None:
            message = f"checkpoint {event.checkpoint} ends twice"
            self.findings.violated("two-ends", message, checkpoint.ended, event)
            return False
        checkpoint.ended = event
        return True

    def _judge_reason(
        self, checkpoint: Checkpoint, event: CheckpointAborted, newer: CheckpointCompleted | None
    ) -> None:
        """Reasons that leave a trace: a decline, a completion of a later one, a failure of the job."""
        findings = self.findings
        if newer is not None:
            findings.check("not-subsumed")
        declined = checkpoint.declined
        if event.reason in _DECLINES:
            findings.check("wrong-reason")
            ended = event.reason == FailureReason.TASK_CLOSING and self.ending
            if not ended and (declined is None or event.reason != declined.cause):
                said = "nobody declined it" if declined is None else f"{declined.subtask} said: {declined.cause}"
                message = f"checkpoint {event.checkpoint} is aborted as {event.reason}, and {said}"
                findings.violated("wrong-reason", message, *([declined] if declined else []), event)
        elif event.reason == FailureReason.SUBSUMED:
            findings.check("wrong-reason")
            if event.checkpoint > self.latest:
                message = f"checkpoint {event.checkpoint} is aborted as subsumed, and no later one has completed"
                findings.violated("wrong-reason", message, event)

    def _settle_subsumed(self, event: Event) -> None:
        """The coordinator goes on: what it had to subsume, it has."""
        for older, newer in self.to_subsume.items():
            if newer.node == event.node:
                message = f"checkpoint {older} stays pending though checkpoint {newer.checkpoint} has completed"
                self.findings.violated("not-subsumed", message, newer, event)
        self.to_subsume.clear()

    def _notified(self, event: NotificationSent) -> None:
        self.notices.sent(event)
        if event.completed and self.durability_seen:
            self.findings.check("told-before-durable")
            if event.checkpoint not in self.durable:
                message = f"{event.subtask} is told that checkpoint {event.checkpoint} is complete, it is not durable"
                self.findings.violated("told-before-durable", message, event)

    def _went_on(self, event: Event) -> None:
        """The coordinator reacts to something: whatever it did before is done."""
        self._settle_subsumed(event)
        self.notices.went_on(event)

    def _objection(self, checkpoint: Checkpoint | None, ack: AckReceived) -> str:
        """Why an ack must not be counted; empty if it must."""
        if checkpoint is None or checkpoint.triggered is None:
            return "which was never triggered"
        if ack.attempt != self.attempts.present(checkpoint.triggered, ack.subtask):
            return f"although it comes from attempt {ack.attempt}"
        if checkpoint.ended is not None or checkpoint.triggered.node != ack.node:
            return "which is over"
        if ack.subtask in checkpoint.acked:
            return "the second time"
        return "" if ack.subtask in checkpoint.triggered.participants else "although it takes no part"

    # --- attempts ---

    def _submitted(self, event: JobSubmitted) -> None:
        """A new job knows no checkpoint but the one that it restores. Its coordinator may say it twice."""
        self._failed_over(event)
        self.to_subsume.clear()
        self.pending.clear()
        self.durable.clear()
        self.highest = None
        self.latest = NOTHING if event.checkpoint is None else event.checkpoint
        self.restored = event

    def _switched(self, event: JobSwitched) -> None:
        if event.status is not JobStatus.RUNNING:
            self._failed_over(event)

    def _failed_over(self, event: Event) -> None:
        self.failing = True
        self.slot_awaits = None
        self.notices.settle()

    def _attempt_started(self, event: AttemptStarted) -> None:
        self._judge_pending(event)
        self.to_subsume.clear()
        self._failed_over(event)
        self.failing = False
        self.node = event.node
        self.pending.clear()
        first = self.attempts.started(event)
        self.finished.difference_update(self.attempts.members(event))
        restored = NOTHING if event.restored_checkpoint is None else event.restored_checkpoint
        if not first or self.durable or self.latest != NOTHING or restored != NOTHING:
            self.findings.check("restored-not-latest")
        # What was published without having completed (the coordinator died in between) may be restored
        if restored != self.latest and not (restored > self.latest and restored in self.durable):
            latest = "no checkpoint has" if self.latest == NOTHING else f"checkpoint {self.latest} was the last that"
            message = f"attempt {event.attempt} restores {restored_name(event)}, {latest} completed"
            self.findings.violated("restored-not-latest", message, event)
        self.latest = max(self.latest, restored)

    def _judge_pending(self, event: AttemptStarted) -> None:
        """What the coordinator itself triggered it has ended before it starts the next attempt; a publication may still
        be under way."""
        for pending in self.pending:
            checkpoint = self.checkpoints[pending]
            triggered = checkpoint.triggered
            if triggered is not None and triggered.node == event.node and checkpoint.full_ns is None:
                message = f"attempt {event.attempt} starts while checkpoint {pending} is pending"
                self.findings.violated("pending-at-restart", message, triggered, event)
