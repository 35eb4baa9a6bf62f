"""Histories of checkpoints that the harness damaged: nobody is to blame for these, and everybody for all others.

The metadata of checkpoint 2 are removed while checkpoint 3 is being published. The coordinator dies before it records
that, and its successor goes on from 3: it cannot know 2, whose files it deletes.
"""

from __future__ import annotations

from holdfast.harness.model.checkpoint import CheckpointOrigin
from holdfast.harness.model.events import (
    AckSent,
    AttemptStarted,
    CheckpointAudited,
    CheckpointCompleted,
    CheckpointDrawn,
    CheckpointDropped,
    CheckpointRetained,
    CheckpointTriggered,
    Event,
    FileDeleted,
    FileReference,
    FileWritten,
    JobStatus,
    JobSubmitted,
    JobSwitched,
    MetadataPublished,
    NodeDied,
    ObjectDamaged,
    ObjectMended,
    StorageListed,
)
from holdfast.harness.model.history import History
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits, story
from holdfast.suites.selfcheck.oracles.histories import coordinator_lines as lines
from holdfast.suites.selfcheck.oracles.histories import snapshot, state
from holdfast.suites.selfcheck.oracles.histories.coordinator_lines import ALL
from holdfast.suites.selfcheck.oracles.legal import summary

POLICY = "execution.checkpointing.externalized-checkpoint-retention"
KEEPING = {"execution.checkpointing.interval": "100 ms", POLICY: "RETAIN_ON_CANCELLATION"}

reach_bad, reach_near = exhibits("REACH")
retain_bad, retain_near = exhibits("RETAIN")
coord_bad, coord_near = exhibits("COORD")
loud_bad, loud_near = exhibits("LOUD")
restore_bad, restore_near = exhibits("RESTORE")
state_bad, state_near = exhibits("STATE")
snapshot_bad, snapshot_near = exhibits("SNAPSHOT")


def metadata(checkpoint: int) -> FileReference:
    return FileReference(f"chk-{checkpoint}/_metadata", 20, checkpoint)


def state_file(checkpoint: int) -> FileReference:
    return FileReference(f"chk-{checkpoint}/sum-0", 10, checkpoint)


def damaged(file: FileReference, left: int | None = None) -> ObjectDamaged:
    checkpoint = int(file.path.partition("/")[0].removeprefix("chk-"))
    return ObjectDamaged(path=file.path, checkpoint=checkpoint, published=(), length=file.length, left=left)


def mended(file: FileReference, length: int | None = 20) -> ObjectMended:
    return ObjectMended(path=file.path, length=length)


def deleted(file: FileReference) -> FileDeleted:
    return FileDeleted(path=file.path)


def published(checkpoint: int, *shared: FileReference) -> list[Event]:
    """Published, and not complete yet."""
    files = (state_file(checkpoint), metadata(checkpoint), *shared)
    return [
        CheckpointDrawn(checkpoint=checkpoint, request=checkpoint, origin=CheckpointOrigin.PERIODIC),
        CheckpointTriggered(checkpoint=checkpoint, participants=ALL),
        *lines.acked(checkpoint, *ALL),
        *(FileWritten(file=file) for file in files[:2]),
        MetadataPublished(checkpoint=checkpoint, path=metadata(checkpoint).path, files=files, states=len(ALL)),
    ]


def whole(checkpoint: int) -> list[Event]:
    return [*published(checkpoint), CheckpointCompleted(checkpoint=checkpoint)]


def overtaken(
    *behind: Line, restored: int | None = 3, before: tuple[Event, ...] = (), shared: tuple[FileReference, ...] = ()
) -> History:
    """The successor restores what is given, and `behind` follows; `before` happens just before the damage."""
    return story(
        JobSubmitted(), AttemptStarted(), JobSwitched(status=JobStatus.RUNNING),
        whole(1), whole(2), CheckpointDropped(checkpoint=1), deleted(metadata(1)), deleted(state_file(1)),
        before, damaged(metadata(2)), published(3, *shared), NodeDied(dead_node="coordinator", cause="killed"),
        AttemptStarted(restored_checkpoint=restored), JobSwitched(status=JobStatus.RUNNING), *behind,
    )  # fmt: skip


NOTHING_PUT_BACK = mended(metadata(2), None)
OF_3 = StorageListed(files=(metadata(3), state_file(3)))

# --- REACH -----------------------------------------------------------------------------------------------------------


@reach_near("file-missing")
def successor_cleans_up_what_it_cannot_know() -> History:
    return overtaken(deleted(state_file(2)), NOTHING_PUT_BACK, OF_3)


@reach_bad("file-missing")
def successor_deletes_a_file_of_what_it_restored() -> History:
    return overtaken(deleted(state_file(2)), deleted(state_file(3)), NOTHING_PUT_BACK)


@reach_bad("file-missing")
def successor_deletes_a_file_that_a_newer_one_shares() -> History:
    return overtaken(deleted(state_file(2)), shared=(state_file(2),))


@reach_bad("file-missing")
def deleted_before_the_damage() -> History:
    return overtaken(before=(deleted(state_file(2)),))


@reach_bad("file-missing")
def deleted_when_all_was_put_back() -> History:
    return story(whole(1), damaged(metadata(1)), mended(metadata(1)), deleted(state_file(1)))


@reach_bad("file-missing")
def another_is_missing_in_the_storage() -> History:
    return overtaken(NOTHING_PUT_BACK, StorageListed(files=(metadata(3), state_file(2))))


@reach_near("file-differs")
def the_damaged_is_stored_shorter() -> History:
    torn = FileReference(state_file(1).path, 5, 99)
    return story(whole(1), damaged(state_file(1), 5), StorageListed(files=(metadata(1), torn)))


@reach_bad("file-differs")
def another_than_the_damaged_is_stored_shorter() -> History:
    torn = FileReference(state_file(1).path, 5, 99)
    return story(whole(1), damaged(metadata(1), 5), StorageListed(files=(metadata(1), torn)))


# --- RETAIN ----------------------------------------------------------------------------------------------------------

NEXT = CheckpointDrawn(checkpoint=4, request=4, origin=CheckpointOrigin.PERIODIC)


@retain_near("too-many-retained")
def the_damaged_is_not_counted() -> History:
    return overtaken(NEXT)


@retain_bad("too-many-retained")
def an_older_one_stays_beside_the_damaged() -> History:
    return story(whole(1), whole(2), damaged(metadata(2)), whole(3), NEXT)


@retain_bad("too-many-retained")
def what_was_put_back_is_counted() -> History:
    return story(whole(2), damaged(metadata(2)), mended(metadata(2)), whole(3), NEXT)


def _canceled(*events: Event) -> History:
    ending = [JobSwitched(status=JobStatus.CANCELLING), *events, JobSwitched(status=JobStatus.CANCELED)]
    return story(JobSubmitted(), AttemptStarted(), JobSwitched(status=JobStatus.RUNNING), ending, options=KEEPING)


@retain_near("discarded-wrongly")
def the_damaged_is_not_left_to_the_user() -> History:
    newer = [*whole(2), CheckpointRetained(checkpoint=2, path=metadata(2).path)]
    return _canceled(*whole(1), damaged(metadata(1)), *newer, CheckpointDropped(checkpoint=1))


@retain_bad("discarded-wrongly")
def the_undamaged_is_not_left_to_the_user() -> History:
    return _canceled(*whole(1), damaged(metadata(1)), *whole(2))


@retain_near("deleted-in-use")
def a_file_of_the_damaged_goes_while_it_is_restored() -> History:
    return story(whole(1), damaged(metadata(1)), AttemptStarted(restored_checkpoint=1), deleted(state_file(1)))


@retain_bad("deleted-in-use")
def a_file_goes_whose_checkpoint_was_put_back() -> History:
    restored = AttemptStarted(restored_checkpoint=1)
    return story(whole(1), damaged(metadata(1)), mended(metadata(1)), restored, deleted(state_file(1)))


def _left_to_the_user(*listed: FileReference, damage: FileReference) -> History:
    left = CheckpointRetained(checkpoint=1, path=metadata(1).path)
    return story(whole(1), left, damaged(damage), StorageListed(files=listed), options=KEEPING)


@retain_near("deleted-after-end")
def the_damaged_is_gone_that_was_left_to_the_user() -> History:
    return _left_to_the_user(metadata(1), damage=state_file(1))


@retain_bad("deleted-after-end")
def another_is_gone_that_was_left_to_the_user() -> History:
    return _left_to_the_user(state_file(1), damage=state_file(1))


# --- COORD and LOUD --------------------------------------------------------------------------------------------------


@coord_near("restored-not-latest")
@loud_near("started-older")
def goes_on_from_what_was_published() -> History:
    return overtaken()


@coord_bad("restored-not-latest")
@loud_bad("started-older")
def goes_back_behind_the_damaged() -> History:
    return overtaken(restored=1)


@loud_bad("started-empty")
def starts_empty_beside_the_damaged() -> History:
    return overtaken(restored=None)


@coord_bad("restored-not-latest")
def goes_back_to_the_damaged() -> History:
    return overtaken(restored=2)


def _discarded(damage: FileReference) -> History:
    file = state_file(1)
    sent = AckSent(subtask=ALL[0], checkpoint=1, files=(file,))
    acked = lines.acked(1, ALL[0])
    given_up = [lines.aborted(1), *lines.told(1, completed=False)]
    spoilt: list[Event] = [damaged(damage, 5), mended(damage, 10)]
    listed = StorageListed(files=(file,))
    return lines.story(lines.triggered(1), sent, acked, spoilt, given_up, lines.whole(2), listed)


@coord_near("state-not-discarded")
def the_harness_put_back_a_file_of_an_aborted_one() -> History:
    return _discarded(state_file(1))


@coord_bad("state-not-discarded")
def the_harness_put_back_another_file() -> History:
    return _discarded(metadata(1))


# --- what is read back -----------------------------------------------------------------------------------------------


def _read_back(problem: FileReference) -> list[Line]:
    audited = [CheckpointAudited(checkpoint=1, problem="cannot be read"), CheckpointAudited(checkpoint=2, problem="")]
    return [whole(1), whole(2), damaged(problem, 5), *audited]


@restore_near("audit-failed")
def the_damaged_cannot_be_read_back() -> History:
    return story(*_read_back(state_file(1)))


@restore_bad("audit-failed")
def another_than_the_damaged_cannot_be_read_back() -> History:
    return story(*_read_back(state_file(2)))


def _read_back_early(*then: Line) -> History:
    """Read back as soon as it has completed, in vain."""
    return story(whole(1), CheckpointAudited(checkpoint=1, problem="cannot be read"), *then)


@restore_bad("audit-failed")
def cannot_be_read_back_before_the_damage() -> History:
    return _read_back_early(damaged(state_file(1), 5))


@restore_near("audit-failed")
def the_damaged_cannot_be_read_back_and_is_mended() -> History:
    first = whole(1), damaged(state_file(1), 5), CheckpointAudited(checkpoint=1, problem="cannot be read")
    return story(*first, mended(state_file(1), 10), whole(2), CheckpointAudited(checkpoint=2, problem=""))


@state_near("state-unreadable")
def state_of_the_damaged_cannot_be_read_back() -> History:
    read = state.read_back(summary(state.A), summary(state.B))
    return story(*_read_back(state_file(1)), *read.events)


@state_bad("state-unreadable")
def state_of_another_cannot_be_read_back() -> History:
    return story(*_read_back(state_file(2)))


@state_bad("state-unreadable")
def state_cannot_be_read_back_before_the_damage() -> History:
    return _read_back_early(damaged(state_file(1), 5))


@snapshot_near("aborted-file-left")
def the_harness_put_back_a_file_of_the_pending() -> History:
    return snapshot.left_behind(snapshot.file(), before=(damaged(snapshot.file(), 5), mended(snapshot.file(), 10)))


@snapshot_bad("aborted-file-left")
def the_harness_put_back_another_than_that_of_the_pending() -> History:
    return snapshot.left_behind(snapshot.file(), before=(damaged(metadata(2)), mended(metadata(2))))
