"""What subtasks recorded for checkpoints, by what restores it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Generic, TypeVar

from holdfast.harness.model.events import ChannelStateTaken, Event, SnapshotTaken
from holdfast.harness.model.history import History
from holdfast.harness.oracles.ledger.checkpoints import CheckpointId, by_checkpoint
from holdfast.harness.oracles.shared.origins import Origins

Part = TypeVar("Part", SnapshotTaken, ChannelStateTaken)


class Recorded(Generic[Part]):
    """Events of one kind, by checkpoint and subtask, each job's own.

    Args:
        history: of the run.
        kind: of the events.
    """

    def __init__(self, history: History, kind: type[Part]) -> None:
        self._origins = Origins(history)
        self._taken: Mapping[CheckpointId, Sequence[Part]] = by_checkpoint(history, kind).all
        self._parts: dict[CheckpointId, dict[str, Part]] = {}

    def __bool__(self) -> bool:
        return bool(self._taken)

    def all_of(self, restored: Event, checkpoint: int) -> Mapping[str, Part]:
        """By subtask, what the checkpoint holds that the job of an event restores, or has audited."""
        key = self._origins.of(restored, checkpoint), checkpoint
        parts = self._parts.get(key)
        if parts is None:
            parts = self._parts[key] = {}
            for taken in self._taken.get(key, ()):
                parts.setdefault(taken.subtask, taken)
        return parts

    def of(self, restored: Event, checkpoint: int, subtask: str) -> Part | None:
        """What it holds of one subtask."""
        return self.all_of(restored, checkpoint).get(subtask)
