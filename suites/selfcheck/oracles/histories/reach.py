"""Histories for REACH: a checkpoint of one state file and its metadata."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, story

bad, near = exhibits("REACH")

STATE, METADATA = events.FileReference("chk-1/sum-0", 10, 7), events.FileReference("chk-1/_metadata", 20, 8)
SHORTER = events.FileReference("chk-1/sum-0", 9, 7)


def published(*, completes: bool = True) -> list[Line]:
    """Checkpoint 1 with its two files, completed or given up after its publication."""
    end: events.Event = events.CheckpointCompleted(checkpoint=1)
    if not completes:
        end = events.CheckpointAborted(checkpoint=1, reason="publication failed")
    return [
        events.FileWritten(file=STATE),
        events.AckSent(subtask="sum[0]", checkpoint=1, files=(STATE,)),
        events.FileWritten(file=METADATA),
        events.MetadataPublished(checkpoint=1, path=METADATA.path, files=(METADATA, STATE)),
        end,
    ]


def deleted(file: events.FileReference) -> events.FileDeleted:
    return events.FileDeleted(path=file.path)


def dropped() -> list[events.Event]:
    """Checkpoint 1 makes room for a newer one."""
    return [events.CheckpointCompleted(checkpoint=2), events.CheckpointDropped(checkpoint=1)]


@bad("file-missing")
def deleted_while_retained() -> History:
    return story(*published(), deleted(STATE))


@bad("file-missing")
def deleted_before_dropped() -> History:
    return story(*published(), deleted(STATE), dropped())


@bad("file-missing")
def deleted_by_a_worker() -> History:
    return story(*published(), dropped(), at("worker-0.0", deleted(STATE)))


@bad("file-missing")
def deleted_behind_undecided_publication() -> History:
    return story(*published(completes=False), deleted(STATE))


@bad("file-missing")
def not_in_the_storage() -> History:
    return story(*published(), events.StorageListed(files=(METADATA,)))


@near("file-missing")
def deleted_after_dropped() -> History:
    return story(*published(), dropped(), deleted(STATE), deleted(METADATA), events.StorageListed(files=()))


@near("file-missing")
def withdrawn_metadata_first() -> History:
    return story(*published(completes=False), deleted(METADATA), deleted(STATE))


@bad("file-differs")
def written_with_other_checksum() -> History:
    return story(events.FileWritten(file=events.FileReference("chk-1/sum-0", 10, 1)), *published()[1:])


@bad("file-differs")
def stored_shorter() -> History:
    return story(*published(), events.StorageListed(files=(SHORTER, METADATA)))


@bad("file-differs")
def overwritten_later() -> History:
    return story(*published(), events.FileWritten(file=SHORTER))


@near("file-differs")
def stored_as_written() -> History:
    return story(*published(), events.StorageListed(files=(STATE, METADATA)))


TWO_RETAINED = {"execution.checkpointing.num-retained": "2"}


def newer(checkpoint: int) -> events.MetadataPublished:
    """A checkpoint that is published and has not completed."""
    return events.MetadataPublished(checkpoint=checkpoint, path=f"chk-{checkpoint}/_metadata", files=())


@bad("dropped-too-early")
def the_latest_is_dropped() -> History:
    return story(*published(), events.CheckpointDropped(checkpoint=1))


@bad("dropped-too-early")
def dropped_before_the_newer_completes() -> History:
    return story(*published(), events.CheckpointDropped(checkpoint=1), events.CheckpointCompleted(checkpoint=2))


@bad("dropped-too-early")
def the_second_of_two_is_dropped() -> History:
    return story(*published(), *dropped(), options=TWO_RETAINED)


@bad("dropped-too-early")
def dropped_for_one_that_is_aborted() -> History:
    given_up = events.CheckpointAborted(checkpoint=2, reason="publication failed")
    return story(*published(), newer(2), given_up, events.CheckpointDropped(checkpoint=1))


@near("dropped-too-early")
def dropped_for_the_newer() -> History:
    return story(*published(), *dropped())


@near("dropped-too-early")
def the_third_of_two_is_dropped() -> History:
    newer_ones = [events.CheckpointCompleted(checkpoint=checkpoint) for checkpoint in (2, 3)]
    return story(*published(), newer_ones, events.CheckpointDropped(checkpoint=1), options=TWO_RETAINED)


@near("dropped-too-early")
def new_coordinator_drops_for_what_it_finds() -> History:
    died = events.NodeDied(dead_node="coordinator", cause="killed")
    return story(*published(), died, newer(2), events.CheckpointDropped(checkpoint=1))
