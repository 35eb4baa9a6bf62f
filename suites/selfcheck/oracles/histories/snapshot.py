"""Histories for SNAPSHOT: the first sum of the keyed sum, from the cut of a snapshot to the end of its upload."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.model.records import InputLog
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, input_log, story
from holdfast.suites.selfcheck.oracles.legal import summary

bad, near = exhibits("SNAPSHOT")

LEFT, BELOW = "source[0]->sum[0]", "sum[0]->sink[0]"
HELD = [(0, 0), (0, 2)]
WORKER = "worker-0.0"
SYNCHRONOUS = {"execution.checkpointing.interval": "100 ms", "state.backend.async": "false"}


def file(checkpoint: int = 1) -> events.FileReference:
    return events.FileReference(f"chk-{checkpoint}/sum-0", 100, 7)


def taken(checkpoint: int = 1) -> events.SnapshotTaken:
    return events.SnapshotTaken(subtask="sum[0]", checkpoint=checkpoint, state=summary(HELD))


def written(checkpoint: int = 1) -> events.FileWritten:
    return at(WORKER, events.FileWritten(file=file(checkpoint)))


def acked(checkpoint: int = 1, inline_bytes: int = 0) -> events.AckSent:
    files = () if inline_bytes else (file(checkpoint),)
    return events.AckSent(subtask="sum[0]", checkpoint=checkpoint, files=files, inline_bytes=inline_bytes)


def released(checkpoint: int = 1, kept: int | None = 0, still_open: int = 0, page: int = 1) -> events.SnapshotReleased:
    return events.SnapshotReleased(
        subtask="sum[0]", checkpoint=checkpoint, kept_entries=kept, open_versions=still_open, page_entries=page
    )


def batch(position: int, records: int = 1) -> events.BatchProcessed:
    return events.BatchProcessed(channel=LEFT, position=position, records=records)


def barrier() -> events.BarrierSent:
    return events.BarrierSent(channel=BELOW, checkpoint=1)


# --- durable before the ack ------------------------------------------------------------------------------------------


@bad("acked-before-durable")
def acks_before_its_file_is_written() -> History:
    return story(events.AttemptStarted(), taken(), acked(), written())


@bad("acked-before-durable")
def acks_state_that_is_nowhere() -> History:
    return story(events.AttemptStarted(), taken(), events.AckSent(subtask="sum[0]", checkpoint=1))


@near("acked-before-durable")
def acks_what_is_written() -> History:
    return story(events.AttemptStarted(), taken(), written(), acked(), taken(2), acked(2, inline_bytes=9))


# --- beside the records ----------------------------------------------------------------------------------------------


@bad("barrier-after-upload")
def barrier_waits_for_the_file() -> History:
    return story(events.AttemptStarted(), taken(), written(), barrier(), acked())


@near("barrier-after-upload")
def barrier_leaves_with_the_cut() -> History:
    return story(events.AttemptStarted(), taken(), barrier(), written(), acked())


def _uploads(*, moving: bool, standstill: int = 1) -> History:
    """Batches come every two milliseconds, but for three uploads of twenty, during which they may go on, and for what
    the machine stands still at the end."""
    lines: list[Line] = [events.AttemptStarted()]
    position = 0
    for checkpoint in (1, 2, 3):
        for _ in range(4):
            lines += [1, batch(position)]
            position += 1
        lines += [taken(checkpoint), 10]
        if moving and checkpoint == 2:
            lines.append(batch(position))
            position += 1
        lines += [10, written(checkpoint), released(checkpoint, int(moving and checkpoint == 2)), acked(checkpoint)]
    lines += [1, batch(position), standstill, batch(position + 1)]
    return story(*lines)


@bad("stood-while-uploading")
def stands_during_every_upload() -> History:
    return _uploads(moving=False)


@near("stood-while-uploading")
def moves_during_one_upload() -> History:
    return _uploads(moving=True)


@near("stood-while-uploading")
def moves_though_the_machine_stood_still_once() -> History:
    return _uploads(moving=True, standstill=40)


@bad("processed-while-writing")
def processes_during_a_synchronous_write() -> History:
    lines: list[Line] = [events.AttemptStarted(), taken(), batch(0), written(), released(kept=1), acked()]
    return story(*lines, options=SYNCHRONOUS)


@near("processed-while-writing")
def waits_for_a_synchronous_write() -> History:
    return _synchronous(standstill=1)


@near("processed-while-writing")
def waits_for_one_on_a_machine_that_stood_still_once() -> History:
    return _synchronous(standstill=40)


def _synchronous(standstill: int) -> History:
    """Batches come every millisecond, but for a write of twenty, and for what the machine stands still before it."""
    return story(
        events.AttemptStarted(),
        *(line for position in range(4) for line in (1, batch(position))),
        standstill,
        batch(4),
        taken(),
        20,
        written(),
        released(),
        acked(),
        1,
        batch(5),
        options=SYNCHRONOUS,
    )


# --- errors ----------------------------------------------------------------------------------------------------------


def _failed(operation: str) -> events.StorageFailed:
    failed = events.StorageFailed(
        operation=operation, path=file().path, reason="injected", subtask="sum[0]", checkpoint=1
    )
    return at(WORKER, failed)


@bad("async-error-swallowed")
def goes_on_without_declining() -> History:
    return story(events.AttemptStarted(), taken(), _failed("write-state"), batch(0), batch(1))


@near("async-error-swallowed")
def declines() -> History:
    decline = events.DeclineSent(subtask="sum[0]", checkpoint=1, reason="injected")
    return story(events.AttemptStarted(), taken(), _failed("write-state"), decline, batch(0))


@bad("sync-error-swallowed")
def goes_on_without_a_snapshot() -> History:
    return story(events.AttemptStarted(), _failed("fix-state"), batch(0), batch(1))


@near("sync-error-swallowed")
def dies_in_the_turn_of_the_next_error() -> History:
    stopped = events.TaskStopped(subtask="sum[0]", reason="snapshot")
    return story(events.AttemptStarted(), _failed("fix-state"), stopped, batch(0), _failed("fix-state"), batch(1))


@near("sync-error-swallowed")
def stops() -> History:
    stopped = events.TaskStopped(subtask="sum[0]", reason="snapshot")
    return story(events.AttemptStarted(), _failed("fix-state"), stopped, batch(0))


# --- versions --------------------------------------------------------------------------------------------------------


@bad("freed-too-early")
def frees_before_the_file_is_written() -> History:
    return story(events.AttemptStarted(), taken(), released(), written(), acked())


@near("freed-too-early")
def frees_when_the_file_is_written() -> History:
    return story(events.AttemptStarted(), taken(), written(), released(), acked())


@near("freed-too-early")
def keyed_state_comes_with_the_ack_and_what_was_in_flight_is_written_later() -> History:
    unaligned = events.SnapshotTaken(subtask="sum[0]", checkpoint=1, state=summary(HELD), unaligned=True)
    both = events.AckSent(subtask="sum[0]", checkpoint=1, files=(file(),), inline_bytes=9)
    later = (taken(2), written(2), released(2), acked(2))
    return story(events.AttemptStarted(), unaligned, released(), written(), both, *later)


@near("freed-too-early")
def empty_state_is_stored_nowhere_and_what_was_in_flight_is_written_later() -> History:
    empty = events.SnapshotTaken(subtask="sum[0]", checkpoint=1, state=summary([]), unaligned=True)
    later = (taken(2), written(2), released(2), acked(2))
    return story(events.AttemptStarted(), empty, released(), written(), acked(), *later)


@bad("versions-kept")
def never_frees_the_first() -> History:
    return story(events.AttemptStarted(), taken(), written(), acked(), taken(2), written(2), released(2), acked(2))


@bad("versions-kept")
def says_that_another_is_open() -> History:
    return story(events.AttemptStarted(), taken(), written(), released(still_open=1), acked())


@near("versions-kept")
def another_is_open() -> History:
    return story(events.AttemptStarted(), taken(), taken(2), written(), released(still_open=1), acked(), released(2))


def many_keys() -> InputLog:
    """Enough for pages of four."""
    return replace(input_log(10, 10), keys=tuple(f"key-{number}" for number in range(4_000)))


@bad("kept-wrong")
def keeps_more_than_was_changed() -> History:
    return story(events.AttemptStarted(), taken(), batch(0, records=2), written(), released(kept=3), acked())


@bad("kept-wrong")
def keeps_nothing_of_what_was_changed() -> History:
    return story(events.AttemptStarted(), taken(), batch(0, records=2), written(), released(kept=0), acked())


@bad("kept-wrong")
def keeps_more_pages_than_entries_were_changed() -> History:
    lines = (events.AttemptStarted(), taken(), batch(0, records=2), written(), released(kept=12, page=4), acked())
    return story(*lines, inputs=many_keys())


@bad("kept-wrong")
def calls_the_whole_state_a_page() -> History:
    return story(events.AttemptStarted(), taken(), batch(0), written(), released(kept=2, page=2), acked())


@bad("kept-wrong")
def calls_a_large_part_of_many_keys_a_page() -> History:
    lines = (events.AttemptStarted(), taken(), batch(0), written(), released(kept=1_000, page=1_000), acked())
    return story(*lines, inputs=many_keys())


@near("kept-wrong")
def keeps_whole_pages() -> History:
    lines = (events.AttemptStarted(), taken(), batch(0, records=2), written(), released(kept=8, page=4), acked())
    return story(*lines, inputs=many_keys())


@near("kept-wrong")
def keeps_what_was_changed() -> History:
    return story(events.AttemptStarted(), batch(0), taken(), batch(1, records=3), written(), released(kept=2), acked())


@near("kept-wrong")
def does_not_tell_of_every_snapshot_what_it_keeps() -> History:
    untold = (taken(), batch(0, records=2), written(), released(kept=None), acked())
    return story(events.AttemptStarted(), *untold, taken(2), batch(1), written(2), released(2, kept=1), acked(2))


# --- files -----------------------------------------------------------------------------------------------------------


def _completed(*checkpoints: int) -> list[Line]:
    lines: list[Line] = []
    for checkpoint in checkpoints:
        metadata = events.FileReference(f"chk-{checkpoint}/_metadata", 10, 1)
        lines += [
            events.CheckpointTriggered(checkpoint=checkpoint, participants=()),
            events.MetadataPublished(checkpoint=checkpoint, path=metadata.path, files=(metadata,)),
            events.CheckpointCompleted(checkpoint=checkpoint),
        ]
    return lines


def _listed(*files: events.FileReference, given_up: bool, acks: tuple[Line, ...] = ()) -> History:
    """Checkpoint 1 is aborted while its file is being written, or when it is acknowledged; three more complete."""
    lines: list[Line] = [events.AttemptStarted(), taken()]
    if given_up:
        lines.append(events.NotificationReceived(subtask="sum[0]", checkpoint=1, completed=False))
    lines += [written(), released(), *acks]
    return story(*lines, *_completed(2, 3, 4), events.StorageListed(files=files))


def left_behind(*files: events.FileReference, heard: bool = True, before: tuple[Line, ...] = ()) -> History:
    """Checkpoint 1 is pending when the coordinator dies, and three others complete under the next one."""
    ack = events.AckReceived(checkpoint=1, subtask="sum[0]", outcome=events.AckOutcome.SUCCESS)
    lines: list[Line] = [
        events.CoordinatorClaimed(epoch=1),
        events.AttemptStarted(),
        events.CheckpointTriggered(checkpoint=1, participants=()),
        [taken(), written(), released(), acked()],
        *([ack] if heard else []),
        events.NodeDied(dead_node="coordinator", cause="kill"),
        events.CoordinatorClaimed(epoch=2),
        *before,
    ]
    return story(*lines, *_completed(2, 3, 4), events.StorageListed(files=files))


@bad("aborted-file-left")
def successor_leaves_a_file_of_the_pending() -> History:
    return left_behind(file())


@near("aborted-file-left")
def successor_deletes_it() -> History:
    return left_behind()


@near("aborted-file-left")
def the_dead_had_not_heard_of_it() -> History:
    return left_behind(file(), heard=False)


@bad("aborted-file-left")
def aborted_file_is_there() -> History:
    return _listed(file(), given_up=True)


@bad("aborted-file-left")
def file_of_a_late_ack_is_there() -> History:
    late = events.AckReceived(checkpoint=1, subtask="sum[0]", outcome=events.AckOutcome.DISCARDED)
    return _listed(file(), given_up=False, acks=(acked(), late))


@near("aborted-file-left")
def ack_of_the_file_never_arrived() -> History:
    return _listed(file(), given_up=False, acks=(acked(),))


@near("aborted-file-left")
def aborted_file_is_gone() -> History:
    return _listed(given_up=True)
