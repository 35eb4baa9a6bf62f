"""Histories of checkpoints that a next job owns: whose files are they, and until when.

The first job leaves checkpoints 1 and 2 to the user, which share a file. The next one begins from 2.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import events, profile
from holdfast.harness.model.checkpoint import CheckpointOrigin
from holdfast.harness.model.events import CheckpointAudited, FileReference, SharedHandle
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, injected
from holdfast.suites.selfcheck.oracles.builder import story as any_story

reach_bad, reach_near = exhibits("REACH")
retain_bad, retain_near = exhibits("RETAIN")
shared_bad, shared_near = exhibits("SHARED")
savepoint_bad, savepoint_near = exhibits("SAVEPOINT")
restore_bad, restore_near = exhibits("RESTORE")
state_bad, state_near = exhibits("STATE")

SUM = "sum[0]"
APART_MS = 100.0
"""However the clocks of processes differ, what is so far apart has an order."""
SUCCESS = events.AckOutcome.SUCCESS
NOT_CLAIMED = {
    profile.INTERVAL: "100 ms",
    profile.RETENTION: "RETAIN_ON_CANCELLATION",
    profile.RETAINED: "2",
    profile.CLAIM_MODE: "NO_CLAIM",
}
CLAIMED = {**NOT_CLAIMED, profile.CLAIM_MODE: "CLAIM"}
BOTH, SECOND, THIRD, FOURTH, FIFTH, SIXTH = (FileReference(f"shared/{name}", 10, name) for name in range(6))
SUBMIT = FaultSpec("submit", COORDINATOR)


def metadata(checkpoint: int) -> FileReference:
    return FileReference(f"chk-{checkpoint}/_metadata", 20, checkpoint)


def whole(checkpoint: int, new: FileReference, *again: FileReference) -> list[events.Event]:
    """A checkpoint with one new shared file, and others that an earlier one has brought."""
    shared = (SharedHandle(new.path, new), *(SharedHandle(each.path) for each in again))
    return [
        at("worker-0.0", events.FileWritten(file=new)),
        events.CheckpointTriggered(checkpoint=checkpoint, participants=(SUM,)),
        events.AckSent(checkpoint=checkpoint, subtask=SUM, files=(new,), shared=shared),
        events.AckReceived(checkpoint=checkpoint, subtask=SUM, outcome=SUCCESS),
        events.SharedStateRegistered(checkpoint=checkpoint, files=()),
        events.MetadataPublished(
            checkpoint=checkpoint, path=metadata(checkpoint).path, files=(metadata(checkpoint), new, *again)
        ),
        events.CheckpointCompleted(checkpoint=checkpoint),
    ]


def left(*checkpoints: int) -> list[events.Event]:
    """The first job is cancelled."""
    return [
        events.JobSwitched(status=events.JobStatus.CANCELLING),
        *(events.CheckpointRetained(checkpoint=each, path=metadata(each).path) for each in checkpoints),
        events.JobSwitched(status=events.JobStatus.CANCELED),
    ]


def begun(*then: events.Event) -> list[events.Event]:
    """The next job begins from checkpoint 2, and goes on so."""
    started = (
        events.AttemptStarted(restored_checkpoint=2),
        events.JobSwitched(status=events.JobStatus.RUNNING),
        *then,
    )
    next_job = [each if each.node else at("coordinator.1", each, attempt=1_001) for each in started]
    submitted = at("coordinator.1", events.JobSubmitted(path=metadata(2).path, checkpoint=2), attempt=1_000)
    return [submitted, *next_job]


def story(*lines: Line, options: Mapping[str, str] = CLAIMED) -> History:
    return any_story(
        at("coordinator.0", events.JobSubmitted()),
        events.CoordinatorClaimed(epoch=1),
        events.AttemptStarted(),
        events.JobSwitched(status=events.JobStatus.RUNNING),
        *(whole(1, BOTH), APART_MS),
        *(whole(2, SECOND, BOTH), APART_MS),
        *(left(1, 2), APART_MS),
        at("harness", injected("submit", "coordinator")),
        *lines,
        options=options,
        faults=(SUBMIT,),
    )


def deleted(*files: FileReference) -> list[events.Event]:
    return [events.FileDeleted(path=each.path) for each in files]


def dropped(checkpoint: int, *files: FileReference) -> list[events.Event]:
    """A checkpoint is dropped, and its metadata and these files are deleted."""
    return [events.CheckpointDropped(checkpoint=checkpoint), *deleted(metadata(checkpoint), *files)]


def next_is_drawn(checkpoint: int) -> events.CheckpointDrawn:
    return events.CheckpointDrawn(checkpoint=checkpoint, request=checkpoint, origin=CheckpointOrigin.PERIODIC)


def listed(*files: FileReference) -> events.StorageListed:
    return events.StorageListed(files=files)


THIRD_RESTS = (THIRD, SECOND, BOTH)


def replaced(*behind: events.Event) -> list[events.Event]:
    """The next job has two checkpoints of its own, and drops the claimed one. The older of the two rests on that."""
    return begun(*whole(3, *THIRD_RESTS), *whole(4, FOURTH), *dropped(2), *behind)


def all_of_it_goes(*behind: events.Event) -> list[events.Event]:
    """With its third one nothing refers to the files of the claimed checkpoint any more."""
    return replaced(*whole(5, FIFTH), *dropped(3, *THIRD_RESTS), *behind)


# --- REACH ---


@reach_bad("file-missing")
def a_file_of_a_claimed_checkpoint_goes_before_it() -> History:
    return story(begun(*whole(3, *THIRD_RESTS), *deleted(SECOND)))


@reach_bad("file-missing")
def a_newer_checkpoint_needs_the_file() -> History:
    return story(replaced(*deleted(SECOND)))


@reach_bad("file-missing")
def the_metadata_of_another_checkpoint_are_not_claimed() -> History:
    return story(all_of_it_goes(*deleted(metadata(1))))


@reach_bad("file-missing")
def shared_with_one_that_was_not_claimed() -> History:
    return story(all_of_it_goes(), options=NOT_CLAIMED)


@reach_near("file-missing")
def a_claimed_file_goes_though_another_checkpoint_names_it() -> History:
    return story(all_of_it_goes(listed(metadata(1), metadata(4), FOURTH, metadata(5), FIFTH)))


@reach_bad("dropped-too-early")
def dropped_with_the_first_of_two() -> History:
    return story(begun(*whole(3, *THIRD_RESTS), *dropped(2)))


@reach_near("dropped-too-early")
def dropped_with_the_second_of_two() -> History:
    return story(replaced())


# --- RETAIN ---


@retain_bad("deleted-after-end")
def another_checkpoint_was_not_claimed() -> History:
    return story(all_of_it_goes(*deleted(metadata(1))))


@retain_bad("deleted-after-end")
def nothing_was_claimed() -> History:
    return story(replaced(), options=NOT_CLAIMED)


@retain_near("deleted-after-end")
def left_to_the_user_until_it_was_claimed() -> History:
    return story(all_of_it_goes(listed(metadata(1))))


@retain_bad("too-many-retained")
def a_claimed_checkpoint_is_not_counted() -> History:
    return story(begun(*whole(3, *THIRD_RESTS), *whole(4, FOURTH), next_is_drawn(5)))


@retain_near("too-many-retained")
def a_claimed_checkpoint_makes_room() -> History:
    return story(replaced(next_is_drawn(5)))


@retain_bad("discarded-wrongly")
def a_claimed_checkpoint_is_not_left() -> History:
    return story(begun(*whole(3, *THIRD_RESTS), *left(3)))


@retain_near("discarded-wrongly")
def a_claimed_checkpoint_is_left_again() -> History:
    return story(begun(*whole(3, *THIRD_RESTS), *left(2, 3)))


# --- SHARED ---


@shared_bad("deleted-in-use")
def goes_while_the_claimed_checkpoint_is_retained() -> History:
    return story(begun(*whole(3, *THIRD_RESTS), *deleted(SECOND)))


@shared_bad("deleted-in-use")
def goes_with_the_claimed_checkpoint() -> History:
    return story(replaced(*deleted(SECOND)))


@shared_bad("deleted-in-use")
def goes_although_nothing_was_claimed() -> History:
    return story(begun(*whole(3, THIRD), *whole(4, FOURTH), *dropped(2, SECOND)), options=NOT_CLAIMED)


@shared_near("deleted-in-use")
def goes_with_the_last_that_rests_on_the_claimed_one() -> History:
    return story(all_of_it_goes())


@shared_bad("left-behind")
def what_was_claimed_stays() -> History:
    later = (*whole(5, FIFTH), *dropped(3, THIRD), *whole(6, SIXTH), *whole(7, SIXTH))
    return story(replaced(*later, listed(SECOND)))


@shared_near("left-behind")
def what_was_claimed_goes() -> History:
    return story(all_of_it_goes(*whole(6, SIXTH), *whole(7, SIXTH), listed()))


@shared_bad("placeholder-accepted")
def a_name_of_a_job_from_which_nothing_was_claimed() -> History:
    return story(begun(*whole(3, *THIRD_RESTS)), options=NOT_CLAIMED)


@shared_near("placeholder-accepted")
def a_name_of_a_claimed_checkpoint() -> History:
    refused = events.CheckpointAborted(checkpoint=4, reason="refused")
    triggered = whole(4, FOURTH)[1]
    unknown = events.AckSent(checkpoint=4, subtask=SUM, shared=(SharedHandle("shared/unknown"),))
    acked = events.AckReceived(checkpoint=4, subtask=SUM, outcome=SUCCESS)
    return story(begun(*whole(3, *THIRD_RESTS), triggered, unknown, acked, refused))


# --- SAVEPOINT ---


@savepoint_bad("claimed-left")
def claimed_metadata_stay() -> History:
    return story(replaced(*whole(5, FIFTH), listed(metadata(2), metadata(4), metadata(5))))


@savepoint_near("claimed-left")
def shared_files_of_a_claimed_checkpoint_stay() -> History:
    return story(replaced(*whole(5, FIFTH), listed(SECOND, BOTH, metadata(4), metadata(5))))


@savepoint_bad("claimed-too-early")
def claimed_metadata_go_with_the_first() -> History:
    return story(begun(*whole(3, *THIRD_RESTS), *dropped(2), *whole(4, FOURTH)))


@savepoint_near("claimed-too-early")
def claimed_metadata_go_when_the_job_is_over() -> History:
    ends = events.JobSwitched(status=events.JobStatus.CANCELLING)
    return story(begun(*whole(3, *THIRD_RESTS), ends, *dropped(2)))


@savepoint_bad("rests-on-unclaimed")
def the_first_checkpoint_names_what_is_the_users() -> History:
    return story(begun(*whole(3, *THIRD_RESTS)), options=NOT_CLAIMED)


@savepoint_near("rests-on-unclaimed")
def the_first_checkpoint_is_whole() -> History:
    return story(begun(*whole(3, THIRD), *whole(4, FOURTH, THIRD)), options=NOT_CLAIMED)


# --- what the harness reads back ---


def read_back(*before: Line) -> History:
    """The harness cannot restore checkpoint 1 of the first job."""
    audit = at("audit", CheckpointAudited(checkpoint=1, problem=f"{BOTH.path} is missing"), attempt=1)
    good = at("audit", CheckpointAudited(checkpoint=5), attempt=1_001)
    return story(*before, APART_MS, audit, good)


@restore_bad("audit-failed")
def no_file_of_it_was_claimed() -> History:
    return read_back(begun(*whole(3, *THIRD_RESTS)))


@restore_near("audit-failed")
def a_later_job_owned_a_file_of_it() -> History:
    return read_back(all_of_it_goes())


def died(node: str) -> events.Event:
    return at("harness", events.NodeDied(dead_node=node, cause="kill"))


@restore_near("audit-failed")
def a_later_job_died_before_it_could_report_what_it_deleted() -> History:
    return read_back(begun(*whole(3, *THIRD_RESTS)), died("coordinator.1"))


@restore_bad("audit-failed")
def only_the_job_that_left_it_has_died() -> History:
    return read_back(died("coordinator.0"), begun(*whole(3, *THIRD_RESTS)))


@state_bad("state-unreadable")
def no_file_of_its_state_was_claimed() -> History:
    return read_back(begun(*whole(3, *THIRD_RESTS)))


@state_near("state-unreadable")
def a_later_job_owned_a_file_of_its_state() -> History:
    return read_back(all_of_it_goes())
