"""What CUT decides on the end of alignments that are given up, and on what comes too late (RULES BAR-10)."""

from __future__ import annotations

from collections import defaultdict

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.oracles.findings import Findings, replay

CLAUSES = {
    "alignment-outlives": "a channel stays blocked after a newer barrier, a marker or an abort ended its alignment",
    "acts-after-stop": "a subtask that has finished, stopped or failed continues in the same attempt",
    "stale-acted": "a subtask blocks a channel, or takes a snapshot, for a checkpoint that it had done with",
}


class _Subtask:
    """One subtask in one attempt.

    Attributes:
        blocked: by channel, the checkpoint that it is blocked for.
        ending: what ended an alignment whose channels are not all unblocked yet.
        done: the highest checkpoint that it took or gave up.
        stale: whether something of one that was done with has come.
    """

    __slots__ = ("blocked", "done", "ending", "stale")

    def __init__(self) -> None:
        self.blocked: dict[str, int] = {}
        self.ending: tuple[events.Event, int] | None = None
        self.done = -1
        self.stale = False


class Blocking:
    """One pass over a history: a subtask ends an alignment before it does anything else."""

    def __init__(self, history: History, findings: Findings) -> None:
        self._findings = findings
        self._subtasks: defaultdict[tuple[int, str], _Subtask] = defaultdict(_Subtask)
        self._gone: dict[tuple[int, str], events.SubtaskFinished | events.TaskStopped] = {}
        replay(
            history,
            {
                events.ChannelBlocked: self._blocked,
                events.ChannelUnblocked: self._unblocked,
                events.BarrierReceived: self._barrier,
                events.CancellationReceived: self._barrier,
                events.NotificationReceived: self._notified,
                events.SnapshotTaken: self._snapshot,
                events.BatchProcessed: self._processed,
                events.TaskStopped: self._stopped,
                events.SubtaskFinished: self._finished,
                events.TriggerReceived: self._triggered,
                events.SourceEmitted: lambda event: self._lives(event, event.subtask),
            },
        )

    def _settle(self, subtask: _Subtask) -> None:
        """The next thing happens: what had to be unblocked is."""
        if subtask.ending is None:
            return
        event, checkpoint = subtask.ending
        subtask.ending = None
        self._findings.check("alignment-outlives")
        left = [channel for channel, of in subtask.blocked.items() if of <= checkpoint]
        if left:
            message = f"{', '.join(left)} stays blocked for a checkpoint up to {checkpoint}, which was given up"
            self._findings.violated("alignment-outlives", message, event)

    def _lives(self, event: events.Event, subtask: str) -> None:
        """Who has stopped in an attempt does nothing more in it."""
        if not self._gone:
            return
        self._findings.check("acts-after-stop")
        stopped = self._gone.get((event.attempt, subtask))
        if stopped is not None:
            self._findings.violated("acts-after-stop", f"{subtask} continues after its end", stopped, event)

    def _finished(self, event: events.SubtaskFinished) -> None:
        self._gone[event.attempt, event.subtask] = event

    def _barrier(self, event: events.BarrierReceived | events.CancellationReceived) -> None:
        receiver = event.channel.partition("->")[2]
        self._lives(event, receiver)
        subtask = self._subtasks[event.attempt, receiver]
        self._settle(subtask)
        marker = isinstance(event, events.CancellationReceived)
        if event.checkpoint <= subtask.done:
            subtask.stale = True
            self._findings.check("stale-acted")
            return
        ended = event.checkpoint if marker else event.checkpoint - 1
        if any(of <= ended for of in subtask.blocked.values()):
            subtask.ending = event, ended
        if marker and not any(of > ended for of in subtask.blocked.values()):
            subtask.done = max(subtask.done, ended)

    def _triggered(self, event: events.TriggerReceived) -> None:
        self._lives(event, event.subtask)
        if event.checkpoint <= self._subtasks[event.attempt, event.subtask].done:
            self._findings.check("stale-acted")

    def _notified(self, event: events.NotificationReceived) -> None:
        self._lives(event, event.subtask)
        subtask = self._subtasks[event.attempt, event.subtask]
        self._settle(subtask)
        if event.completed:
            return
        if any(of <= event.checkpoint for of in subtask.blocked.values()):
            subtask.ending = event, event.checkpoint
        subtask.done = max(subtask.done, event.checkpoint)

    def _blocked(self, event: events.ChannelBlocked) -> None:
        subtask = self._subtasks[event.attempt, event.channel.partition("->")[2]]
        if event.checkpoint <= subtask.done:
            message = f"{event.channel} is blocked for checkpoint {event.checkpoint}, which its receiver had done with"
            self._findings.violated("stale-acted", message, event)
        subtask.blocked[event.channel] = event.checkpoint

    def _unblocked(self, event: events.ChannelUnblocked) -> None:
        self._subtasks[event.attempt, event.channel.partition("->")[2]].blocked.pop(event.channel, None)

    def _snapshot(self, event: events.SnapshotTaken) -> None:
        self._lives(event, event.subtask)
        subtask = self._subtasks[event.attempt, event.subtask]
        if event.checkpoint <= subtask.done:
            message = f"{event.subtask} takes snapshot {event.checkpoint}, which it had done with"
            self._findings.violated("stale-acted", message, event)
        subtask.done = max(subtask.done, event.checkpoint)

    def _processed(self, event: events.BatchProcessed) -> None:
        receiver = event.channel.partition("->")[2]
        self._lives(event, receiver)
        subtask = self._subtasks.get((event.attempt, receiver))
        if subtask is not None and subtask.ending is not None:
            self._settle(subtask)

    def _stopped(self, event: events.TaskStopped) -> None:
        self._gone[event.attempt, event.subtask] = event
        self._subtasks.pop((event.attempt, event.subtask), None)
