"""Histories for PROGRESS: a job that stands, and a job that runs with a batch, a checkpoint or a commit that stands."""

from __future__ import annotations

from holdfast.harness.model.configuration import EffectiveConfiguration
from holdfast.harness.model.events import (
    BarrierReceived, CommitFailed, CommitTried, DeclineSent, FinishReceived, JobConfigured, NodeStarted, RescaleRefused,
    RescaleRequested, RestartScheduled, SubtaskFinished, TaskStarted, TransactionCommitted,
)  # fmt: skip
from holdfast.harness.model.jobs import MINI_BATCH
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.suites.selfcheck.oracles.builder import OPTIONS, Line, at, exhibits, injected
from holdfast.suites.selfcheck.oracles.legal import SUBTASKS
from holdfast.suites.selfcheck.oracles.lines import (
    CANCELED, CANCELLING, FAILED, FINISHED, RESTARTING, RUNNING, Barrier, aborted, ack_sent, acked, attempt, completed,
    delivers, died, drawn, failure, heard, in_flight, of_each, sends, snapshot, stopped, switched, task, triggered,
)  # fmt: skip

# --- PROGRESS: a job that stands before an attempt of it runs, and one that a user has ended --------------------------


WITHOUT_CHECKPOINTS = {"pipeline.operator-chaining.enabled": "false"}
ALL_BUT_ONE = SUBTASKS[:-1]
LAST = SUBTASKS[-1]
ALL_RUN: list[Line] = [attempt(), *of_each(TaskStarted, *SUBTASKS), switched(RUNNING)]

FAILED_OVER: dict[int, list[Line]] = {
    delay_ms: [failure("it failed", LAST), switched(RESTARTING), RestartScheduled(delay_ms=delay_ms)]
    for delay_ms in (20, 800, 900)
}
"""All fail with the last subtask, and begin again after so many milliseconds."""

LAST_FAILED: list[Line] = [failure("it failed", LAST, LAST), *FAILED_OVER[20][1:]]
"""It alone fails."""

bad, near = exhibits("PROGRESS", options=WITHOUT_CHECKPOINTS)

bad("task-not-stopped", "one runs on after the failure", ALL_RUN, FAILED_OVER[20], stopped(*ALL_BUT_ONE))
bad("task-not-stopped", "one of the region runs on",
    ALL_RUN, failure("it failed", LAST, LAST, "sum[1]"), *FAILED_OVER[20][1:], stopped(LAST))  # fmt: skip
near("task-not-stopped", "another region runs on",
     ALL_RUN, LAST_FAILED, stopped(LAST), attempt(None, LAST), task(LAST), switched(RUNNING))  # fmt: skip
near("task-not-stopped", "its worker has died",
     ALL_RUN, died("worker-1"), FAILED_OVER[20],
     stopped(*[each for each in SUBTASKS if "[1]" not in each]))  # fmt: skip
near("task-not-stopped", "it had finished",
     ALL_RUN, SubtaskFinished(subtask=LAST), FAILED_OVER[900], stopped(*ALL_BUT_ONE))  # fmt: skip

bad("stop-not-noticed", "a subtask stops and nobody counts that", ALL_RUN, stopped(LAST))
near("stop-not-noticed", "it stops when the run ends",
     ALL_RUN, 900, stopped(LAST), switched(CANCELED), expected=ExpectedEnd.CANCELED)  # fmt: skip
near("stop-not-noticed", "its failure was counted",
     ALL_RUN, stopped(LAST), FAILED_OVER[900], stopped(*ALL_BUT_ONE), ALL_RUN, stopped(LAST), FAILED_OVER[900],
     stopped(*ALL_BUT_ONE))  # fmt: skip

bad("attempt-not-started", "nothing begins",
    [at(each, NodeStarted()) for each in ("coordinator.0", "worker-0.0", "worker-1.0")],
    JobConfigured(configuration=EffectiveConfiguration(())))  # fmt: skip
bad("attempt-not-started", "nothing begins again", ALL_RUN, FAILED_OVER[20], stopped(*SUBTASKS))
bad("attempt-not-started", "a region does not begin again", ALL_RUN, LAST_FAILED, stopped(LAST))
bad("attempt-not-started", "a new coordinator begins nothing",
    ALL_RUN, died(), at("coordinator.1", NodeStarted()), stopped(*SUBTASKS))  # fmt: skip
near("attempt-not-started", "the next attempt begins", ALL_RUN, FAILED_OVER[20], stopped(*SUBTASKS), ALL_RUN)
near("attempt-not-started", "the delay is not over", ALL_RUN, FAILED_OVER[800], stopped(*SUBTASKS))
near("attempt-not-started", "a worker is gone", ALL_RUN, died("worker-1"), FAILED_OVER[20], stopped(*SUBTASKS))
near("attempt-not-started", "the job has failed",
     ALL_RUN, FAILED_OVER[20], stopped(*SUBTASKS), switched(FAILED), expected=ExpectedEnd.FAILED)  # fmt: skip

bad("task-not-started", "one does not start", attempt(), of_each(TaskStarted, *ALL_BUT_ONE))
bad("task-not-started", "one starts in the attempt before",
    ALL_RUN, FAILED_OVER[20], stopped(*SUBTASKS), attempt(), of_each(TaskStarted, *ALL_BUT_ONE),
    at("", task(LAST), attempt=1))  # fmt: skip
near("task-not-started", "its worker dies first", attempt(), of_each(TaskStarted, *ALL_BUT_ONE), died("worker-1"))
near("task-not-started", "its attempt fails first",
     attempt(), of_each(TaskStarted, *ALL_BUT_ONE), FAILED_OVER[900], stopped(*ALL_BUT_ONE))  # fmt: skip

bad("job-not-running", "nobody says that it runs", attempt(), of_each(TaskStarted, *SUBTASKS))
bad("job-not-running", "it ran before the failure",
    ALL_RUN, FAILED_OVER[20], stopped(*SUBTASKS), attempt(), of_each(TaskStarted, *SUBTASKS))  # fmt: skip
near("job-not-running", "it runs", ALL_RUN)

ENDED = [kind(subtask=each) for each in SUBTASKS for kind in (SubtaskFinished, FinishReceived)]

bad("job-not-finished", "every subtask has ended", ALL_RUN, ENDED)
near("job-not-finished", "it finishes", ALL_RUN, ENDED, switched(FINISHED), expected=ExpectedEnd.FINISHED)
near("job-not-finished", "one has not ended",
     ALL_RUN, ENDED, switched(FINISHED), ALL_RUN, ENDED[-2:], expected=ExpectedEnd.FINISHED)  # fmt: skip

CANCEL = at("harness", injected("cancel", "job"))

bad("command-ignored", "a cancelled job runs on", ALL_RUN, 100, CANCEL, expected=ExpectedEnd.CANCELED)
bad("command-ignored", "a suspended job restarts",
    ALL_RUN, 100, at("harness", injected("suspend", "job")), 600, FAILED_OVER[20], stopped(*SUBTASKS), ALL_RUN,
    expected=ExpectedEnd.SUSPENDED)  # fmt: skip

RESCALE = at("harness", injected("rescale", "job"))

bad("command-ignored", "nobody takes up a rescale", ALL_RUN, 100, RESCALE)
near("command-ignored", "a rescale is refused",
     ALL_RUN, 100, RESCALE, RescaleRequested(parallelism=3),
     RescaleRefused(parallelism=3, reason="there are too few workers."))  # fmt: skip
near("command-ignored", "it is obeyed",
     ALL_RUN, 100, CANCEL, switched(CANCELLING), switched(CANCELED), expected=ExpectedEnd.CANCELED)  # fmt: skip
near("command-ignored", "the coordinator dies with the second",
     ALL_RUN, 100, CANCEL, switched(CANCELED), ALL_RUN, 100, CANCEL, died(), expected=ExpectedEnd.CANCELED)  # fmt: skip

bad("end-not-finished", "it stays half cancelled",
    ALL_RUN, 100, CANCEL, switched(CANCELLING), expected=ExpectedEnd.CANCELED)  # fmt: skip
near("end-not-finished", "it is cancelled",
     ALL_RUN, 100, CANCEL, switched(CANCELLING), switched(CANCELED), expected=ExpectedEnd.CANCELED)  # fmt: skip

# --- PROGRESS: what a mini-batch holds back for 15 ms -----------------------------------------------------------------

bad, near = exhibits(
    "PROGRESS", delivers("source[0]->buffer[0]", 0, records=3), job=MINI_BATCH, options=WITHOUT_CHECKPOINTS
)

bad("held-back-too-long", "the second time takes too long",
    13, sends("buffer[0]->sum[0]", 0, records=3), delivers("source[0]->buffer[0]", 1, records=3), 20,
    delivers("source[0]->buffer[0]", 2, records=3), 20, sends("buffer[0]->sum[0]", 1, records=3))  # fmt: skip
near("held-back-too-long", "each time counts from the first",
     10, delivers("source[0]->buffer[0]", 1, records=3), 2, sends("buffer[0]->sum[0]", 0, records=3), 60,
     delivers("source[0]->buffer[0]", 2, records=3), 13, sends("buffer[0]->sum[0]", 1, records=3))  # fmt: skip

# --- PROGRESS: a job that runs, and a checkpoint or a commit that stands ----------------------------------------------

SUM = "sum[0]"
AROUND = ("source[0]->sum[0]", "source[1]->sum[0]", "sum[0]->sink[0]")
"""Its inputs and its output."""

bad, near = exhibits("PROGRESS", ALL_RUN, options=WITHOUT_CHECKPOINTS)

bad("checkpoint-not-triggered", "only its id is drawn", drawn(1))
near("checkpoint-not-triggered", "it is triggered", drawn(1), triggered(1, *SUBTASKS))
near("checkpoint-not-triggered", "its id is not durable", drawn(1), aborted())
near("checkpoint-not-triggered", "the job fails over first",
     drawn(1), FAILED_OVER[20], stopped(*SUBTASKS), ALL_RUN, drawn(2), triggered(2, *SUBTASKS))  # fmt: skip

bad("checkpoint-not-ended", "every acknowledgement is there", triggered(1, *SUBTASKS), acked(1, *SUBTASKS))
near("checkpoint-not-ended", "it completes", triggered(1, *SUBTASKS), acked(1, *SUBTASKS), completed())
near("checkpoint-not-ended", "it cannot be stored", triggered(1, *SUBTASKS), acked(1, *SUBTASKS), aborted())
near("checkpoint-not-ended", "one acknowledgement is missing",
     triggered(1, *SUBTASKS), acked(1, *SUBTASKS), completed(), triggered(2, *SUBTASKS), acked(2, SUM))  # fmt: skip

# A run with an interval of 100 ms that does not reach its end.
bad("no-checkpoint-begun", "the first never begins",
    triggered(1, *SUBTASKS), completed(), options=OPTIONS, unreached="nothing moves")  # fmt: skip
bad("no-checkpoint-begun", "none follows an abort",
    triggered(1, *SUBTASKS), aborted(), options=OPTIONS, unreached="nothing moves")  # fmt: skip
near("no-checkpoint-begun", "one is under way", triggered(1, *SUBTASKS), options=OPTIONS, unreached="nothing moves")
near("no-checkpoint-begun", "there is no interval", triggered(1, *SUBTASKS), completed())
near("no-checkpoint-begun", "none is taken when some have finished",
     triggered(1, *SUBTASKS), completed(), FinishReceived(subtask="source[0]"),
     options={**OPTIONS, "execution.checkpointing.checkpoints-after-tasks-finish": "false"},
     unreached="nothing moves")  # fmt: skip

ANSWERED: list[Line] = [*of_each(BarrierReceived, *AROUND, checkpoint=1), snapshot(SUM), ack_sent(SUM)]

bad("snapshot-not-acknowledged", "nothing is told of it",
    of_each(BarrierReceived, *AROUND[:2], checkpoint=1), snapshot(SUM), delivers(AROUND[2], Barrier(1)))  # fmt: skip
bad("snapshot-not-acknowledged", "its channel state is known", snapshot(SUM, unaligned=True), in_flight(SUM))
bad("snapshot-not-acknowledged", "each expires",
    of_each(BarrierReceived, *AROUND, checkpoint=1), snapshot(SUM), 200, heard(SUM, completed=False), snapshot(SUM, 2),
    200, heard(SUM, 2, completed=False))  # fmt: skip
near("snapshot-not-acknowledged", "it is acknowledged", ANSWERED)
near("snapshot-not-acknowledged", "the second is declined",
     ANSWERED, of_each(BarrierReceived, *AROUND, checkpoint=2), snapshot(SUM, 2),
     DeclineSent(subtask=SUM, checkpoint=2, reason="full"))  # fmt: skip
near("snapshot-not-acknowledged", "the second waits for a barrier",
     ANSWERED, delivers(AROUND[0], Barrier(2)), snapshot(SUM, 2, unaligned=True))  # fmt: skip
near("snapshot-not-acknowledged", "the second is aborted at once",
     ANSWERED, of_each(BarrierReceived, *AROUND, checkpoint=2), snapshot(SUM, 2),
     heard(SUM, 2, completed=False))  # fmt: skip
near("snapshot-not-acknowledged", "the second is aborted at once and again later",
     ANSWERED, of_each(BarrierReceived, *AROUND, checkpoint=2), snapshot(SUM, 2),
     heard(SUM, 2, completed=False), 200, heard(SUM, 2, completed=False))  # fmt: skip
near("snapshot-not-acknowledged", "a later one completes",
     ANSWERED, of_each(BarrierReceived, *AROUND, checkpoint=2), snapshot(SUM, 2), heard(SUM, 3))  # fmt: skip
near("snapshot-not-acknowledged", "it dies in the second",
     ANSWERED, of_each(BarrierReceived, *AROUND, checkpoint=2), snapshot(SUM, 2), died("worker-0"))  # fmt: skip

FIRST_TRIED = CommitTried(subtask="sink[0]", transaction="sink[0]-1-1")

bad("commit-not-ended", "nothing comes of it", FIRST_TRIED)
SECOND_TRIED = CommitTried(subtask="sink[0]", transaction="sink[0]-1-2")

bad("commit-not-ended", "another is committed",
    FIRST_TRIED, SECOND_TRIED, TransactionCommitted(subtask="sink[0]", transaction="sink[0]-1-2"))  # fmt: skip
FIRST_COMMITTED = TransactionCommitted(subtask="sink[0]", transaction="sink[0]-1-1")

near("commit-not-ended", "it is committed", FIRST_TRIED, FIRST_COMMITTED)
near("commit-not-ended", "the second fails",
     FIRST_TRIED, FIRST_COMMITTED, SECOND_TRIED,
     CommitFailed(subtask="sink[0]", transaction="sink[0]-1-2", reason="gone"))  # fmt: skip
near("commit-not-ended", "its sink dies in the second", FIRST_TRIED, FIRST_COMMITTED, SECOND_TRIED, died("worker-0"))
