"""Histories for COUNT: failed checkpoints, and whether the job fails with them."""

from __future__ import annotations

from holdfast.harness.model.checkpoint import CheckpointOrigin, FailureReason, SavepointFormat, StopMode
from holdfast.harness.model.events import (
    AckOutcome, CheckpointRefused, DeclineReceived, RestartScheduled, SavepointTriggered,
)  # fmt: skip
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits
from holdfast.suites.selfcheck.oracles.lines import (
    NEXT_JOB, RESTARTING, RUNNING, aborted, acked, attempt, completed, died, drawn, failure, submitted, switched,
)  # fmt: skip

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

FAILED_OVER: dict[int, list[Line]] = {
    n: [failure("too many", failed_checkpoint=n), switched(RESTARTING), RestartScheduled(delay_ms=0), attempt(),
        switched(RUNNING)]
    for n in range(5)
}  # fmt: skip

bad, near = exhibits("COUNT", attempt(), switched(RUNNING), options=ONE)

FIRST_EXPIRES = aborted(1, FailureReason.EXPIRED)

bad("failed-below-tolerable", "failed with first", FIRST_EXPIRES, FAILED_OVER[1])
bad("failed-below-tolerable", "success does not help",
    FIRST_EXPIRES, completed(2), aborted(3, FailureReason.EXPIRED), FAILED_OVER[3])  # fmt: skip
bad("failed-below-tolerable", "one checkpoint counts twice", FIRST_EXPIRES, FIRST_EXPIRES, FAILED_OVER[1])
bad("failed-below-tolerable", "subsumed counts", aborted(1, FailureReason.SUBSUMED), FAILED_OVER[1], options=INTERVAL)

SECOND_EXPIRES = aborted(2, FailureReason.EXPIRED)

bad("failed-below-tolerable", "older than success counts",
    completed(3), SECOND_EXPIRES, FAILED_OVER[2], options=INTERVAL)  # fmt: skip
bad("failed-below-tolerable", "refused metadata counts in 1 14",
    aborted(1, FailureReason.FINALIZATION), FAILED_OVER[1], options=OF_1_14)  # fmt: skip
bad("failed-below-tolerable", "counts go on after failover",
    FIRST_EXPIRES, SECOND_EXPIRES, FAILED_OVER[2], aborted(3, FailureReason.EXPIRED), FAILED_OVER[3])  # fmt: skip
bad("failed-below-tolerable", "refusal counts",
    CheckpointRefused(request=1, origin=CheckpointOrigin.USER, reason=FailureReason.TASKS_NOT_RUNNING), FAILED_OVER[1],
    options=INTERVAL)  # fmt: skip
bad("failed-below-tolerable", "fails though told not to", FIRST_EXPIRES, FAILED_OVER[1], options=FORGIVING)
near("failed-below-tolerable", "failures and successes take turns",
     FIRST_EXPIRES, completed(2), aborted(3, FailureReason.EXPIRED), completed(4), aborted(5, FailureReason.EXPIRED),
     completed(6))  # fmt: skip
near("failed-below-tolerable", "fails over for another reason",
     died("worker-1"), aborted(1, FailureReason.TASK_FAILURE), FAILED_OVER[0], options=INTERVAL)  # fmt: skip

FAILS_WHILE_THE_JOB_RESTARTS: list[Line] = [completed(), died("worker-1"), failure("lost"), switched(RESTARTING)]
"""Checkpoint 2 was under way when a worker died."""

# As in Flink, which aborts what is under way when it starts the tasks again.
near("failed-below-tolerable", "expires while the job restarts",
     *FAILS_WHILE_THE_JOB_RESTARTS, SECOND_EXPIRES, FAILED_OVER[2], options=INTERVAL)  # fmt: skip
bad("failed-below-tolerable", "what a restart aborts counts",
    *FAILS_WHILE_THE_JOB_RESTARTS, aborted(2, FailureReason.TASK_FAILURE), FAILED_OVER[2],
    options=INTERVAL)  # fmt: skip
bad("failed-below-tolerable", "expires while the job restarts and is tolerable",
    *FAILS_WHILE_THE_JOB_RESTARTS, SECOND_EXPIRES, FAILED_OVER[2])  # fmt: skip

bad("tolerable-exceeded", "goes on with second", FIRST_EXPIRES, SECOND_EXPIRES, drawn(3))
bad("tolerable-exceeded", "the job before had a savepoint of this number",
    submitted(), SavepointTriggered(checkpoint=1, folder="sp-1", format=SavepointFormat.NATIVE, stop=StopMode.GO_ON),
    submitted(job=1), attempt(number=NEXT_JOB + 1), switched(RUNNING), FIRST_EXPIRES, drawn(2),
    options=INTERVAL)  # fmt: skip
bad("tolerable-exceeded", "refused metadata counts in 2",
    aborted(1, FailureReason.FINALIZATION), drawn(2), options=INTERVAL)  # fmt: skip
bad("tolerable-exceeded", "goes on behind late answers",
    FIRST_EXPIRES, SECOND_EXPIRES, acked(2, "sum[0]", outcome=AckOutcome.DISCARDED),
    DeclineReceived(checkpoint=2, subtask="sum[1]", reason="late"), drawn(3))  # fmt: skip

# Flink takes answers on another thread than the one that fails the job.
near("tolerable-exceeded", "fails behind late answers",
     FIRST_EXPIRES, SECOND_EXPIRES, acked(2, "sum[0]", outcome=AckOutcome.DISCARDED),
     DeclineReceived(checkpoint=2, subtask="sum[1]", reason="late"), FAILED_OVER[2])  # fmt: skip
near("tolerable-exceeded", "fails with second", FIRST_EXPIRES, SECOND_EXPIRES, FAILED_OVER[2])
near("tolerable-exceeded", "others end with it",
     FIRST_EXPIRES, aborted(2, FailureReason.TASK_FAILURE), FAILED_OVER[1], options=INTERVAL)  # fmt: skip
near("tolerable-exceeded", "new coordinator knows nothing",
     FIRST_EXPIRES, died("coordinator", "killed"), attempt(), switched(RUNNING), SECOND_EXPIRES, drawn(3),
     aborted(4, FailureReason.EXPIRED), FAILED_OVER[4])  # fmt: skip
