"""Orphaned files: files of snapshots that are in the storage at the end and that no checkpoint refers to."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.oracles.ledger.checkpoints import by_checkpoint
from holdfast.harness.oracles.ledger.parts import by_part, part_of
from holdfast.harness.oracles.ledger.submissions import Submissions
from holdfast.harness.oracles.shared.exemptions import Exemptions

SETTLED = 2
"""So many checkpoints must complete after a file was written: its own may be pending until the first, and what is to be
deleted then is gone by the second."""


def leaked_files(history: History, exempt: Exemptions) -> list[str] | None:
    """State files that no checkpoint ever named; None if that is unknown."""
    listings = history.of(events.StorageListed)
    completed = history.of(events.CheckpointCompleted)
    held_up: list[events.StorageFailed | events.StorageSlowed] = [
        *history.of(events.StorageFailed),
        *history.of(events.StorageSlowed),
    ]
    if not listings or len(completed) <= SETTLED or any(event.operation == "delete" for event in held_up):
        return None
    settled = history.position(completed[-SETTLED])
    aborted = history.of(events.CheckpointAborted)
    triggered = history.of(events.CheckpointTriggered)
    checkpoint_of = history.derived(Submissions).checkpoint_of
    ended = set(by_checkpoint(history, events.CheckpointCompleted).things)
    ended.update(by_checkpoint(history, events.CheckpointAborted).things)
    ended.update(by_checkpoint(history, events.SavepointCompleted).things)
    ended |= {checkpoint_of(event) for event in triggered if _given_up(history, event, settled)}
    if any(history.position(event) > settled for event in aborted) or any(
        history.position(event) < settled and checkpoint_of(event) not in ended for event in triggered
    ):
        return None  # What was given up just now may be on its way out
    named = {file.path for event in history.of(events.MetadataPublished) for file in event.files}
    named |= {file.path for event in history.of(events.SavepointCompleted) for file in event.files}
    named |= _unheard(history)
    folders = _left_folders(history)
    nodes = {event.node for event in history.of(events.SnapshotTaken)}
    written: dict[str, events.Event] = {
        event.file.path: event for event in history.of(events.FileWritten) if event.node in nodes
    }
    written |= {
        event.path: event for event in history.of(events.StorageFailed) if event.subtask and event.path not in written
    }
    return [
        file.path
        for file in listings[-1].files
        if file.path not in named
        and not exempt.ever_held(file.path)
        and not file.path.startswith(folders)
        and file.path in written
        and history.position(written[file.path]) < settled
    ]


def _given_up(history: History, triggered: events.CheckpointTriggered, settled: int) -> bool:
    """Whether another coordinator took over the job by then: what it did not find complete never will be."""
    return any(
        claim.node != triggered.node
        and claim.first_attempt <= triggered.attempt
        and history.position(triggered) < history.position(claim) < settled
        for claim in history.of(events.CoordinatorClaimed)
    )


def _left_folders(history: History) -> tuple[str, ...]:
    """Folders of savepoints whose end no coordinator reported: its successor does not look into what is the user's. An
    end in front of the trigger is that of another one with the same id, which was never durable."""
    triggered = by_checkpoint(history, events.SavepointTriggered).first
    checkpoint_of = history.derived(Submissions).checkpoint_of
    ended = {
        savepoint
        for end in history.of_kinds((events.CheckpointAborted, events.SavepointCompleted))
        if (savepoint := checkpoint_of(end)) in triggered
        and history.position(triggered[savepoint]) < history.position(end)
    }
    return tuple(triggered[savepoint].folder for savepoint in triggered.keys() - ended)


def _unheard(history: History) -> set[str]:
    """Files of acks that never arrived, because the coordinator had given up the connection: it does not know of them,
    and who sent them must not delete what may belong to a completed checkpoint."""
    heard = by_part(history, events.AckReceived).things
    return {file.path for ack in history.of(events.AckSent) if part_of(ack) not in heard for file in ack.files}
