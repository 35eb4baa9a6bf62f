"""What subtasks recorded for checkpoints, by what restores it. A job that starts empty draws the ids of an earlier one
again."""

from __future__ import annotations

from typing import Generic, TypeVar

from holdfast.harness.model.events import ChannelStateTaken, Event, SnapshotTaken
from holdfast.harness.model.history import History
from holdfast.harness.oracles.submissions import Submissions

Part = TypeVar("Part", SnapshotTaken, ChannelStateTaken)


class Recorded(Generic[Part]):
    """Events of one kind, by checkpoint and subtask, each job's own.

    Args:
        history: of the run.
        kind: of the events.
    """

    def __init__(self, history: History, kind: type[Part]) -> None:
        self._submissions = Submissions(history)
        self._by_checkpoint: dict[tuple[int, str], list[tuple[int, Part]]] = {}
        for event in history.of(kind):
            found = self._by_checkpoint.setdefault((event.checkpoint, event.subtask), [])
            found.append((self._submissions.of(event), event))

    def __bool__(self) -> bool:
        return bool(self._by_checkpoint)

    def of(self, restored: Event, checkpoint: int, subtask: str) -> Part | None:
        """The last one of the job of an event, or of one before it."""
        job = self._submissions.of(restored)
        known = self._by_checkpoint.get((checkpoint, subtask), ())
        return next((part for number, part in reversed(known) if number <= job), None)
