"""When nothing excuses a file that is in the storage at the end, though nobody needs it any more."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.harness.model.history import History

SETTLED = 2
"""So many checkpoints complete behind the last use of a file until it must be gone: one may have been pending then, and
its completion begins the deletion."""


def undisturbed_listing(history: History) -> events.StorageListed | None:
    """What was in the storage at the end; None: nobody looked, or a deletion failed or took long."""
    listings = history.of(events.StorageListed)
    hindered: list[events.StorageFailed | events.StorageSlowed] = [
        *history.of(events.StorageFailed),
        *history.of(events.StorageSlowed),
    ]
    disturbed = any("delete" in event.operation for event in hindered)
    return listings[-1] if listings and not disturbed else None


def settled(history: History, since: events.Event) -> bool:
    """Whether the same coordinator has completed enough checkpoints behind an event."""
    position = history.position(since)
    completed = history.of(events.CheckpointCompleted)
    later = [each for each in completed if each.node == since.node and history.position(each) > position]
    return len(later) >= SETTLED
