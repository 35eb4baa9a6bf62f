"""What each subtask did for each checkpoint, as its own node recorded it: the facts behind its statistics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from holdfast.harness.model.events import AckSent, BarrierReceived, Event, SnapshotTaken, TriggerReceived

Key = tuple[int, str, int]
"""Attempt, subtask, checkpoint."""


class Part:
    """A subtask's part in one checkpoint.

    Attributes:
        first, last: the first and the last arrival of the trigger or of a barrier, up to the acknowledgement; behind
            the head of a chain no barrier arrives, and the snapshot is the beginning.
        held_bytes: the most that was held when one of them arrived.
        snapshot, acknowledged: once they happened.
    """

    __slots__ = ("acknowledged", "first", "held_bytes", "last", "snapshot")

    def __init__(self, first: Event) -> None:
        self.first = self.last = first
        self.held_bytes = 0
        self.snapshot: SnapshotTaken | None = None
        self.acknowledged: AckSent | None = None


class SubtaskTimes:
    """The parts of all subtasks; `handlers` fill it, in causal order."""

    def __init__(self) -> None:
        self.parts: dict[Key, Part] = {}
        self._triggered_parts: set[Key] = set()

    @property
    def handlers(self) -> Mapping[type[Event], Callable[[Any], None]]:
        """By kind of event, what takes it."""
        return {
            TriggerReceived: self._triggered,
            BarrierReceived: self._barrier_received,
            SnapshotTaken: self._snapshot_taken,
            AckSent: self._acknowledged,
        }

    def of(self, attempt: int, subtask: str, checkpoint: int) -> Part | None:
        """A part that was seen from its beginning to its acknowledgement."""
        part = self.parts.get((attempt, subtask, checkpoint))
        return part if part is not None and part.acknowledged is not None and part.snapshot is not None else None

    def _arrived(self, key: Key, event: Event, held_bytes: int) -> None:
        part = self.parts.get(key)
        if part is None:
            part = self.parts[key] = Part(event)
        if part.acknowledged is None:
            part.last = event
            part.held_bytes = max(part.held_bytes, held_bytes)

    def _triggered(self, event: TriggerReceived) -> None:
        key = event.attempt, event.subtask, event.checkpoint
        if key not in self._triggered_parts:  # A copy of a trigger begins and ends nothing
            self._triggered_parts.add(key)
            self._arrived(key, event, 0)

    def _barrier_received(self, event: BarrierReceived) -> None:
        subtask = event.channel.rpartition("->")[2]
        self._arrived((event.attempt, subtask, event.checkpoint), event, event.held_bytes)

    def _snapshot_taken(self, event: SnapshotTaken) -> None:
        key = event.attempt, event.subtask, event.checkpoint
        part = self.parts.get(key)
        if part is None:
            part = self.parts[key] = Part(event)
        if part.snapshot is None:
            part.snapshot = event
            if event.time_ns > part.last.time_ns:
                part.last = event

    def _acknowledged(self, event: AckSent) -> None:
        part = self.parts.get((event.attempt, event.subtask, event.checkpoint))
        if part is not None and part.acknowledged is None:
            part.acknowledged = event
