"""Histories for LOUD: starts after a checkpoint, and plans with options to refuse."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.harness.model.history import History, RunEnd
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, story
from holdfast.suites.selfcheck.oracles.legal import SUBTASKS, summary

bad, near = exhibits("LOUD")


def completed(checkpoint: int) -> list[Line]:
    return [
        events.CheckpointTriggered(checkpoint=checkpoint, participants=SUBTASKS),
        events.SnapshotTaken(subtask="sum[0]", checkpoint=checkpoint, state=summary([(0, 0)])),
        events.MetadataPublished(
            checkpoint=checkpoint, path=f"chk-{checkpoint}/_metadata", files=(), states=len(SUBTASKS)
        ),
        events.CheckpointCompleted(checkpoint=checkpoint),
    ]


def restarted(restored: int | None, *lines: Line, since: int = 2) -> History:
    """Checkpoints up to `since` complete, then the job restarts."""
    done = [line for checkpoint in range(1, since + 1) for line in completed(checkpoint)]
    failed = events.FailureCounted(cause="worker lost")
    return story(events.AttemptStarted(), *done, failed, *lines, events.AttemptStarted(restored_checkpoint=restored))


def sum_starts(*held: tuple[int, int]) -> History:
    """The restored checkpoint holds a record of the sum."""
    started = events.TaskStarted(subtask="sum[0]", restored_checkpoint=1, state=summary(held))
    failed = events.FailureCounted(cause="worker lost")
    return story(events.AttemptStarted(), *completed(1), failed, events.AttemptStarted(restored_checkpoint=1), started)


@bad("started-empty")
def job_starts_empty() -> History:
    return restarted(None)


@bad("started-empty")
def job_starts_empty_after_an_unreadable_checkpoint() -> History:
    return restarted(None, events.RecoveryFailed(checkpoint=2, reason="cannot be read"))


@bad("started-empty")
def subtask_starts_empty() -> History:
    return sum_starts()


@near("started-empty")
def subtask_starts_with_state() -> History:
    return sum_starts((0, 0))


@near("started-empty")
def the_next_job_uses_the_id_again() -> History:
    """In checkpoint 1 of the first job the sum holds nothing, in that of the next, which starts empty, a record."""
    nothing = events.SnapshotTaken(subtask="sum[0]", checkpoint=1, state=summary(()))
    another = events.TaskStarted(subtask="sum[1]", restored_checkpoint=1, state=summary([(0, 1)]))
    held = events.SnapshotTaken(subtask="sum[1]", checkpoint=1, state=summary([(0, 1)]))
    published = events.MetadataPublished(checkpoint=1, path="chk-1/_metadata", files=(), states=len(SUBTASKS))
    return story(
        events.JobSubmitted(),
        events.AttemptStarted(),
        *(events.CheckpointTriggered(checkpoint=1, participants=SUBTASKS), nothing, held, published),
        *(events.CheckpointCompleted(checkpoint=1), events.FailureCounted(cause="worker lost")),
        events.AttemptStarted(restored_checkpoint=1),
        events.TaskStarted(subtask="sum[0]", restored_checkpoint=1, state=summary(())),
        another,
        *(
            events.JobSwitched(status=events.JobStatus.CANCELED),
            events.JobSubmitted(attempt=1_000),
            events.AttemptStarted(attempt=1_001),
        ),
        *completed(1),
    )


@bad("started-older")
def job_starts_from_the_one_before() -> History:
    return restarted(1)


@near("started-older")
def job_starts_from_the_latest() -> History:
    return restarted(2)


@near("started-older")
def job_fails_and_is_started_again_by_its_user() -> History:
    said = (
        events.RecoveryFailed(checkpoint=2, reason="cannot be read"),
        events.JobSwitched(status=events.JobStatus.FAILED),
    )
    lines = [
        *completed(1),
        events.FailureCounted(cause="x"),
        events.AttemptStarted(restored_checkpoint=1),
        *completed(2),
    ]
    return story(events.AttemptStarted(), *lines, *said, events.AttemptStarted(restored_checkpoint=1))


def from_a_savepoint(states: int) -> History:
    """A savepoint that is no recovery point of its job, and holds so many states; the next job restores it."""
    participants = events.CheckpointTriggered(checkpoint=2, participants=SUBTASKS)
    savepoint = events.SavepointCompleted(checkpoint=2, path="savepoint/_metadata", files=(), states=states)
    return story(
        *(events.JobSubmitted(), events.AttemptStarted(), *completed(1), participants, savepoint, *completed(3)),
        events.JobSubmitted(attempt=1_000, path="savepoint/_metadata", checkpoint=2),
        events.AttemptStarted(attempt=1_001, restored_checkpoint=2),
    )


@bad("partial-metadata")
def restores_a_savepoint_that_lacks_a_state() -> History:
    return from_a_savepoint(len(SUBTASKS) - 1)


@near("partial-metadata")
def restores_a_whole_savepoint() -> History:
    return from_a_savepoint(len(SUBTASKS))


@bad("partial-metadata")
def restores_unpublished() -> History:
    return restarted(3)


@bad("partial-metadata")
def restores_half_of_the_states() -> History:
    return story(
        events.AttemptStarted(),
        events.CheckpointTriggered(checkpoint=1, participants=SUBTASKS),
        events.MetadataPublished(checkpoint=1, path="chk-1/_metadata", files=(), states=3),
        events.AttemptStarted(restored_checkpoint=1),
    )


@near("partial-metadata")
def restores_published() -> History:
    return story(events.AttemptStarted(), *completed(1)[:3], events.AttemptStarted(restored_checkpoint=1))


def _submitted(*lines: Line, expected: ExpectedEnd, reached: bool = True, reason: str = "") -> History:
    return story(*lines, expected=expected, end=RunEnd(reached=reached, reason=reason))


@bad("accepted-bad-option")
def bad_option_runs() -> History:
    return _submitted(
        events.AttemptStarted(), events.JobSwitched(status=events.JobStatus.RUNNING), expected=ExpectedEnd.REFUSED
    )


@bad("accepted-bad-option")
def bad_option_is_accepted() -> History:
    return _submitted(expected=ExpectedEnd.REFUSED, reached=False, reason="the configuration was accepted")


@near("accepted-bad-option")
def bad_option_is_refused() -> History:
    return _submitted(expected=ExpectedEnd.REFUSED, reason="interval = '1 ms' is too small")


@bad("refused-good-option")
def good_option_is_refused() -> History:
    return _submitted(expected=ExpectedEnd.RUNNING, reached=False, reason="refused: interval = '1 s' is too small")


@near("refused-good-option")
def good_option_runs() -> History:
    return _submitted(
        events.AttemptStarted(), events.JobSwitched(status=events.JobStatus.RUNNING), expected=ExpectedEnd.RUNNING
    )


def unreached(*ends: str) -> History:
    """A worker does not reach the directory, and the job fails for these reasons."""
    failed = events.StorageFailed(operation="reach-directory", path="hdfs:///checkpoints", reason="no such host")
    told = [events.JobSwitched(status=events.JobStatus.FAILED, reason=reason) for reason in ends]
    return story(at("worker-1.0", failed), *told, expected=ExpectedEnd.FAILED)


@bad("directory-not-named")
def unreached_and_nobody_minds() -> History:
    return unreached()


@bad("directory-not-named")
def unreached_and_another_worker_is_named() -> History:
    return unreached("worker-0.0 cannot reach hdfs:///checkpoints")


@bad("directory-not-named")
def unreached_and_another_directory_is_named() -> History:
    return unreached("worker-1.0 cannot reach hdfs:///others")


@near("directory-not-named")
def unreached_and_both_are_named() -> History:
    return unreached("worker-1.0 cannot reach the checkpoint directory hdfs:///checkpoints: no such host")
