"""How a run stood when it ended: who lived, which attempts ran, and since when nothing was in the way."""

from __future__ import annotations

from holdfast.harness.model.events import (
    OVER,
    AttemptStarted,
    Event,
    FailureCounted,
    FaultHealed,
    FaultInjected,
    FinishReceived,
    JobStatus,
    JobSwitched,
    NodeDied,
    NodeStarted,
    StorageFailed,
    SubtaskFinished,
    TaskStarted,
    TaskStopped,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.topology import process_of
from holdfast.harness.oracles.shared.exemptions import exemptions
from holdfast.harness.oracles.shared.layout import Layout, Layouts, members
from holdfast.harness.oracles.shared.options import NS_PER_MS

PATIENCE_NS = 500 * NS_PER_MS
"""A step follows the one before sooner than this on the simulator, where nothing else keeps the machine busy."""
_DISTURBING: tuple[type[Event], ...] = (NodeDied, NodeStarted, FaultInjected, FaultHealed, StorageFailed)


class LastState:
    """Read off a history.

    Attributes:
        history: of the run.
        exempt: who may not be blamed in it.
        coordinator: its life at the end; empty: none lived, or more than one.
        everybody: whether every process that was ever there lived at the end.
        switched: the last status of the job that the last coordinator reported; None: none.
        attempts: by subtask of the last job, the newest attempt that it is in.
        failures: by subtask, the failure that it went down with, if that is newer than its attempt.
        started: by attempt and subtask, how it started.
        stopped: by attempt and subtask, how it ended.
    """

    def __init__(self, history: History) -> None:
        self.history = history
        self.exempt = exemptions(history)
        seen = history.of_kinds((NodeStarted, AttemptStarted, TaskStarted))
        newest = {process_of(event.node): event.node for event in seen}
        self.everybody = self.exempt.dead.isdisjoint(newest.values())
        coordinators = {event.node for kind in (AttemptStarted, JobSwitched) for event in history.of(kind)}
        coordinators |= {node for node in newest.values() if process_of(node) == "coordinator"}
        living = [node for node in coordinators if node not in self.exempt.dead]
        self.coordinator = living[0] if len(living) == 1 else ""
        switched = [event for event in history.of(JobSwitched) if event.node == self.coordinator]
        self.switched = switched[-1] if switched else None
        self._layouts = history.derived(Layouts)
        self.attempts: dict[str, AttemptStarted] = {}
        self.failures: dict[str, FailureCounted] = {}
        for event in history.of_kinds((AttemptStarted, FailureCounted)):
            if isinstance(event, AttemptStarted):
                self.attempts.update(dict.fromkeys(members(history, event), event))
                for subtask in members(history, event):
                    self.failures.pop(subtask, None)
            elif isinstance(event, FailureCounted):
                self.failures.update(dict.fromkeys(members(history, event), event))
        self.started = {(event.attempt, event.subtask): event for event in history.of(TaskStarted)}
        ends: list[TaskStopped | SubtaskFinished] = [*history.of(TaskStopped), *history.of(SubtaskFinished)]
        self.stopped = {(event.attempt, event.subtask): event for event in ends}
        self._finished = {(event.attempt, event.subtask) for event in history.of(FinishReceived)}
        times = [events[-1].time_ns for kind in _DISTURBING if (events := history.of(kind))]
        self._quiet_ns = max(history.end.healed_ns, *times, 0)

    @property
    def over(self) -> bool:
        """Whether the job has ended for good, or is about to."""
        return self.switched is not None and self.switched.status in OVER

    @property
    def runs(self) -> bool:
        """Whether every subtask is reported to run."""
        return self.switched is not None and self.switched.status is JobStatus.RUNNING

    @property
    def layout(self) -> Layout:
        events = self.history.of(AttemptStarted)
        return self._layouts.of(events[-1]) if events else self._layouts.at(0)

    def was_quiet(self, time_ns: int) -> bool:
        """Whether nothing was in the way any more at a time."""
        return time_ns >= self._quiet_ns

    @property
    def all_finished(self) -> bool:
        """Whether the coordinator that lives was notified that every subtask has ended."""
        return all(
            (attempt := self.present(subtask)) is not None and (attempt.attempt, subtask) in self._finished
            for subtask in self.layout.subtasks
        )

    def lives(self, node: str) -> bool:
        """Whether a node lived at the end."""
        return node not in self.exempt.dead

    def present(self, subtask: str) -> AttemptStarted | None:
        """The attempt that a subtask is in, by the word of the coordinator that lives; None: it is in none."""
        attempt = self.attempts.get(subtask)
        return attempt if attempt and attempt.node == self.coordinator and subtask not in self.failures else None

    def task(self, subtask: str) -> TaskStarted | None:
        """How a subtask started that runs in its present attempt; None: it does not run."""
        attempt = self.present(subtask)
        if attempt is None or (attempt.attempt, subtask) in self.stopped:
            return None
        started = self.started.get((attempt.attempt, subtask))
        return started if started is not None and self.lives(started.node) else None

    def is_long_ago(self, since_ns: int) -> bool:
        """Whether what could happen since then ought to have happened by the end, whatever was struck meanwhile."""
        return self.history.end.ended_ns - since_ns > PATIENCE_NS

    def is_due(self, since_ns: int) -> bool:
        """Whether what could happen since then ought to have happened by the end, which is read on one clock."""
        return self.history.end.ended_ns - max(since_ns, self._quiet_ns) > PATIENCE_NS
