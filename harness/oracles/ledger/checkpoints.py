"""A checkpoint of a job: its trigger, its ends, and what the subtasks recorded for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.oracles.ledger.area import Area
from holdfast.harness.oracles.ledger.submissions import Submissions

CheckpointId = tuple[int, int]
"""Number of the job, checkpoint: the next job draws the same ones again."""


def _checkpoint_of(history: History, _kind: type[events.Event]) -> Callable[[Any], CheckpointId]:
    return history.derived(Submissions).checkpoint_of


by_checkpoint = Area(
    _checkpoint_of,
    {
        events.CheckpointTriggered: "first",
        events.SavepointTriggered: "first",
        events.SnapshotTaken: "all",
        events.ChannelStateTaken: "all",
        events.SplitsLeft: "all",
        events.MetadataPublished: "first",
        events.SavepointCompleted: "first",
        events.CheckpointCompleted: "first",
        events.CheckpointAborted: "things",
        events.CheckpointDropped: "first",
    },
)
