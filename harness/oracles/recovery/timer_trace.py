"""Which timers wait, and which have fired, as subtasks report it: from attempt to attempt, through what each restores.

Rules of this file:
- A timer is restored with the state of the checkpoint in whose cut it waited, and as often as that is restored.
- After a restore at another parallelism the owner of a timer is unknown: it waits in a pool of all subtasks of the
  operator.
- A timer that was taken or deleted may be set again for the same key and time, and then waits as any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeVar

from holdfast.harness.model.events import Event, SnapshotTaken, TaskStarted, TimersFired, TimersSet
from holdfast.harness.model.history import History
from holdfast.harness.oracles.shared.layout import Layouts
from holdfast.harness.oracles.shared.origins import Origins

Timer = tuple[str, int]
"""Whose it is, and its time in milliseconds."""
Part = TypeVar("Part")
Place = tuple[int, str]
"""Attempt and subtask."""


class Recorded(NamedTuple):
    """What a subtask had at a cut: timers of its own, those that it has taken or deleted, and a pool that some of these
    were in."""

    waiting: frozenset[Timer]
    taken: set[Timer]
    pool: frozenset[Timer]


class SubtaskTimers:
    """The timers of one subtask in one attempt.

    Attributes:
        started: how it began.
        waiting: its own that were set or restored, and were not taken.
        pool: those that some subtask of its operator has restored.
        deleted: those that it gave up before their time.
        taken: all that it took, with the first event of each.
        unknown, again: what it took that was never set, or was taken before and not set since, each with the event.
        latest: the event that took timers by the latest time.
    """

    def __init__(self, started: TaskStarted, waiting: Iterable[Timer] = (), pool: Iterable[Timer] = ()) -> None:
        self.started = started
        self.waiting = set(waiting)
        self.pool = frozenset(pool)
        self.deleted: set[Timer] = set()
        self.taken: dict[Timer, TimersFired] = {}
        self.unknown: list[tuple[Timer, TimersFired]] = []
        self.again: list[tuple[Timer, TimersFired]] = []
        self.latest: TimersFired | None = None

    def take(self, event: TimersFired) -> None:
        """Timers were taken."""
        for timer in event.timers:
            if timer in self.waiting:
                pass
            elif timer in self.taken:
                self.again.append((timer, event))
            elif timer not in self.pool:
                self.unknown.append((timer, event))
            self.taken.setdefault(timer, event)
            self.waiting.discard(timer)
        if not event.final and (self.latest is None or event.time_ms > self.latest.time_ms):
            self.latest = event


class TimerTrace:
    """Read off a history.

    Attributes:
        subtasks: by attempt and subtask, its timers.
        fired: all events that took some.
    """

    def __init__(self, history: History) -> None:
        self.subtasks: dict[Place, SubtaskTimers] = {}
        self.fired: list[TimersFired] = []
        self._origins = Origins(history)
        self._layouts = history.derived(Layouts)
        self._recorded: dict[tuple[int, int], dict[str, Recorded]] = {}
        events = history.of_kinds((TaskStarted, TimersSet, TimersFired, SnapshotTaken))
        # What an attempt restores was taken in one before, wherever it ran.
        for event in sorted(events, key=_attempt):
            if isinstance(event, TaskStarted):
                self.subtasks[event.attempt, event.subtask] = self._restored(event)
            elif isinstance(event, TimersSet | TimersFired | SnapshotTaken):
                self._note(event)

    def _note(self, event: TimersSet | TimersFired | SnapshotTaken) -> None:
        subtask = self.subtasks.get((event.attempt, event.subtask))
        if subtask is None:
            return
        if isinstance(event, TimersSet):
            subtask.waiting.update(event.timers)
            subtask.waiting.difference_update(event.deleted)
            subtask.deleted.update(event.deleted)
        elif isinstance(event, TimersFired):
            self.fired.append(event)
            subtask.take(event)
        else:
            checkpoint = self._origins.job_of(event), event.checkpoint
            recorded = Recorded(frozenset(subtask.waiting), subtask.deleted.union(subtask.taken), subtask.pool)
            self._recorded.setdefault(checkpoint, {})[event.subtask] = recorded

    def _restored(self, started: TaskStarted) -> SubtaskTimers:
        if started.restored_checkpoint is None:
            return SubtaskTimers(started)
        checkpoint = self._origins.of(started, started.restored_checkpoint), started.restored_checkpoint
        parts = _of_operator(self._recorded.get(checkpoint, {}), started.subtask)
        width = _of_operator(dict.fromkeys(self._layouts.of(started).subtasks), started.subtask)
        left = {timer for part in parts.values() for timer in part.pool}
        left.difference_update(timer for part in parts.values() for timer in part.taken)
        own = parts.get(started.subtask)
        if own is not None and parts.keys() == width.keys():
            return SubtaskTimers(started, own.waiting, left)
        return SubtaskTimers(started, (), left.union(*(part.waiting for part in parts.values())))


def _attempt(event: Event) -> int:
    return event.attempt


def _of_operator(parts: Mapping[str, Part], subtask: str) -> dict[str, Part]:
    operator = subtask.partition("[")[0]
    return {name: part for name, part in parts.items() if name.partition("[")[0] == operator}
