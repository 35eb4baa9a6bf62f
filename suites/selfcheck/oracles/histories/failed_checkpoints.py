"""Histories for COUNT: failed checkpoints, and whether the job fails with them."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import events
from holdfast.harness.model.checkpoint import CheckpointOrigin, FailureReason
from holdfast.harness.model.history import History
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits
from holdfast.suites.selfcheck.oracles.builder import story as any_story

bad, near = exhibits("COUNT")

INTERVAL = {
    "execution.checkpointing.interval": "100 ms",
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.attempts": "9",
    "restart-strategy.fixed-delay.delay": "0 s",
}
TOLERABLE = "execution.checkpointing.tolerable-failed-checkpoints"
ONE = {**INTERVAL, TOLERABLE: "1"}
OF_1_14 = {**INTERVAL, "holdfast.profile": "flink-1.14"}
FORGIVING = {**INTERVAL, "holdfast.fail-on-checkpointing-errors": "false"}


def story(*lines: Line, options: Mapping[str, str] = INTERVAL) -> History:
    return any_story(
        events.AttemptStarted(), events.JobSwitched(status=events.JobStatus.RUNNING), *lines, options=options
    )


def failed(checkpoint: int, reason: FailureReason = FailureReason.EXPIRED) -> events.CheckpointAborted:
    return events.CheckpointAborted(checkpoint=checkpoint, reason=reason)


def completed(checkpoint: int) -> events.CheckpointCompleted:
    return events.CheckpointCompleted(checkpoint=checkpoint)


def drawn(checkpoint: int) -> events.CheckpointDrawn:
    return events.CheckpointDrawn(checkpoint=checkpoint, request=checkpoint, origin=CheckpointOrigin.PERIODIC)


def answered_late(checkpoint: int) -> list[events.Event]:
    """A task acknowledges a checkpoint that is over, and another one declines it."""
    return [
        events.AckReceived(checkpoint=checkpoint, subtask="sum[0]", outcome=events.AckOutcome.DISCARDED),
        events.DeclineReceived(checkpoint=checkpoint, subtask="sum[1]", reason="late"),
    ]


def failed_over(checkpoint: int = 0) -> list[events.Event]:
    """The job fails over, because of a checkpoint or for another reason, and runs again at once."""
    return [
        events.FailureCounted(cause="too many", failed_checkpoint=checkpoint),
        events.JobSwitched(status=events.JobStatus.RESTARTING),
        events.RestartScheduled(delay_ms=0),
        events.AttemptStarted(),
        events.JobSwitched(status=events.JobStatus.RUNNING),
    ]


@bad("failed-below-tolerable")
def failed_with_first() -> History:
    return story(failed(1), failed_over(1), options=ONE)


@bad("failed-below-tolerable")
def success_does_not_help() -> History:
    return story(failed(1), completed(2), failed(3), failed_over(3), options=ONE)


@bad("failed-below-tolerable")
def one_checkpoint_counts_twice() -> History:
    return story(failed(1), failed(1), failed_over(1), options=ONE)


@bad("failed-below-tolerable")
def subsumed_counts() -> History:
    return story(failed(1, FailureReason.SUBSUMED), failed_over(1))


@bad("failed-below-tolerable")
def older_than_success_counts() -> History:
    return story(completed(3), failed(2), failed_over(2))


@bad("failed-below-tolerable")
def refused_metadata_counts_in_1_14() -> History:
    return story(failed(1, FailureReason.FINALIZATION), failed_over(1), options=OF_1_14)


@bad("failed-below-tolerable")
def counts_go_on_after_failover() -> History:
    return story(failed(1), failed(2), failed_over(2), failed(3), failed_over(3), options=ONE)


@bad("failed-below-tolerable")
def refusal_counts() -> History:
    reason = FailureReason.TASKS_NOT_RUNNING
    refused = events.CheckpointRefused(request=1, origin=CheckpointOrigin.USER, reason=reason)
    return story(refused, failed_over(1))


@bad("failed-below-tolerable")
def fails_though_told_not_to() -> History:
    return story(failed(1), failed_over(1), options=FORGIVING)


@near("failed-below-tolerable")
def failures_and_successes_take_turns() -> History:
    return story(failed(1), completed(2), failed(3), completed(4), failed(5), completed(6), options=ONE)


@near("failed-below-tolerable")
def fails_over_for_another_reason() -> History:
    return story(
        events.NodeDied(dead_node="worker-1", cause="kill"), failed(1, FailureReason.TASK_FAILURE), failed_over()
    )


def _fails_while_the_job_restarts(reason: FailureReason, options: Mapping[str, str] = INTERVAL) -> History:
    """Checkpoint 2 was under way when a worker died."""
    restarting = events.JobSwitched(status=events.JobStatus.RESTARTING)
    death = [events.NodeDied(dead_node="worker-1", cause="kill"), events.FailureCounted(cause="lost"), restarting]
    return story(completed(1), death, failed(2, reason), failed_over(2), options=options)


@near("failed-below-tolerable")
def expires_while_the_job_restarts() -> History:
    """As in Flink, which aborts what is under way when it starts the tasks again."""
    return _fails_while_the_job_restarts(FailureReason.EXPIRED)


@bad("failed-below-tolerable")
def what_a_restart_aborts_counts() -> History:
    return _fails_while_the_job_restarts(FailureReason.TASK_FAILURE)


@bad("failed-below-tolerable")
def expires_while_the_job_restarts_and_is_tolerable() -> History:
    return _fails_while_the_job_restarts(FailureReason.EXPIRED, ONE)


@bad("tolerable-exceeded")
def goes_on_with_second() -> History:
    return story(failed(1), failed(2), drawn(3), options=ONE)


@bad("tolerable-exceeded")
def refused_metadata_counts_in_2() -> History:
    return story(failed(1, FailureReason.FINALIZATION), drawn(2))


@bad("tolerable-exceeded")
def goes_on_behind_late_answers() -> History:
    return story(failed(1), failed(2), answered_late(2), drawn(3), options=ONE)


@near("tolerable-exceeded")
def fails_behind_late_answers() -> History:
    """Flink takes answers on another thread than the one that fails the job."""
    return story(failed(1), failed(2), answered_late(2), failed_over(2), options=ONE)


@near("tolerable-exceeded")
def fails_with_second() -> History:
    return story(failed(1), failed(2), failed_over(2), options=ONE)


@near("tolerable-exceeded")
def others_end_with_it() -> History:
    return story(failed(1), failed(2, FailureReason.TASK_FAILURE), failed_over(1))


@near("tolerable-exceeded")
def new_coordinator_knows_nothing() -> History:
    died = events.NodeDied(dead_node="coordinator", cause="killed")
    again = [events.AttemptStarted(), events.JobSwitched(status=events.JobStatus.RUNNING)]
    return story(failed(1), died, again, failed(2), drawn(3), failed(4), failed_over(4), options=ONE)
