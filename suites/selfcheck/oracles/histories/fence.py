"""Histories for FENCE: a coordinator stands still, another takes over, and the first comes back."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, story
from holdfast.suites.selfcheck.oracles.legal import SUBTASKS

bad, near = exhibits("FENCE")
FORMER, SUCCESSOR = "coordinator.0", "coordinator.1"
METADATA = events.FileReference("chk-1/_metadata", 10, 1)


def superseded(*lines: Line, found: tuple[int, ...] = (), learns: bool = True) -> History:
    """Both coordinators live; the successor found these checkpoints; then the former says the lines."""
    said = [
        at(SUCCESSOR, events.MetadataPublished(checkpoint=checkpoint, path="", files=(), states=len(SUBTASKS)))
        for checkpoint in found
    ]
    learned = [at(FORMER, events.CoordinatorSuperseded(epoch=1))] if learns else []
    first, second = events.CoordinatorClaimed(epoch=1), events.CoordinatorClaimed(epoch=2)
    pending = events.CheckpointTriggered(checkpoint=1, participants=SUBTASKS)
    until = (at(FORMER, first), events.AttemptStarted(), pending, at(SUCCESSOR, second))
    return story(*until, *said, *lines, *learned, options={}, claimed=frozenset())


def followed(*claims: events.CoordinatorClaimed) -> History:
    """Each is made by the next life of the coordinator."""
    died = [events.NodeDied(dead_node="coordinator", cause="kill") for _ in claims]
    return story(*(line for pair in zip(claims, died, strict=True) for line in pair), claimed=frozenset())


@bad("epoch-not-higher")
def claims_what_is_claimed() -> History:
    return followed(events.CoordinatorClaimed(epoch=1), events.CoordinatorClaimed(epoch=1))


@near("epoch-not-higher")
def claims_the_next() -> History:
    return followed(events.CoordinatorClaimed(epoch=1), events.CoordinatorClaimed(epoch=2))


@near("epoch-not-higher")
def another_job_begins_anew() -> History:
    another = events.CoordinatorClaimed(epoch=1, first_attempt=1_000_000)
    return followed(events.CoordinatorClaimed(epoch=1), events.CoordinatorClaimed(epoch=2), another)


@bad("superseded-acted")
def superseded_publishes() -> History:
    return superseded(at(FORMER, events.FileWritten(file=METADATA)), learns=False)


@bad("superseded-acted")
def superseded_triggers() -> History:
    heard = events.TriggerReceived(checkpoint=2, subtask="source[0]")
    return superseded(
        at(FORMER, events.CheckpointTriggered(checkpoint=2, participants=SUBTASKS)), at("worker-0.0", heard)
    )


@near("superseded-acted")
def nobody_hears_what_superseded_triggers() -> History:
    return superseded(at(FORMER, events.CheckpointTriggered(checkpoint=2, participants=SUBTASKS)))


@near("superseded-acted")
def superseded_is_refused() -> History:
    return superseded()


@bad("superseded-completed")
def superseded_completes() -> History:
    return superseded(at(FORMER, events.CheckpointCompleted(checkpoint=1)))


@near("superseded-completed")
def superseded_learns_what_its_successor_found() -> History:
    return superseded(at(FORMER, events.CheckpointCompleted(checkpoint=1)), found=(1,))


def deleted(*lines: Line) -> History:
    """The successor found checkpoint 1 and does this; then the former deletes its metadata."""
    found = events.MetadataPublished(checkpoint=1, path=METADATA.path, files=(METADATA,), states=len(SUBTASKS))
    return superseded(
        at(SUCCESSOR, found), *lines, at(FORMER, events.FileDeleted(path=METADATA.path)), found=(), learns=True
    )


@bad("superseded-deleted")
def superseded_deletes_what_was_found() -> History:
    return deleted()


@near("superseded-deleted")
def superseded_deletes_what_its_successor_dropped() -> History:
    return deleted(at(SUCCESSOR, events.CheckpointDropped(checkpoint=1)))


@near("superseded-deleted")
def superseded_deletes_what_nobody_found() -> History:
    return superseded(at(FORMER, events.FileDeleted(path="chk-1/sum-0")))


def notified(*, received: bool, completed: bool = True) -> list[Line]:
    """The former sends a notice of checkpoint 1, which a task receives or not."""
    sent = events.NotificationSent(checkpoint=1, subtask="sink[0]", completed=completed)
    heard = events.NotificationReceived(checkpoint=1, subtask="sink[0]", completed=completed)
    return [at(FORMER, sent, attempt=1), *([heard] if received else [])]


@bad("superseded-notified")
def task_hears_of_it() -> History:
    return superseded(*notified(received=True))


@bad("superseded-notified")
def task_hears_that_what_the_successor_found_is_aborted() -> History:
    return superseded(*notified(received=True, completed=False), found=(1,))


@near("superseded-notified")
def task_hears_that_what_nobody_found_is_aborted() -> History:
    return superseded(*notified(received=True, completed=False))


@near("superseded-notified")
def nobody_hears_it() -> History:
    return superseded(*notified(received=False))
