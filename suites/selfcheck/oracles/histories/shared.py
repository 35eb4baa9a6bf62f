"""Histories for SHARED: shared files that checkpoints reach, and what becomes of them."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import events
from holdfast.harness.model.checkpoint import SavepointFormat
from holdfast.harness.model.events import AckOutcome, FileReference, SharedFileUse, SharedHandle
from holdfast.harness.model.history import History
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits
from holdfast.suites.selfcheck.oracles.builder import story as any_story

bad, near = exhibits("SHARED")

SUM = "sum[0]"
INTERVAL = {"execution.checkpointing.interval": "100 ms"}
OF_1_14 = {**INTERVAL, "holdfast.profile": "flink-1.14"}
ONE, TWO, THREE = (FileReference(f"shared/{name}", 10, name) for name in (1, 2, 3))


def story(*lines: Line, options: Mapping[str, str] = INTERVAL) -> History:
    return any_story(events.CoordinatorClaimed(epoch=1), events.AttemptStarted(), *lines, options=options)


def new(file: FileReference, name: str = "") -> SharedHandle:
    return SharedHandle(name or str(file.checksum), file)


def again(file: FileReference) -> SharedHandle:
    return SharedHandle(str(file.checksum))


def acked(
    checkpoint: int, *shared: SharedHandle, outcome: AckOutcome = AckOutcome.SUCCESS, subtask: str = SUM
) -> list[events.Event]:
    """An acknowledgement, with what it names as stored by it."""
    files = tuple(handle.file for handle in shared if handle.file is not None)
    return [
        *(at("worker-0.0", events.FileWritten(file=file)) for file in files),
        events.AckSent(checkpoint=checkpoint, subtask=subtask, files=files, shared=shared),
        events.AckReceived(checkpoint=checkpoint, subtask=subtask, outcome=outcome),
    ]


def registered(checkpoint: int, *files: FileReference, uses: tuple[int, ...] = ()) -> events.SharedStateRegistered:
    counts = uses or (1,) * len(files)
    return events.SharedStateRegistered(
        checkpoint=checkpoint,
        files=tuple(
            SharedFileUse(f"{SUM}/{file.checksum}", file.path, count) for file, count in zip(files, counts, strict=True)
        ),
    )


def triggered(checkpoint: int, *participants: str) -> events.CheckpointTriggered:
    return events.CheckpointTriggered(checkpoint=checkpoint, participants=participants or (SUM,))


def completed(checkpoint: int, *files: FileReference) -> list[events.Event]:
    return [
        events.MetadataPublished(checkpoint=checkpoint, path=f"chk-{checkpoint}/_metadata", files=files),
        events.CheckpointCompleted(checkpoint=checkpoint),
        events.NotificationSent(checkpoint=checkpoint, subtask=SUM, completed=True),
        events.NotificationReceived(checkpoint=checkpoint, subtask=SUM, completed=True),
    ]


def whole(checkpoint: int, *files: FileReference, uses: tuple[int, ...] = (), new_ones: int = 1) -> list[events.Event]:
    """A checkpoint of these files, of which the first ones are new."""
    handles = [*map(new, files[:new_ones]), *map(again, files[new_ones:])]
    return [
        triggered(checkpoint),
        *acked(checkpoint, *handles),
        registered(checkpoint, *files, uses=uses),
        *completed(checkpoint, *files),
    ]


def dropped(checkpoint: int) -> events.CheckpointDropped:
    return events.CheckpointDropped(checkpoint=checkpoint)


def aborted(checkpoint: int) -> events.CheckpointAborted:
    return events.CheckpointAborted(checkpoint=checkpoint, reason="expired")


def deleted(file: FileReference) -> events.FileDeleted:
    return at("coordinator.0", events.FileDeleted(path=file.path))


def listed(*files: FileReference) -> events.StorageListed:
    return events.StorageListed(files=files)


@bad("deleted-in-use")
def goes_with_an_older_checkpoint() -> History:
    return story(whole(1, ONE), whole(2, TWO, ONE, uses=(1, 2)), dropped(1), deleted(ONE))


@near("deleted-in-use")
def goes_with_the_last_checkpoint() -> History:
    return story(whole(1, ONE), whole(2, TWO, ONE, uses=(1, 2)), dropped(1), whole(3, THREE), dropped(2), deleted(ONE))


@bad("deleted-in-use")
def a_pending_checkpoint_rests_on_it() -> History:
    pending = [triggered(3), *acked(3, again(ONE)), registered(3, ONE, uses=(2,))]
    return story(whole(1, ONE), triggered(2), pending, whole(2, TWO), dropped(1), deleted(ONE))


@bad("deleted-in-use")
def it_was_gone_when_a_snapshot_referred_to_it() -> History:
    late = [triggered(3), *acked(3, again(ONE)), registered(3, ONE, uses=(2,))]
    return story(whole(1, ONE), whole(2, TWO), dropped(1), deleted(ONE), late)


@near("deleted-in-use")
def the_pending_checkpoint_was_aborted() -> History:
    pending = [triggered(3), *acked(3, again(ONE)), registered(3, ONE, uses=(2,))]
    return story(whole(1, ONE), pending, whole(2, TWO), aborted(3), dropped(1), deleted(ONE))


@bad("deleted-in-use")
def it_goes_while_it_is_restored() -> History:
    again_started = events.AttemptStarted(restored_checkpoint=1)
    return story(whole(1, ONE), again_started, dropped(1), deleted(ONE))


@bad("deleted-in-use")
def nobody_finds_what_a_pending_checkpoint_has() -> History:
    pending = [triggered(2), *acked(2, new(TWO)), registered(2, TWO)]
    look = events.StorageObserved(checkpoint=1, coordinator="coordinator.0", recorded=99, paths=(ONE.path,), files=())
    one = whole(1, ONE)
    return story(one[:-3], pending, one[-3:], look)


@near("deleted-in-use")
def what_a_pending_checkpoint_has_is_found() -> History:
    pending = [triggered(2), *acked(2, new(TWO)), registered(2, TWO)]
    paths = (ONE.path, TWO.path)
    look = events.StorageObserved(checkpoint=1, coordinator="coordinator.0", recorded=99, paths=paths, files=())
    one = whole(1, ONE)
    return story(one[:-3], pending, one[-3:], look)


@bad("unconfirmed-base")
def rests_on_what_was_only_uploaded() -> History:
    first = [triggered(1), *acked(1, new(ONE)), registered(1, ONE)]
    second = [triggered(2), *acked(2, new(TWO), again(ONE)), registered(2, TWO, ONE, uses=(1, 2))]
    return story(first, second)


@near("unconfirmed-base")
def rests_on_what_completed() -> History:
    return story(whole(1, ONE), whole(2, TWO, ONE, uses=(1, 2)))


def user_savepoint(checkpoint: int) -> events.SavepointTriggered:
    return events.SavepointTriggered(checkpoint=checkpoint, folder="savepoints/1/", format=SavepointFormat.NATIVE)


@bad("savepoint-shares")
def a_savepoint_rests_on_a_checkpoint() -> History:
    return story(whole(1, ONE), user_savepoint(2), triggered(2), acked(2, again(ONE)), registered(2, ONE, uses=(2,)))


@near("savepoint-shares")
def a_savepoint_has_everything_itself() -> History:
    return story(whole(1, ONE), user_savepoint(2), triggered(2), acked(2), whole(3, TWO, ONE, uses=(1, 2)))


@bad("wrong-files")
def a_placeholder_becomes_another_file() -> History:
    two = [triggered(2), *acked(2, again(ONE)), registered(2, ONE, uses=(2,))]
    other = acked(1, new(TWO), subtask="sum[1]")
    first = [
        triggered(1, SUM, "sum[1]"), *acked(1, new(ONE)), registered(1, ONE), *other, registered(1, ONE, TWO),
        *completed(1, ONE, TWO),
    ]  # fmt: skip
    return story(first, two, completed(2, TWO))


@near("wrong-files")
def equal_names_of_two_subtasks_are_two_files() -> History:
    other = acked(1, new(TWO, name="1"), subtask="sum[1]")
    first = [
        triggered(1, SUM, "sum[1]"), *acked(1, new(ONE)), registered(1, ONE), *other, registered(1, ONE, TWO),
        *completed(1, ONE, TWO),
    ]  # fmt: skip
    two = [triggered(2), *acked(2, again(ONE)), registered(2, ONE, uses=(2,)), *completed(2, ONE)]
    return story(first, two)


@bad("conflict-accepted")
def one_name_for_two_files_completes() -> History:
    two = [triggered(2), *acked(2, new(TWO, name="1")), registered(2, TWO), *completed(2, TWO)]
    return story(whole(1, ONE), two)


@near("conflict-accepted")
def one_name_for_two_files_is_rejected() -> History:
    rejected = events.SharedStateRejected(checkpoint=2, subtask=SUM, reason="one name for two files")
    return story(whole(1, ONE), triggered(2), acked(2, new(TWO, name="1")), rejected, aborted(2))


@bad("placeholder-accepted")
def an_unknown_name_completes() -> History:
    return story(triggered(1), acked(1, new(ONE), again(TWO)), registered(1, ONE), completed(1, ONE))


@near("placeholder-accepted")
def an_unknown_name_is_rejected() -> History:
    rejected = events.SharedStateRejected(checkpoint=1, subtask=SUM, reason="2 stands for nothing")
    return story(triggered(1), acked(1, new(ONE), again(TWO)), rejected, aborted(1))


@bad("left-behind")
def stays_when_no_checkpoint_reaches_it() -> History:
    return story(whole(1, ONE), whole(2, TWO), dropped(1), whole(3, THREE), triggered(4), completed(4),
                 listed(ONE, TWO, THREE))  # fmt: skip


@near("left-behind")
def goes_when_no_checkpoint_reaches_it() -> History:
    return story(whole(1, ONE), whole(2, TWO), dropped(1), deleted(ONE), whole(3, THREE), triggered(4), completed(4),
                 listed(TWO, THREE))  # fmt: skip


@bad("late-state-left")
def state_of_a_late_acknowledgement_stays() -> History:
    late = [triggered(1), aborted(1), *acked(1, new(ONE), outcome=AckOutcome.DISCARDED)]
    return story(late, whole(2, TWO), whole(3, THREE), listed(ONE, TWO, THREE))


@near("late-state-left")
def state_of_a_late_acknowledgement_goes() -> History:
    late = [triggered(1), aborted(1), *acked(1, new(ONE), outcome=AckOutcome.DISCARDED), deleted(ONE)]
    return story(late, whole(2, TWO), whole(3, THREE), listed(TWO, THREE))


@bad("registered-untimely")
def not_registered_with_the_acknowledgement() -> History:
    return story(triggered(1), acked(1, new(ONE)), completed(1, ONE))


@bad("registered-untimely")
def registered_before_all_have_acknowledged() -> History:
    return story(triggered(1, SUM, "sum[1]"), acked(1, new(ONE)), registered(1, ONE), options=OF_1_14)


@near("registered-untimely")
def registered_when_all_have_acknowledged() -> History:
    both = [*acked(1, new(ONE)), *acked(1, new(TWO), subtask="sum[1]")]
    return story(triggered(1, SUM, "sum[1]"), both, registered(1, ONE, TWO), completed(1, ONE, TWO), options=OF_1_14)


@bad("uses-misreported")
def counts_one_use_too_many() -> History:
    return story(whole(1, ONE), whole(2, TWO, ONE, uses=(1, 3)))


@near("uses-misreported")
def counts_uses_down_to_none() -> History:
    use = SharedFileUse(f"{SUM}/1", ONE.path, 0)
    released = events.SharedStateReleased(checkpoint=1, files=(use,))
    return story(whole(1, ONE), whole(2, TWO), dropped(1), released, deleted(ONE))
