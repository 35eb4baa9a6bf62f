"""What COORD decides on the way of each checkpoint from its id to its end, and of each attempt (RULES CRD, REC-01).

Every event is held against the state of the model before it, and then taken by the model.
"""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.harness.model.checkpoint import CheckpointOrigin, FailureReason
from holdfast.harness.model.history import History
from holdfast.harness.oracles.coordinator.coordinator_model import (
    NOTHING,
    Checkpoint,
    CoordinatorModel,
    End,
    restored_id,
)
from holdfast.harness.oracles.findings import Findings, Handlers, replay

_WITHOUT_SLOT = frozenset({CheckpointOrigin.FORCED, CheckpointOrigin.SAVEPOINT})
"""Who waits for no free slot; a savepoint does where checkpoints are unaligned, and there one may be pending."""
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


def judge_lifecycle(history: History, findings: Findings) -> CoordinatorModel:
    """Hold a coordinator's trace against the model; what the model knows in the end."""
    return _Lifecycle(history, findings).model


class _Lifecycle:
    """One pass over a history."""

    def __init__(self, history: History, findings: Findings) -> None:
        self.findings, self.checked = findings, findings.checked
        self.model = CoordinatorModel(history)
        self.durability_seen = bool(history.of(events.MetadataPublished))
        # Where the sends of a coordinator are not recorded, what a task receives shows their order.
        sends_seen = bool(history.of(events.NotificationSent))
        heard: Handlers = {} if sends_seen else {events.NotificationReceived: self._judge_order}
        replay(
            history,
            {
                **heard,
                events.CheckpointTriggered: self._triggered,
                events.TriggerSent: self._trigger_sent,
                events.AckReceived: self._acknowledged,
                events.DeclineReceived: self._declined,
                events.MetadataPublished: self.model.published,
                events.SavepointCompleted: self._savepoint_completed,
                events.CheckpointCompleted: self._completed,
                events.CheckpointAborted: self._aborted,
                events.NotificationSent: self._notified,
                events.FinishReceived: self.model.finish_received,
                events.OperatorFinished: self.model.operator_finished,
                events.FailureCounted: self._failed_over,
                events.JobSubmitted: self._submitted,
                events.JobSwitched: self._switched,
                events.CheckpointDrawn: self._drawn,
                events.AttemptStarted: self._attempt_started,
                events.TaskStarted: self._task_started,
            },
        )
        self._settle_notices()

    # --- checkpoints ---

    def _drawn(self, event: events.CheckpointDrawn) -> None:
        """The first id of a job that restores a checkpoint of an earlier one."""
        restored = self.model.restored
        self.model.drawn(event)
        if restored is None or restored.checkpoint is None:
            return
        self.findings.check("wrong-first-id")
        if event.checkpoint != restored.checkpoint + 1:
            message = f"a job that restores checkpoint {restored.checkpoint} begins with id {event.checkpoint}"
            self.findings.violated("wrong-first-id", message, restored, event)

    def _triggered(self, event: events.CheckpointTriggered) -> None:
        model, findings, checkpoint = self.model, self.findings, event.checkpoint
        self._settle_subsumed(event)
        if model.highest is not None:
            findings.check("ids-not-increasing")
            if checkpoint <= model.highest.checkpoint:
                message = f"checkpoint {checkpoint} is triggered after checkpoint {model.highest.checkpoint}"
                findings.violated("ids-not-increasing", message, model.highest, event)
        if model.slot_awaits is not None:
            findings.check("slot-not-freed")
        model.triggered(event)
        findings.check("too-many-pending")
        if len(model.pending) > model.limit and event.origin not in _WITHOUT_SLOT:
            message = f"checkpoints {sorted(model.pending)} are pending at once, {model.limit} may be"
            findings.violated("too-many-pending", message, event)

    def _trigger_sent(self, event: events.TriggerSent) -> None:
        self.checked["triggered-not-a-source"] += 1
        if not self.model.may_begin(event):
            message = f"{event.subtask} gets the trigger of checkpoint {event.checkpoint}, and has inputs"
            self.findings.violated("triggered-not-a-source", message, event)

    def _acknowledged(self, event: events.AckReceived) -> None:
        if self.model.to_subsume:
            self._settle_subsumed(event)
        objection = self.model.acknowledged(event)
        if objection:
            self.findings.check("ack-counted-wrongly")
            if event.outcome is events.AckOutcome.SUCCESS:
                message = f"the ack of {event.subtask} for checkpoint {event.checkpoint} is counted, {objection}"
                self.findings.violated("ack-counted-wrongly", message, event)

    def _declined(self, event: events.DeclineReceived) -> None:
        self._settle_subsumed(event)
        self.model.declined(event)

    def _savepoint_completed(self, event: events.SavepointCompleted) -> None:
        """The end of a savepoint that is no recovery point; of another one the news that it is durable."""
        self._settle_subsumed(event)
        checkpoint = self.model.of(event)
        if event.recovery_point:
            self.model.published(event)
            return
        self._judge_acks(checkpoint, event)
        self._judge_end(checkpoint, event)
        self.model.savepoint_completed(event)

    def _judge_acks(
        self, checkpoint: Checkpoint, event: events.CheckpointCompleted | events.SavepointCompleted
    ) -> None:
        """All participants have acknowledged."""
        findings, triggered = self.findings, checkpoint.triggered
        findings.check("completed-without-ack")
        missing = sorted(set(triggered.participants) - checkpoint.acked) if triggered else []
        if missing and triggered:
            message = f"checkpoint {event.checkpoint} completes without an ack of {', '.join(missing)}"
            findings.violated("completed-without-ack", message, triggered, event)
        elif triggered is None and self.model.highest is not None:
            message = f"checkpoint {event.checkpoint} completes without having been triggered"
            findings.violated("completed-without-ack", message, event)

    def _completed(self, event: events.CheckpointCompleted) -> None:
        findings = self.findings
        self._settle_subsumed(event)
        checkpoint = self.model.of(event)
        self._judge_acks(checkpoint, event)
        if self.durability_seen:
            findings.check("notified-before-durable")
            if not checkpoint.durable:
                message = f"checkpoint {event.checkpoint} completes before its metadata is published"
                findings.violated("notified-before-durable", message, event)
        if checkpoint.declined is not None:
            message = f"checkpoint {event.checkpoint} completes though {checkpoint.declined.subtask} declined it"
            findings.violated("completed-after-decline", message, checkpoint.declined, event)
        self._judge_end(checkpoint, event)
        self.model.completed(event)

    def _aborted(self, event: events.CheckpointAborted) -> None:
        checkpoint = self.model.of(event)
        if checkpoint.declined is not None:
            self.findings.check("completed-after-decline")
        if event.reason == FailureReason.TASK_FAILURE:
            self.findings.check("pending-at-restart")
        if event.checkpoint in self.model.to_subsume:
            self.findings.check("not-subsumed")
        self._judge_reason(checkpoint, event)
        self._judge_end(checkpoint, event)
        self.model.aborted(event)

    def _judge_end(self, checkpoint: Checkpoint, event: End) -> None:
        self.findings.check("two-ends")
        if checkpoint.ended is not None and not _drawn_again(checkpoint, event):
            message = f"checkpoint {event.checkpoint} ends twice"
            self.findings.violated("two-ends", message, checkpoint.ended, event)

    def _judge_reason(self, checkpoint: Checkpoint, event: events.CheckpointAborted) -> None:
        """Reasons that leave a trace: a decline, a completion of a later one, a failure of the job."""
        findings, declined = self.findings, checkpoint.declined
        if event.reason in _DECLINES:
            findings.check("wrong-reason")
            ended = event.reason == FailureReason.TASK_CLOSING and self.model.ending
            if not ended and (declined is None or event.reason != declined.cause):
                actual = "no task declined it" if declined is None else f"{declined.subtask} gave: {declined.cause}"
                message = f"checkpoint {event.checkpoint} is aborted as {event.reason}, and {actual}"
                findings.violated("wrong-reason", message, *([declined] if declined else []), event)
        elif event.reason == FailureReason.SUBSUMED:
            findings.check("wrong-reason")
            if event.checkpoint > self.model.latest:
                message = f"checkpoint {event.checkpoint} is aborted as subsumed, and no later one has completed"
                findings.violated("wrong-reason", message, event)

    def _settle_subsumed(self, event: events.Event) -> None:
        """The coordinator goes on: what it had to subsume, it has."""
        for older, newer in self.model.to_subsume.items():
            if newer.node == event.node:
                message = f"checkpoint {older} stays pending though checkpoint {newer.checkpoint} has completed"
                self.findings.violated("not-subsumed", message, newer, event)

    # --- notices ---

    def _notified(self, event: events.NotificationSent) -> None:
        findings = self.findings
        self._judge_order(event)
        if event.completed and self.durability_seen:
            self.checked["notified-before-durable"] += 1
            if event.checkpoint not in self.model.durable:
                message = f"{event.subtask} is notified that checkpoint {event.checkpoint} completed, it is not durable"
                findings.violated("notified-before-durable", message, event)

    def _judge_order(self, event: events.NotificationSent | events.NotificationReceived) -> None:
        last = self.model.notices.sent(event)
        if last is not None:
            self.checked["notices-not-increasing"] += 1
            if last.checkpoint >= event.checkpoint:
                message = f"{event.subtask} is notified of checkpoint {event.checkpoint} after {last.checkpoint}"
                self.findings.violated("notices-not-increasing", message, last, event)

    def _settle_notices(self) -> None:
        """No more notices of an abort will come. An abort in which the coordinator was interrupted decides nothing."""
        for abort in self.model.notices.settle():
            if abort.unnotified and not abort.went_on:
                continue
            self.findings.check("abort-not-notified")
            if abort.unnotified:
                named = ", ".join(sorted(abort.unnotified))
                message = f"checkpoint {abort.event.checkpoint} is aborted, and no notice of that goes to {named}"
                self.findings.violated("abort-not-notified", message, abort.event)

    # --- attempts ---

    def _submitted(self, event: events.JobSubmitted) -> None:
        self._settle_notices()
        self.model.submitted(event)

    def _switched(self, event: events.JobSwitched) -> None:
        if event.status is not events.JobStatus.RUNNING:
            self._failed_over(event)

    def _failed_over(self, event: events.Event) -> None:
        self._settle_notices()
        self.model.failed_over()

    def _attempt_started(self, event: events.AttemptStarted) -> None:
        self._judge_pending(event)
        self._settle_notices()
        self._judge_number(event)
        self._judge_restored(event)
        self.model.attempt_started(event)

    def _judge_pending(self, event: events.AttemptStarted) -> None:
        """What the coordinator itself triggered it has ended before it starts the next attempt; a publication may still
        be under way."""
        for pending in self.model.pending:
            checkpoint = self.model.known(event, pending)
            triggered = checkpoint.triggered if checkpoint is not None and checkpoint.full_ns is None else None
            if triggered is not None and triggered.node == event.node:
                message = f"attempt {event.attempt} starts while checkpoint {pending} is pending"
                self.findings.violated("pending-at-restart", message, triggered, event)

    def _judge_number(self, event: events.AttemptStarted) -> None:
        last = self.model.attempts.last
        if last is not None:
            self.findings.check("started-late-attempt")
            if event.attempt <= last.attempt:
                message = f"attempt {event.attempt} starts after attempt {last.attempt}"
                self.findings.violated("started-late-attempt", message, last, event)

    def _judge_restored(self, event: events.AttemptStarted) -> None:
        model = self.model
        empty = not model.durable and model.latest == NOTHING and restored_id(event) == NOTHING
        if model.attempts.last is not None or not empty:
            self.findings.check("restored-not-latest")
        if not model.may_restore(event):
            latest = "no checkpoint has" if model.latest == NOTHING else f"checkpoint {model.latest} was the last that"
            message = f"attempt {event.attempt} restores {_restored_name(event)}, {latest} completed"
            self.findings.violated("restored-not-latest", message, event)

    def _task_started(self, event: events.TaskStarted) -> None:
        """A task restores what its attempt does."""
        attempt = self.model.attempts.by_number.get(event.attempt)
        if attempt is None or (attempt.restored_checkpoint is None and event.restored_checkpoint is None):
            return
        self.findings.check("tasks-restored-differently")
        if attempt.restored_checkpoint != event.restored_checkpoint:
            message = (
                f"{event.subtask} restores {_restored_name(event)}, attempt {event.attempt} {_restored_name(attempt)}"
            )
            self.findings.violated("tasks-restored-differently", message, attempt, event)


def _drawn_again(checkpoint: Checkpoint, event: End) -> bool:
    """Whether both ends are of an id that was never triggered, each by another coordinator: what the first one could
    not store its successor does not know, and draws again."""
    first = checkpoint.ended
    given_up = isinstance(first, events.CheckpointAborted) and isinstance(event, events.CheckpointAborted)
    return first is not None and given_up and checkpoint.triggered is None and first.node != event.node


def _restored_name(event: events.AttemptStarted | events.TaskStarted) -> str:
    return "nothing" if event.restored_checkpoint is None else f"checkpoint {event.restored_checkpoint}"
