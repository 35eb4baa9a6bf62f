"""What a coordinator had stated about the checkpoint storage when the harness looked into it.

Only what the coordinator of the completed checkpoint itself recorded counts: its order and the look are known against
each other. Where that coordinator reports nothing any more, or the harness did not look, nothing is compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.harness.model.events import (
    CheckpointAborted,
    CheckpointCompleted,
    CheckpointDropped,
    Event,
    FileDeleted,
    MetadataPublished,
    StorageFailed,
    StorageListed,
    StorageObserved,
    StorageSlowed,
)
from holdfast.harness.model.history import History


class Look(NamedTuple):
    """One look.

    Attributes:
        observed: what was there.
        completed: the completion that it followed.
        retained: by id, the checkpoints that were published before the look began, and neither dropped nor given up
            when it was over.
        deleted: deletions that were reported before the look began, and behind the look before it.
    """

    observed: StorageObserved
    completed: CheckpointCompleted
    retained: dict[int, MetadataPublished]
    deleted: list[FileDeleted]


def storage_looks(history: History) -> list[Look]:
    """Every look at which the coordinator of its checkpoint is known."""
    return history.derived(_looks)


def _looks(history: History) -> list[Look]:
    looks: dict[str, list[StorageObserved]] = {}
    for observed in history.of(StorageObserved):
        looks.setdefault(observed.coordinator, []).append(observed)
    if not looks:
        return []
    stated: dict[str, list[Event]] = {}
    kinds = (MetadataPublished, CheckpointCompleted, CheckpointDropped, CheckpointAborted, FileDeleted)
    for event in history.of_kinds(kinds):
        if event.node in looks:
            stated.setdefault(event.node, []).append(event)
    return [look for node, observations in looks.items() for look in _looks_of(stated.get(node, []), observations)]


def _looks_of(stated: list[Event], observations: list[StorageObserved]) -> Iterator[Look]:
    """The looks during one life of a coordinator."""
    known: dict[int, MetadataPublished] = {}
    completions: dict[int, CheckpointCompleted] = {}
    deleted: list[FileDeleted] = []
    remaining = iter(sorted(stated, key=lambda event: event.sequence))
    event = next(remaining, None)
    for observed in sorted(observations, key=lambda each: each.recorded):
        while event is not None and event.sequence < observed.recorded:
            if isinstance(event, MetadataPublished):
                known[event.checkpoint] = event
            elif isinstance(event, CheckpointCompleted):
                completions[event.checkpoint] = event
            elif isinstance(event, FileDeleted):
                deleted.append(event)
            elif isinstance(event, CheckpointDropped | CheckpointAborted):
                known.pop(event.checkpoint, None)
            event = next(remaining, None)
        completed = completions.get(observed.checkpoint)
        if completed is None:
            continue
        before = [each for each in deleted if each.sequence < completed.sequence]
        deleted = [each for each in deleted if each.sequence > completed.sequence]
        retained = {each: metadata for each, metadata in known.items() if metadata.sequence < completed.sequence}
        yield Look(observed, completed, retained, before)


SETTLED = 2
"""So many checkpoints complete behind the last use of a file until it must be gone: one may have been pending then, and
its completion begins the deletion."""


def undisturbed_listing(history: History) -> StorageListed | None:
    """What was in the storage at the end; None: it was not listed, or a deletion failed or took long."""
    listings = history.of(StorageListed)
    hindered: list[StorageFailed | StorageSlowed] = [
        *history.of(StorageFailed),
        *history.of(StorageSlowed),
    ]
    disturbed = any("delete" in event.operation for event in hindered)
    return listings[-1] if listings and not disturbed else None


def settled(history: History, since: Event) -> bool:
    """Whether the same coordinator has completed enough checkpoints behind an event."""
    position = history.position(since)
    completed = history.of(CheckpointCompleted)
    later = [each for each in completed if each.node == since.node and history.position(each) > position]
    return len(later) >= SETTLED
