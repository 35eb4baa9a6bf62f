"""What subtasks recorded for checkpoints, by what restores it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar

from holdfast.harness.model.events import ChannelStateTaken, Event, SnapshotTaken
from holdfast.harness.model.history import History
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
        self._by_checkpoint: dict[tuple[int, int], dict[str, Part]] = {}
        for event in history.of(kind):
            checkpoint = self._origins.job_of(event), event.checkpoint
            self._by_checkpoint.setdefault(checkpoint, {})[event.subtask] = event

    def __bool__(self) -> bool:
        return bool(self._by_checkpoint)

    def all_of(self, restored: Event, checkpoint: int) -> Mapping[str, Part]:
        """By subtask, what the checkpoint holds that the job of an event restores, or has audited."""
        return self._by_checkpoint.get((self._origins.of(restored, checkpoint), checkpoint), {})

    def of(self, restored: Event, checkpoint: int, subtask: str) -> Part | None:
        """What it holds of one subtask."""
        return self.all_of(restored, checkpoint).get(subtask)
