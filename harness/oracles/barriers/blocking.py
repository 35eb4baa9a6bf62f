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
        done: the highest checkpoint that it took or gave up.
    """

    __slots__ = ("blocked", "done")

    def __init__(self) -> None:
        self.blocked: dict[str, int] = {}
        self.done = -1


class Blocking:
    """One pass over a history: a subtask ends an alignment before it does anything else."""

    def __init__(self, history: History, findings: Findings) -> None:
        self._findings = findings
        self._checked = findings.checked
        self._subtasks: defaultdict[tuple[int, str], _Subtask] = defaultdict(_Subtask)
        # By attempt and subtask, what ended an alignment whose channels are not all unblocked yet.
        self._ending: dict[tuple[int, str], tuple[events.Event, int]] = {}
        # By attempt and subtask.
        self._gone: defaultdict[int, dict[str, events.SubtaskFinished | events.TaskStopped]] = defaultdict(dict)
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
                events.SourceEmitted: self._emitted,
            },
        )

    def _settle(self, key: tuple[int, str]) -> None:
        """The next thing happens: what had to be unblocked is."""
        ending = self._ending.pop(key, None)
        if ending is None:
            return
        event, checkpoint = ending
        self._checked["alignment-outlives"] += 1
        left = [channel for channel, of in self._subtasks[key].blocked.items() if of <= checkpoint]
        if left:
            message = f"{', '.join(left)} stays blocked for a checkpoint up to {checkpoint}, which was given up"
            self._findings.violated("alignment-outlives", message, event)

    def _lives(self, event: events.Event, subtask: str) -> None:
        """Who has stopped in an attempt does nothing more in it."""
        if not self._gone:  # As mostly: there is nothing to decide.
            return
        self._checked["acts-after-stop"] += 1
        gone = self._gone.get(event.attempt)
        if gone and subtask in gone:
            self._findings.violated("acts-after-stop", f"{subtask} continues after its end", gone[subtask], event)

    def _finished(self, event: events.SubtaskFinished) -> None:
        self._gone[event.attempt][event.subtask] = event

    def _barrier(self, event: events.BarrierReceived | events.CancellationReceived) -> None:
        key = event.attempt, event.channel.partition("->")[2]
        self._lives(event, key[1])
        subtask = self._subtasks[key]
        if self._ending:
            self._settle(key)
        checkpoint = event.checkpoint
        if checkpoint <= subtask.done:
            self._checked["stale-acted"] += 1
            return
        blocked = subtask.blocked
        marker = isinstance(event, events.CancellationReceived)
        ended = checkpoint if marker else checkpoint - 1
        if blocked and min(blocked.values()) <= ended:
            self._ending[key] = event, ended
        if marker and not (blocked and max(blocked.values()) > ended):
            subtask.done = max(subtask.done, ended)

    def _triggered(self, event: events.TriggerReceived) -> None:
        self._lives(event, event.subtask)
        if event.checkpoint <= self._subtasks[event.attempt, event.subtask].done:
            self._checked["stale-acted"] += 1

    def _notified(self, event: events.NotificationReceived) -> None:
        self._lives(event, event.subtask)
        if event.completed and not self._ending:
            return
        key = event.attempt, event.subtask
        self._settle(key)
        if event.completed:
            return
        subtask = self._subtasks[key]
        if subtask.blocked and min(subtask.blocked.values()) <= event.checkpoint:
            self._ending[key] = event, event.checkpoint
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
        if event.checkpoint > subtask.done:
            subtask.done = event.checkpoint
        else:
            message = f"{event.subtask} takes snapshot {event.checkpoint}, which it had done with"
            self._findings.violated("stale-acted", message, event)

    def _emitted(self, event: events.SourceEmitted) -> None:
        self._lives(event, event.subtask)

    def _processed(self, event: events.BatchProcessed) -> None:
        if self._gone or self._ending:
            receiver = event.channel.partition("->")[2]
            self._lives(event, receiver)
            self._settle((event.attempt, receiver))

    def _stopped(self, event: events.TaskStopped) -> None:
        self._gone[event.attempt][event.subtask] = event
        self._subtasks.pop((event.attempt, event.subtask), None)
        self._ending.pop((event.attempt, event.subtask), None)
