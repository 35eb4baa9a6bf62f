"""Which windows a run hit, from its history.

What a system persisted is read from outside where that can be: from the table that a program left, which the harness
reads before the next life begins. Elsewhere it is read from the events of restores, as far as a system supplies them.
"""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.harness.model import events
from holdfast.harness.model.case import Window
from holdfast.harness.model.history import History
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.topology import process_name

_OF_RESTARTS = frozenset(
    {events.FailureCounted, events.JobSwitched, events.NodeDied, events.AttemptStarted, events.CheckpointCompleted}
)
_OF_RESCALES = (
    events.RescaleRequested, events.RescaleAccepted, events.JobSwitched, events.NodeDied, events.CheckpointAborted,
    events.AttemptStarted, events.TaskStarted, events.JobSubmitted,
)  # fmt: skip
_OF_OUTPUT = (
    events.CheckpointTriggered, events.CheckpointCompleted, events.RowsVisible, events.NodeDied, events.AttemptStarted,
)  # fmt: skip
_COORDINATOR = f"{process_name(COORDINATOR)}."


def windows_hit(history: History) -> frozenset[Window]:
    return frozenset(_found(history))


def _found(history: History) -> Iterator[Window]:
    restored = _restored_attempts(history)
    if restored:
        yield Window.RESTORED_STATE
    yield from _of_input(history, restored)
    yield from _of_restarts(history)
    yield from _of_rescales(history)
    if _transaction_in_doubt(history):
        yield Window.TRANSACTION_IN_DOUBT
    if any(content.batches for event in history.of(events.ChannelStateTaken) for content in event.channels):
        yield Window.OVERTAKING
    restores = (event for event in history.of(events.ChannelStateRestored) if not event.skipped)
    if any(content.batches for event in restores for content in event.channels):
        yield Window.RESTORED_IN_FLIGHT
    if _output_without_commit(history):
        yield Window.OUTPUT_WITHOUT_COMMIT
    if _built_on_snapshot(history):
        yield Window.BUILT_ON_SNAPSHOT


def _of_restarts(history: History) -> Iterator[Window]:
    """A restart is under way from the failure to the time when every task runs; a region that restarted alone is new
    until a checkpoint completes."""
    restarting = alone = False
    happened = [event for event in history.events if type(event) in _OF_RESTARTS]
    for event in sorted(happened, key=lambda event: event.time_ns):
        if isinstance(event, events.NodeDied) and restarting:
            yield Window.RESTART_STRUCK
        elif isinstance(event, events.JobSwitched) and event.status is events.JobStatus.RUNNING:
            restarting = False
        elif isinstance(event, events.CheckpointCompleted):
            alone = False
        elif isinstance(event, events.AttemptStarted) and event.subtasks:
            alone = True
            yield Window.REGION_RESTARTED
        elif isinstance(event, events.FailureCounted):
            restarting = True
            if alone:
                yield Window.REGION_STRUCK


def _of_rescales(history: History) -> Iterator[Window]:
    """A rescale is under way from its request to the time when every task runs. Another job at another parallelism is
    none."""
    widths = {event.parallelism for event in history.of(events.AttemptStarted)}
    if len(widths) < 2 and not history.of(events.RescaleRequested):
        return
    requested = accepted = False
    width, rescaled = 0, set[int]()
    for event in sorted(history.of_kinds(_OF_RESCALES), key=lambda event: event.time_ns):
        if isinstance(event, events.JobSubmitted):
            width = 0
        elif isinstance(event, events.RescaleRequested):
            requested = True
        elif isinstance(event, events.RescaleAccepted):
            accepted = True
        elif isinstance(event, events.JobSwitched) and event.status is events.JobStatus.RUNNING:
            requested = accepted = False
        elif isinstance(event, events.NodeDied) and requested:
            yield Window.RESCALE_STRUCK
        elif isinstance(event, events.CheckpointAborted) and accepted:
            yield Window.RESCALE_CUT_CHECKPOINT
        elif isinstance(event, events.AttemptStarted):
            if event.parallelism != width and width and event.restored_checkpoint is not None:
                rescaled.add(event.attempt)
                yield Window.RESCALED
            width = event.parallelism
        elif isinstance(event, events.TaskStarted) and event.attempt in rescaled and event.pending_transactions:
            yield Window.RESCALED_PENDING


def _restored_attempts(history: History) -> set[int]:
    """The attempts, or lives of a program, that began from persisted state; a task of theirs ran if tasks are seen. A
    checkpoint that completed before anything was read holds none."""
    held = {
        event.checkpoint
        for event in history.of(events.CheckpointCompleted)
        if any(event.positions) or not event.positions
    }
    empty = {event.checkpoint for event in history.of(events.CheckpointCompleted)} - held
    attempts = {
        event.attempt
        for event in history.of(events.AttemptStarted)
        if event.restored_checkpoint is not None and event.restored_checkpoint not in empty
    }
    tasks = history.of(events.TaskStarted)
    if tasks:
        attempts &= {event.attempt for event in tasks if event.restored_checkpoint is not None}
    return attempts | {event.attempt for event in history.of(events.StateFound) if any(event.positions)}


def _of_input(history: History, restored: set[int]) -> Iterator[Window]:
    """What was read, and by whom, follows the attempts: one that reads an offset again is not the one that read it."""
    held = {event.attempt: event.positions for event in history.of(events.StateFound)}
    reached: dict[int, tuple[int, int]] = {}
    emitted = history.of(events.SourceEmitted)
    # Of a source behind the SPI every batch is reported that was read, and no emission.
    for handed in history.of(events.InputRead) if not emitted else ():
        end, reader = reached.get(handed.partition, (0, handed.attempt))
        if handed.attempt != reader and handed.first_offset < end:
            yield Window.READ_AGAIN if handed.attempt in restored else Window.RESTARTED_EMPTY
        if handed.first_offset >= end:
            reached[handed.partition] = (handed.first_offset + 1, handed.attempt)
    for event in emitted:
        end, reader = reached.get(event.partition, (0, event.attempt))
        if event.attempt != reader and event.first_offset < end:
            yield Window.READ_AGAIN if event.attempt in restored else Window.RESTARTED_EMPTY
        positions = held.get(event.attempt, ())
        if event.partition < len(positions) and event.first_offset < positions[event.partition]:
            yield Window.SENT_AGAIN
            if event.next_offset > positions[event.partition]:
                yield Window.SENT_WITH_NEW
        if event.next_offset >= end:
            reached[event.partition] = (event.next_offset, event.attempt)


def _output_without_commit(history: History) -> bool:
    """Whether rows became visible behind the beginning of a checkpoint that its coordinator did not live to complete,
    and before the next attempt began: nobody wrote in between, so they were there, and a reader was late to see them.
    """
    begun: int | None = None
    visible = struck = False
    for event in history.of_kinds(_OF_OUTPUT):
        if isinstance(event, events.CheckpointTriggered):
            begun, visible = event.checkpoint, False
        elif isinstance(event, events.CheckpointCompleted):
            begun = None if event.checkpoint == begun else begun
        elif isinstance(event, events.RowsVisible):
            visible = begun is not None
            if visible and struck:
                return True
        elif isinstance(event, events.NodeDied):
            struck = begun is not None and event.dead_node.startswith(_COORDINATOR)
            if struck and visible:
                return True
        else:
            struck = False
    return False


def _transaction_in_doubt(history: History) -> bool:
    dead = {event.dead_node for event in history.of(events.NodeDied)}
    open_transactions = {
        (event.node, event.transaction) for event in history.of(events.TransactionPrecommitted) if event.node in dead
    }
    open_transactions -= {(event.node, event.transaction) for event in history.of(events.TransactionCommitted)}
    return bool(
        open_transactions - {(event.node, event.transaction) for event in history.of(events.TransactionAborted)}
    )


def _built_on_snapshot(history: History) -> bool:
    """Whether metadata of a job name a file of the checkpoint that it was submitted with."""
    published = history.of(events.MetadataPublished)
    for submitted in (event for event in history.of(events.JobSubmitted) if event.path):
        given = {file.path for event in published if event.path == submitted.path for file in event.files}
        own = (event for event in published if event.attempt > submitted.attempt and event.path != submitted.path)
        if given and any(file.path in given for event in own for file in event.files):
            return True
    return False
