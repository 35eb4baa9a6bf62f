"""Coordinators that were superseded while they lived.

A coordinator that takes over claims an epoch. What one before it says behind that claim tells of no job any more, only
of itself: who follows the coordinator of a job must not follow it. What it does to the storage all can see.
"""

from __future__ import annotations

from holdfast.harness.model.events import CoordinatorClaimed, Event, FileDeleted, FileWritten, NodeDied
from holdfast.harness.model.history import History

_SEEN_BY_ALL = (FileWritten, FileDeleted)


def superseded(history: History) -> dict[str, CoordinatorClaimed]:
    """The coordinators that lost their job while they lived, each with the first claim of a successor."""
    dead = {died.dead_node: died for died in history.of(NodeDied)}
    ended: dict[str, CoordinatorClaimed] = {}
    claims: list[CoordinatorClaimed] = []
    for claim in history.of(CoordinatorClaimed):
        for former in claims:
            died = dead.get(former.node)
            lives = died is None or history.position(died) > history.position(claim)
            if former.node != claim.node and lives:
                ended.setdefault(former.node, claim)
        ended.pop(claim.node, None)
        claims.append(claim)
    return ended


def sayings_of_superseded(history: History) -> list[tuple[CoordinatorClaimed, Event]]:
    """What coordinators said after a successor of theirs had claimed its epoch, each with the first such claim."""
    ended = superseded(history)
    if not ended:
        return []
    behind = {node: history.position(claim) for node, claim in ended.items()}
    return [
        (ended[event.node], event)
        for position, event in enumerate(history.events)
        if position > behind.get(event.node, position)
    ]


def of_the_job(history: History) -> History:
    """The history without what superseded coordinators said."""
    said = {id(event) for _, event in sayings_of_superseded(history) if not isinstance(event, _SEEN_BY_ALL)}
    if not said:
        return history
    events = [event for event in history.events if id(event) not in said]
    return History(history.plan, history.claims, history.inputs, history.output, events, history.end)
