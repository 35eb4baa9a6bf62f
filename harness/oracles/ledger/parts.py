"""The part of a subtask in a checkpoint: what it received, did and sent for it in one attempt."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.oracles.ledger.area import Area

PartId = tuple[int, str, int]
"""Attempt, subtask, checkpoint."""
part_of: Callable[[Any], PartId] = attrgetter("attempt", "subtask", "checkpoint")
"""The part of a subtask that an event is of."""


def _part_of(_history: History, kind: type[events.Event]) -> Callable[[Any], PartId]:
    """A barrier is of the part of who records it."""
    if kind not in (events.BarrierSent, events.BarrierReceived):
        return part_of
    end = 0 if kind is events.BarrierSent else 2
    return lambda event: (event.attempt, event.channel.partition("->")[end], event.checkpoint)


by_part = Area(
    _part_of,
    {
        events.TriggerReceived: "first",
        events.BarrierReceived: "all",
        events.BarrierSent: "all",
        events.SnapshotTaken: "first",
        events.ChannelStateTaken: "first",
        events.SnapshotReleased: "first",
        events.AckSent: "first",
        events.AckReceived: "first",
        events.NotificationReceived: "all",
    },
)
