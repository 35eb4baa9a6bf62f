"""The state machine that COORD holds a coordinator's trace against. It knows what must hold; it reports no violation.

All orders are taken from coordinators: the lives of a coordinator follow each other, so their events are ordered
although their nodes differ.
"""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.harness.model import events, profile
from holdfast.harness.model.events import (
    AttemptStarted,
    CheckpointAborted,
    CheckpointTriggered,
    Event,
    NotificationReceived,
    NotificationSent,
)
from holdfast.harness.model.history import History
from holdfast.harness.oracles.ledger.submissions import Submissions
from holdfast.harness.oracles.shared.layout import Layouts
from holdfast.harness.oracles.shared.options import checkpoints_after_finish, number

Notice = NotificationSent | NotificationReceived


class Abort:
    """An abort of which the participants of a running attempt must be notified.

    Attributes:
        unnotified: subtasks that have not been notified yet.
        went_on: the coordinator has reacted to something else since, so it was not interrupted here.
    """

    __slots__ = ("event", "unnotified", "went_on")

    def __init__(self, event: CheckpointAborted, unnotified: set[str]) -> None:
        self.event = event
        self.unnotified = unnotified
        self.went_on = False


class NoticeTrace:
    """The notices of one job.

    Attributes:
        aborts: by checkpoint, those of which a subtask may still have to be notified.
        notified: by attempt and subtask, the last completion that it was notified of.
    """

    def __init__(self) -> None:
        self.aborts: dict[int, Abort] = {}
        self.notified: dict[tuple[int, str], Notice] = {}

    def owe(self, event: CheckpointAborted, participants: Iterable[str]) -> None:
        """An attempt that runs on has to be notified of an abort."""
        self.aborts[event.checkpoint] = Abort(event, set(participants))

    def sent(self, event: Notice) -> Notice | None:
        """Record a notice to a subtask; for a completion, return the notice of the completion before it."""
        if not event.completed:
            abort = self.aborts.get(event.checkpoint)
            if abort is not None:
                abort.unnotified.discard(event.subtask)
            return None
        key = event.attempt, event.subtask
        last = self.notified.get(key)
        self.notified[key] = event
        return last

    def went_on(self, event: Event) -> None:
        """The coordinator reacts to something: whatever it did before is done."""
        for abort in self.aborts.values():
            abort.went_on = abort.went_on or abort.event.node == event.node

    def settle(self) -> list[Abort]:
        """No more notices can be due: return the aborts of which notices were due, and forget them."""
        settled = list(self.aborts.values())
        self.aborts.clear()
        return settled


class AttemptTrace:
    """The attempts so far.

    Attributes:
        by_number: all.
        newest: by subtask, the attempt that it is in.
        last: the one that was started last.
    """

    def __init__(self, layouts: Layouts) -> None:
        self._layouts = layouts
        self.by_number: dict[int, AttemptStarted] = {}
        self.newest: dict[str, int] = {}
        self.last: AttemptStarted | None = None

    def members(self, event: AttemptStarted) -> tuple[str, ...]:
        """The subtasks that an attempt is one of."""
        return event.subtasks or self._layouts.of(event).subtasks

    def started(self, event: AttemptStarted) -> None:
        """Another one begins."""
        self.last = self.by_number[event.attempt] = event
        self.newest.update(dict.fromkeys(self.members(event), event.attempt))

    def present(self, triggered: CheckpointTriggered, subtask: str) -> int:
        """The attempt that a subtask takes part from: a region that was restarted has a newer one than the others."""
        return min(self.newest.get(subtask, triggered.attempt), triggered.attempt)


End = events.CheckpointCompleted | events.CheckpointAborted | events.SavepointCompleted
"""How a checkpoint ends; a savepoint that is no recovery point with itself."""
NOTHING = -1
"""Stands for no checkpoint, below all ids."""


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

    def __init__(self, triggered: events.CheckpointTriggered | None) -> None:
        self.triggered = triggered
        self.acked: set[str] = set()
        self.full_ns: int | None = None
        self.declined: events.DeclineReceived | None = None
        self.durable = False
        self.ended: End | None = None


class CoordinatorModel:
    """The state machine of the coordinator. Each method takes one event, and returns what held before that event.

    Attributes:
        checkpoints: by job and id; ids of one job may be those of another.
        node: the coordinator's present life.
        limit: how many checkpoints may be pending.
        goes_on: checkpoints are taken when some tasks have finished.
        finished: subtasks that the coordinator knows to have finished.
        ending: operators have begun to finish.
        highest: the trigger with the highest id of this job.
        pending: ids of the present attempt that have not ended.
        failing: the job has failed over and the next attempt has not started.
        notices: of how checkpoints end.
        attempts: of the job.
        to_subsume: pending ones that are older than what has just completed, with that.
        slot_awaits: the abort since which nothing was triggered, although the attempt ran on.
        restored: a new job that has not drawn an id yet.
        latest: highest id that completed or was restored.
        durable: ids whose metadata is published.
        completions: by node, the sequence of its last CheckpointCompleted.
        synchronous: savepoints that a job is to end with; nothing subsumes them.
    """

    def __init__(self, history: History) -> None:
        self.limit = number(history.plan, profile.MAX_CONCURRENT, 1)
        self.goes_on = checkpoints_after_finish(history.plan)
        self._layouts = history.derived(Layouts)
        self._job_of = history.derived(Submissions).of
        self.finished: set[str] = set()
        self.ending = False
        self.checkpoints: dict[tuple[int, int], Checkpoint] = {}
        self.node = ""
        self.highest: events.CheckpointTriggered | None = None
        self.pending: set[int] = set()
        self.failing = False
        self.notices = NoticeTrace()
        self.attempts = AttemptTrace(self._layouts)
        self.slot_awaits: events.CheckpointAborted | None = None
        self.to_subsume: dict[int, events.CheckpointCompleted] = {}
        self.restored: events.JobSubmitted | None = None
        self.latest = NOTHING
        self.durable: set[int] = set()
        self.completions: dict[str, int] = {}
        checkpoint_of = history.derived(Submissions).checkpoint_of
        savepoints = history.of(events.SavepointTriggered)
        self.synchronous = {checkpoint_of(event) for event in savepoints if event.stop.synchronous}

    def known(self, event: events.Event, checkpoint: int) -> Checkpoint | None:
        """What was recorded of a checkpoint of the job that an event belongs to; None: nothing."""
        return self.checkpoints.get((self._job_of(event), checkpoint))

    def of(self, event: events.MetadataPublished | End) -> Checkpoint:
        """What is known of the checkpoint of an event."""
        key = self._job_of(event), event.checkpoint
        known = self.checkpoints.get(key)
        if known is None:
            known = self.checkpoints[key] = Checkpoint(None)
        return known

    # --- checkpoints ---

    def drawn(self, event: events.CheckpointDrawn) -> None:
        """The first id of a job is drawn, or another one."""
        self.restored = None

    def triggered(self, event: events.CheckpointTriggered) -> None:
        """A checkpoint begins, and uses a slot."""
        self.to_subsume.clear()
        self.node = event.node
        if self.highest is None or event.checkpoint > self.highest.checkpoint:
            self.highest = event
        self.checkpoints[self._job_of(event), event.checkpoint] = Checkpoint(event)
        self.pending.add(event.checkpoint)
        self.slot_awaits = None

    def may_begin(self, event: events.TriggerSent) -> bool:
        """Whether a subtask begins checkpoints by itself: nothing that runs sends to it."""
        return self._layouts.of(event).upstream.get(event.subtask, set()) <= self.finished

    def operator_finished(self, event: events.OperatorFinished) -> None:
        """The job comes to its end."""
        self.ending = True

    def finish_received(self, event: events.FinishReceived) -> None:
        """The coordinator is notified that a subtask has finished."""
        self.finished.add(event.subtask)
        if not self.goes_on:
            self.slot_awaits = None

    def acknowledged(self, event: events.AckReceived) -> str:
        """An ack arrives; why it must not be counted, empty if it must."""
        if self.to_subsume or self.notices.aborts:
            self.went_on(event)
        checkpoint = self.checkpoints.get((self._job_of(event), event.checkpoint))
        objection = self._objection(checkpoint, event)
        if objection or checkpoint is None or checkpoint.triggered is None:
            return objection
        if event.outcome is events.AckOutcome.SUCCESS:
            acked = checkpoint.acked
            acked.add(event.subtask)
            if len(acked) == len(checkpoint.triggered.participants):
                checkpoint.full_ns = event.time_ns
        return ""

    def declined(self, event: events.DeclineReceived) -> None:
        """A decline arrives, which counts while acks are missing."""
        self.went_on(event)
        checkpoint = self.known(event, event.checkpoint)
        if checkpoint is None or checkpoint.ended is not None or checkpoint.full_ns is not None:
            return
        triggered = checkpoint.triggered
        if triggered is not None and self.attempts.present(triggered, event.subtask) == event.attempt:
            checkpoint.declined = checkpoint.declined or event

    def published(self, event: events.MetadataPublished | events.SavepointCompleted) -> None:
        """A checkpoint is durable."""
        self.of(event).durable = True
        self.durable.add(event.checkpoint)

    def completed(self, event: events.CheckpointCompleted) -> None:
        """A checkpoint completes: those before it that wait for acks are over."""
        self.went_on(event)
        self._end(event)
        for older in self.pending:
            known = self.known(event, older)
            if (self._job_of(event), older) in self.synchronous:
                continue
            if older < event.checkpoint and known is not None and known.full_ns is None:
                self.to_subsume[older] = event
        self.latest = max(self.latest, event.checkpoint)
        self.completions[event.node] = event.sequence

    def savepoint_completed(self, event: events.SavepointCompleted) -> None:
        """A savepoint that is no recovery point is complete: it subsumes nothing, and no restart restores it."""
        self.went_on(event)
        self._end(event)

    def aborted(self, event: events.CheckpointAborted) -> None:
        """A checkpoint is aborted: an attempt that runs on must be notified, and has a slot again."""
        checkpoint = self.of(event)
        self.to_subsume.pop(event.checkpoint, None)
        if not self._end(event) or self.failing:
            return
        if checkpoint.triggered is not None:
            self.notices.owe(event, checkpoint.triggered.participants)
        if checkpoint.full_ns is None and (self.goes_on or not self.finished):
            self.slot_awaits = event

    def _end(self, event: End) -> bool:
        """Whether this is the first end of the checkpoint."""
        checkpoint = self.of(event)
        self.pending.discard(event.checkpoint)
        if checkpoint.ended is not None:
            return False
        checkpoint.ended = event
        return True

    def went_on(self, event: events.Event) -> None:
        """The coordinator reacts to something: whatever it did before is done."""
        self.to_subsume.clear()
        self.notices.went_on(event)

    def _objection(self, checkpoint: Checkpoint | None, ack: events.AckReceived) -> str:
        """Why an ack must not be counted; empty if it must."""
        triggered = None if checkpoint is None else checkpoint.triggered
        if checkpoint is None or triggered is None:
            return "which was never triggered"
        subtask = ack.subtask
        if ack.attempt != self.attempts.present(triggered, subtask):
            return f"although it comes from attempt {ack.attempt}"
        if checkpoint.ended is not None or triggered.node != ack.node:
            return "which is over"
        if subtask in checkpoint.acked:
            return "the second time"
        return "" if subtask in triggered.participants else "although it takes no part"

    # --- attempts ---

    def submitted(self, event: events.JobSubmitted) -> None:
        """A new job knows no checkpoint but the one that it restores. Its coordinator may say it twice."""
        self.failed_over()
        self.to_subsume.clear()
        self.pending.clear()
        self.durable.clear()
        self.highest = None
        self.latest = NOTHING if event.checkpoint is None else event.checkpoint
        self.restored = event

    def failed_over(self) -> None:
        """The tasks of the attempt are gone."""
        self.failing = True
        self.slot_awaits = None

    def attempt_started(self, event: events.AttemptStarted) -> None:
        """The next attempt begins, with no checkpoint pending."""
        self.to_subsume.clear()
        self.failed_over()
        self.failing = False
        self.node = event.node
        self.pending.clear()
        self.attempts.started(event)
        self.finished.difference_update(self.attempts.members(event))
        self.latest = max(self.latest, restored_id(event))

    def may_restore(self, event: events.AttemptStarted) -> bool:
        """Whether an attempt restores the latest completed checkpoint. What was published without having completed,
        since the coordinator died in between, may be restored."""
        restored = restored_id(event)
        return restored == self.latest or (restored > self.latest and restored in self.durable)


def restored_id(event: events.AttemptStarted) -> int:
    """The checkpoint that an attempt restores, or NOTHING."""
    return NOTHING if event.restored_checkpoint is None else event.restored_checkpoint
