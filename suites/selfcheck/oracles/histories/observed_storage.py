"""Histories for COORD, REACH and RETAIN: what a coordinator states about the storage, and what the harness sees."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, stamped, story

bad_published, near_published = exhibits("COORD")
bad_named, near_named = exhibits("REACH")
bad_deleted, near_deleted = exhibits("RETAIN")

COORDINATOR = "coordinator.0"
TWO_RETAINED = {"execution.checkpointing.num-retained": "2"}


def state(checkpoint: int) -> events.FileReference:
    return events.FileReference(f"chk-{checkpoint}/sum-0", 10, 7)


def metadata(checkpoint: int) -> events.FileReference:
    return events.FileReference(f"chk-{checkpoint}/_metadata", 20, 8)


def both(checkpoint: int) -> tuple[events.FileReference, events.FileReference]:
    return metadata(checkpoint), state(checkpoint)


def whole(checkpoint: int) -> list[events.Event]:
    """A checkpoint with its two files."""
    return [
        *(events.FileWritten(file=file) for file in both(checkpoint)),
        events.MetadataPublished(checkpoint=checkpoint, path=metadata(checkpoint).path, files=both(checkpoint)),
        events.CheckpointCompleted(checkpoint=checkpoint),
    ]


def deleted(checkpoint: int) -> list[events.Event]:
    return [at(COORDINATOR, events.FileDeleted(path=file.path)) for file in both(checkpoint)]


def dropped(checkpoint: int) -> events.CheckpointDropped:
    return events.CheckpointDropped(checkpoint=checkpoint)


def damaged(file: events.FileReference, checkpoint: int) -> events.ObjectDamaged:
    return events.ObjectDamaged(
        path=file.path, checkpoint=checkpoint, published=(checkpoint,), length=file.length, left=None
    )


def looked(
    before: Sequence[events.Event], checkpoint: int, *files: events.FileReference, unrecorded: int = 0
) -> list[events.Event]:
    """What happened, and then a look that finds these files; the last `unrecorded` events came after it was over."""
    recorded = sum(event.node == COORDINATOR for event in stamped(before)) - unrecorded
    paths = tuple(file.path for file in files)
    observed = events.StorageObserved(
        checkpoint=checkpoint, coordinator=COORDINATOR, recorded=recorded, paths=paths, files=files
    )
    return [*before, observed]


def listed(*files: events.FileReference) -> events.StorageListed:
    return events.StorageListed(files=files)


def told(*lines: Line) -> History:
    return story(*lines, options=TWO_RETAINED)


# --- published -------------------------------------------------------------------------------------------------------


@bad_published("published-not-stored")
def completes_without_its_metadata() -> History:
    return told(looked(whole(1), 1, state(1)))


@bad_published("published-not-stored")
def the_second_is_not_there() -> History:
    return told(looked([*looked(whole(1), 1, *both(1)), *whole(2)], 2, *both(1), state(2)))


@bad_published("published-not-stored")
def is_not_there_before_the_harness_damages_it() -> History:
    return told(looked(whole(1), 1, state(1)), damaged(metadata(1), 1))


@near_published("published-not-stored")
def is_there_when_it_completes() -> History:
    return told(looked(whole(1), 1, *both(1)))


@near_published("published-not-stored")
def is_dropped_before_the_look_is_over() -> History:
    first = [*looked(whole(1), 1, *both(1)), *whole(2), dropped(2), *deleted(2)]
    return told(looked(first, 2, *both(1)))


@near_published("published-not-stored")
def the_harness_has_removed_it() -> History:
    first = [*looked(whole(1), 1, *both(1)), damaged(metadata(2), 2)]
    return told(looked([*first, *whole(2)], 2, *both(1), state(2)))


@near_published("published-not-stored")
def its_coordinator_died_before_the_completion_was_recorded() -> History:
    first = looked(whole(1), 1, *both(1))
    died = events.NodeDied(dead_node="coordinator", cause="killed")
    published = events.MetadataPublished(checkpoint=2, path=metadata(2).path, files=both(2))
    return told(looked([*first, published, died], 2, *both(1)))


# --- named -----------------------------------------------------------------------------------------------------------


@bad_named("named-not-stored")
def names_a_file_that_nobody_wrote() -> History:
    return story(looked(whole(1), 1, metadata(1)))


@bad_named("named-not-stored")
def loses_a_file_of_the_older_one() -> History:
    return told(looked([*looked(whole(1), 1, *both(1)), *whole(2)], 2, *both(2), metadata(1)))


@bad_named("named-not-stored")
def loses_it_before_it_is_dropped() -> History:
    first = [*looked(whole(1), 1, *both(1)), *whole(2), dropped(1)]
    return story(looked(first, 2, *both(2), metadata(1), unrecorded=1))


@bad_named("named-not-stored")
def names_a_file_that_nobody_wrote_before_the_harness_damages_it() -> History:
    return story(looked(whole(1), 1, metadata(1)), damaged(state(1), 1))


@near_named("named-not-stored")
def all_that_it_names_is_there() -> History:
    return story(looked(whole(1), 1, *both(1)))


@near_named("named-not-stored")
def the_older_one_is_dropped_by_then() -> History:
    first = [*looked(whole(1), 1, *both(1)), *whole(2), dropped(1), *deleted(1)]
    return story(looked(first, 2, *both(2)))


@near_named("named-not-stored")
def a_newer_one_is_published_while_the_harness_looks() -> History:
    """Its files may have come behind the listing."""
    return told(looked([*whole(1), *whole(2)], 1, *both(1)))


@near_named("named-not-stored")
def the_harness_has_removed_a_file() -> History:
    return story(looked(whole(1), 1, *both(1)), damaged(state(2), 2), looked(whole(2), 2, *both(1), metadata(2)))


@near_named("named-not-stored")
def a_coordinator_without_a_record_completes_it() -> History:
    """Whoever looks for the statements of this one finds none: it was superseded."""
    observed = events.StorageObserved(checkpoint=2, coordinator="coordinator.7", recorded=9, paths=(), files=())
    return story(looked(whole(1), 1, *both(1)), observed)


@bad_named("file-differs")
def is_shorter_when_the_harness_looks() -> History:
    return story(looked(whole(1), 1, metadata(1), events.FileReference(state(1).path, 9, 7)))


@near_named("file-differs")
def is_as_named_when_the_harness_looks() -> History:
    return story(looked(whole(1), 1, *both(1)))


@near_named("file-differs")
def the_harness_has_cut_it() -> History:
    cut = events.FileReference(state(2).path, 5, 1)
    return told(looked(whole(1), 1, *both(1)), damaged(state(2), 2), looked(whole(2), 2, *both(1), metadata(2), cut))


# --- deleted ---------------------------------------------------------------------------------------------------------


@bad_deleted("deleted-still-stored")
def is_there_when_the_next_one_completes() -> History:
    first = [*whole(1), *whole(2), dropped(1), *deleted(1)]
    return story(looked([*first, *whole(3)], 3, *both(1), *both(2), *both(3)))


@bad_deleted("deleted-still-stored")
def is_there_at_the_end() -> History:
    return story(whole(1), whole(2), dropped(1), deleted(1), listed(*both(1), *both(2)))


@near_deleted("deleted-still-stored")
def is_gone_when_the_next_one_completes() -> History:
    first = [*whole(1), *whole(2), dropped(1), *deleted(1)]
    return story(looked([*first, *whole(3)], 3, *both(2), *both(3)), listed(*both(2), *both(3)))


@near_deleted("deleted-still-stored")
def is_deleted_behind_the_completion_that_the_look_followed() -> History:
    first = [*whole(1), *whole(2), dropped(1)]
    return story(looked([*first, *deleted(1)], 2, *both(1), *both(2)), listed(*both(2)))


@near_deleted("deleted-still-stored")
def is_on_its_way_out_at_the_end() -> History:
    first = [*whole(1), *whole(2), dropped(1), *deleted(1), *whole(3), dropped(2)]
    return story(first, listed(*both(2), *both(3)))


@near_deleted("deleted-still-stored")
def is_written_behind_its_deletion() -> History:
    """A late write of an attempt that is over: what was deleted was not there yet."""
    late = [at(COORDINATOR, events.FileDeleted(path="chk-3/sum-0")), events.FileWritten(file=state(3))]
    return story(whole(1), whole(2), dropped(1), deleted(1), late, listed(*both(2), state(3)))


@near_deleted("deleted-still-stored")
def a_deletion_that_failed_was_not_reported() -> History:
    failed = events.StorageFailed(operation="delete", path=metadata(2).path, reason="unavailable")
    first = [*whole(1), *whole(2), dropped(1), *deleted(1), *whole(3), dropped(2), failed]
    return story(first, listed(*both(2), *both(3)))


@near_deleted("deleted-still-stored")
def the_harness_has_put_it_back() -> History:
    first = [*whole(1), *whole(2), dropped(1), *deleted(1)]
    return story(first, whole(3), damaged(metadata(2), 2), dropped(2), deleted(2), listed(*both(3), metadata(2)))
