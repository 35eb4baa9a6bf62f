"""A checkpoint of a job: its trigger, its ends, and what the subtasks recorded for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

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
        events.CheckpointTriggered: "all",
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


class Span(NamedTuple):
    """A checkpoint that one life of a coordinator saw from its beginning to its end."""

    triggered: events.CheckpointTriggered
    completed: events.CheckpointCompleted


def triggered_by(history: History, node: str, checkpoint: CheckpointId) -> events.CheckpointTriggered | None:
    """How one life of a coordinator began a checkpoint. An id that another life drew again is another checkpoint."""
    triggered = by_checkpoint(history, events.CheckpointTriggered).all.get(checkpoint, ())
    return next((event for event in triggered if event.node == node), None)


def spans(history: History) -> list[Span]:
    """Those that completed, in the order in which they began."""
    checkpoint_of = history.derived(Submissions).checkpoint_of
    completed: dict[tuple[str, CheckpointId], events.CheckpointCompleted] = {}
    for event in history.of(events.CheckpointCompleted):
        completed.setdefault((event.node, checkpoint_of(event)), event)
    found = ((triggered_by(history, *key), event) for key, event in completed.items())
    paired = [Span(triggered, event) for triggered, event in found if triggered is not None]
    return sorted(paired, key=lambda span: history.position(span.triggered))
