"""How far a system has come by its own progress: what schedules count.

What counts is what the system has persisted, as its checkpoints or acknowledgements show, never how many rows or
milliseconds our own programs take for it. A life of the system begins with an attempt, or with the start of a program,
and is over when a process of it dies.
"""

from __future__ import annotations

from holdfast.harness.model.events import (
    AttemptStarted,
    CheckpointCompleted,
    Event,
    InputAcknowledged,
    NodeDied,
    RowsVisible,
    StateFound,
)
from holdfast.harness.model.plan import Schedule
from holdfast.harness.model.plural import plural


class Milestones:
    """Counts of watched events."""

    __slots__ = ("_acknowledged", "_checkpoints", "_empty", "_restored", "_rows")

    def __init__(self) -> None:
        self._checkpoints = self._rows = self._acknowledged = self._restored = 0
        self._empty: set[int] = set()

    def observe(self, event: Event) -> None:
        """Take notice of a watched event."""
        if type(event) is CheckpointCompleted:
            self._checkpoints += 1
            self._acknowledged += 1
            if event.positions and not any(event.positions):
                self._empty.add(event.checkpoint)  # It completed before anything was read.
            else:
                self._empty.discard(event.checkpoint)  # The next job draws ids again.
        elif type(event) is InputAcknowledged:
            self._acknowledged += 1
        elif type(event) is RowsVisible:
            self._rows += event.records
        elif type(event) is AttemptStarted:
            self._begin(restored=event.restored_checkpoint is not None and event.restored_checkpoint not in self._empty)
        elif type(event) is StateFound:
            self._begin(restored=any(event.positions))
        elif type(event) is NodeDied:
            self._acknowledged = 0

    def hold(self, schedule: Schedule) -> bool:
        """Whether the progress conditions of a schedule hold now."""
        return (
            self._checkpoints >= schedule.after_checkpoint
            and self._rows >= schedule.after_rows
            and self._acknowledged >= schedule.after_acknowledged
            and self._restored >= schedule.after_restored
        )

    def lacking(self, schedule: Schedule) -> str:
        """The progress conditions of a schedule that do not hold, in words; empty if all do."""
        counts = (
            (self._checkpoints, schedule.after_checkpoint, ("checkpoint", "checkpoints"), "completed"),
            (self._rows, schedule.after_rows, ("row", "rows"), "visible"),
            (self._restored, schedule.after_restored, ("life", "lives"), "began from persisted state"),
            (self._acknowledged, schedule.after_acknowledged, ("acknowledgement", "acknowledgements"), "in this life"),
        )
        return " and ".join(
            f"{plural(wanted, *what)} ({have} {which})" for have, wanted, what, which in counts if have < wanted
        )

    def _begin(self, *, restored: bool) -> None:
        self._acknowledged = 0
        self._restored += restored
