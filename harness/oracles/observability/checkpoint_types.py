"""Of which type a checkpoint was, from what its subtasks took along (RULES OBS-01, UNA-04)."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.harness.model.events import ChannelStateTaken, CheckpointType, SnapshotTaken
from holdfast.harness.model.history import History
from holdfast.harness.oracles.shared.options import alignment_timeout_ms

Key = tuple[int, str, int]
"""Attempt, subtask, checkpoint."""


class CheckpointTypes:
    """The subtasks' parts that overtook: with an unaligned snapshot, or later in the buffers of their outputs."""

    def __init__(self, history: History) -> None:
        self._overtook: set[Key] = {
            (event.attempt, event.subtask, event.checkpoint) for event in history.of(SnapshotTaken) if event.unaligned
        }
        self._overtook |= {
            (event.attempt, event.subtask, event.checkpoint)
            for event in history.of(ChannelStateTaken)
            if event.channels
        }
        switches = alignment_timeout_ms(history.plan) > 0
        self._unaligned = CheckpointType.SWITCHED_CHECKPOINT if switches else CheckpointType.UNALIGNED_CHECKPOINT

    def of(self, parts: Iterable[Key]) -> CheckpointType:
        """The type of a checkpoint with these parts: one that overtook makes it unaligned."""
        return CheckpointType.CHECKPOINT if self._overtook.isdisjoint(parts) else self._unaligned
