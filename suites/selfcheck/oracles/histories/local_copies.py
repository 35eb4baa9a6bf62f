"""Histories for LOCAL: two sums keep copies of checkpoint 1 on their workers, and one of them is restored."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.suites.selfcheck.oracles.builder import OPTIONS, Line, at, exhibits, story

bad, near = exhibits("LOCAL")

ON = {
    **OPTIONS,
    "execution.state-recovery.from-local": "true",
    "execution.checkpointing.dir": "file:///checkpoints",
}
IN_MEMORY = {**OPTIONS, "execution.state-recovery.from-local": "true"}
COPY = "job-0/sum[0]/copy-1"
STORED = "checkpoints/job-0/chk-1/sum[0]"


def written(checkpoint: int = 1, subtask: str = "sum[0]") -> events.LocalCopyWritten:
    path, files = f"job-0/{subtask}/copy-{checkpoint}", (f"checkpoints/job-0/chk-{checkpoint}/{subtask}",)
    return events.LocalCopyWritten(subtask=subtask, checkpoint=checkpoint, path=path, files=files)


def spoilt(path: str = COPY) -> events.LocalCopySpoilt:
    return events.LocalCopySpoilt(worker=0, way="flip", paths=(path,))


def used(path: str = COPY) -> events.LocalCopyUsed:
    return events.LocalCopyUsed(subtask="sum[0]", checkpoint=1, path=path)


def refused(reason: str) -> events.LocalCopyRefused:
    return events.LocalCopyRefused(subtask="sum[0]", checkpoint=1, reason=reason)


def restarted(*lines: Line, options: Mapping[str, str] = ON, before: tuple[Line, ...] = ()) -> History:
    """Both sums write their copies and restore; what is said of the first is in `lines`."""
    return story(
        events.AttemptStarted(),
        *(events.TaskStarted(subtask=f"sum[{index}]") for index in (0, 1)),
        written(),
        written(subtask="sum[1]"),
        events.CheckpointCompleted(checkpoint=1),
        *before,
        events.AttemptStarted(restored_checkpoint=1),
        events.LocalCopyUsed(subtask="sum[1]", checkpoint=1, path="job-0/sum[1]/copy-1"),
        events.TaskStarted(subtask="sum[1]", restored_checkpoint=1),
        *lines,
        options=options,
    )


def starts() -> events.TaskStarted:
    return events.TaskStarted(subtask="sum[0]", restored_checkpoint=1)


@bad("kept-though-off")
def copies_of_what_is_in_memory() -> History:
    return story(events.AttemptStarted(), written(), options=IN_MEMORY)


@bad("kept-though-off")
def copies_that_nobody_asked_for() -> History:
    return story(events.AttemptStarted(), written(), options=OPTIONS)


@near("kept-though-off")
def no_copies_of_what_is_in_memory() -> History:
    return story(events.AttemptStarted(), options=IN_MEMORY)


def failing(operation: str, *answer: Line) -> History:
    failed = events.StorageFailed(
        operation=operation, path=COPY, reason="full", subtask="sum[0]", checkpoint=1, injected=True
    )
    return story(events.AttemptStarted(), at("worker-0.0", failed, 1), *answer, options=ON)


@bad("local-failure-counts")
def a_failed_copy_declines_the_checkpoint() -> History:
    return failing("write-local", events.DeclineSent(subtask="sum[0]", checkpoint=1, reason="full"))


@near("local-failure-counts")
def a_failed_copy_is_acknowledged_all_the_same() -> History:
    return failing("write-local", events.AckSent(subtask="sum[0]", checkpoint=1))


@bad("acked-unstored")
def state_that_is_local_alone_is_acknowledged() -> History:
    return failing("write-state", events.AckSent(subtask="sum[0]", checkpoint=1))


@near("acked-unstored")
def state_that_is_local_alone_is_declined() -> History:
    return failing("write-state", events.DeclineSent(subtask="sum[0]", checkpoint=1, reason="full"))


@bad("spoilt-copy-used")
def a_copy_that_was_changed_is_used() -> History:
    return restarted(used(), starts(), before=(spoilt(),))


@bad("spoilt-copy-used")
def the_copy_of_another_checkpoint_is_used() -> History:
    return restarted(used("job-0/sum[0]/copy-2"), starts(), before=(written(2), spoilt()))


@bad("spoilt-copy-used")
def a_copy_is_used_that_another_has_overwritten() -> History:
    other = events.LocalCopyWritten(subtask="sink[0]", checkpoint=1, path=COPY)
    return restarted(used(), starts(), before=(other,))


@near("spoilt-copy-used")
def an_intact_copy_is_used() -> History:
    return restarted(used(), starts())


@bad("spoilt-copy-fatal")
def a_changed_copy_fails_the_attempt() -> History:
    failure = events.FailureCounted(cause="restore of checkpoint 1: it is damaged", subtask="sum[0]")
    return restarted(failure, before=(spoilt(),))


@near("spoilt-copy-fatal")
def a_changed_copy_is_passed_over() -> History:
    return restarted(refused("damaged"), starts(), before=(spoilt(),))


@bad("intact-copy-unused")
def an_intact_copy_is_passed_over() -> History:
    return restarted(refused("absent"), starts())


@near("intact-copy-unused")
def an_intact_copy_and_no_store() -> History:
    return restarted(used(), starts())


@bad("intact-copy-unused")
def the_store_is_read_besides() -> History:
    return restarted(used(), events.StateFileRead(path=STORED, reader="worker-0.0"), starts())


@near("intact-copy-unused")
def a_disk_that_cannot_be_read() -> History:
    failed = events.StorageFailed(
        operation="read-local", path=COPY, reason="injected error", subtask="sum[0]", checkpoint=1, injected=True
    )
    return restarted(at("worker-0.0", failed, 2), refused("injected error"), starts())


def told(*checkpoints: int) -> list[Line]:
    return [
        events.NotificationReceived(subtask="sum[0]", checkpoint=checkpoint, completed=True)
        for checkpoint in checkpoints
    ]


@bad("copy-left")
def an_old_copy_lies_there() -> History:
    listed = events.LocalDiskListed(worker=0, paths=(COPY,))
    return story(events.AttemptStarted(), written(), *told(1, 2, 3), listed, options=ON)


@near("copy-left")
def the_newest_copy_lies_there() -> History:
    listed = events.LocalDiskListed(worker=0, paths=("job-0/sum[0]/copy-3",))
    return story(events.AttemptStarted(), written(), written(3), *told(1, 2, 3), listed, options=ON)


@bad("moved")
def two_subtasks_change_places() -> History:
    elsewhere = [
        at("worker-1.0", events.TaskStarted(subtask="sink[0]", restored_checkpoint=1), 2),
        at("worker-0.0", events.TaskStarted(subtask="sink[1]", restored_checkpoint=1), 2),
    ]
    return restarted(
        used(), starts(), *elsewhere, before=tuple(events.TaskStarted(subtask=f"sink[{i}]") for i in (0, 1))
    )


@near("moved")
def a_worker_is_gone() -> History:
    moved = at("worker-1.0", events.TaskStarted(subtask="sum[0]", restored_checkpoint=1), 2)
    return restarted(moved, before=(events.NodeDied(dead_node="worker-0.0", cause="killed"),))
