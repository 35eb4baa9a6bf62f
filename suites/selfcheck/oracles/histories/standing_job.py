"""Histories for PROGRESS: a job that stands before an attempt of it runs, and one that a user has ended."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.harness.model.configuration import EffectiveConfiguration
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, injected
from holdfast.suites.selfcheck.oracles.legal import SUBTASKS
from holdfast.suites.selfcheck.oracles.lines import (
    CANCELED,
    CANCELLING,
    FAILED,
    FINISHED,
    RESTARTING,
    RUNNING,
    attempt,
    died,
    failure,
    finished,
    restart,
    stopped,
    switched,
    task,
    tasks,
)

WITHOUT_CHECKPOINTS = {"pipeline.operator-chaining.enabled": "false"}
ALL_BUT_ONE = SUBTASKS[:-1]
LAST = SUBTASKS[-1]


ALL_RUN: list[Line] = [attempt(), *tasks(*SUBTASKS), switched(RUNNING)]


def failed(*subtasks: str, delay_ms: int = 20) -> list[Line]:
    return [failure("it failed", LAST, *subtasks), switched(RESTARTING), restart(delay_ms)]


bad, near = exhibits("PROGRESS", options=WITHOUT_CHECKPOINTS)

bad("task-not-stopped", "one runs on after the failure", ALL_RUN, failed(), stopped(*ALL_BUT_ONE))
bad("task-not-stopped", "one of the region runs on", ALL_RUN, failed(LAST, "sum[1]"), stopped(LAST))
near(
    "task-not-stopped", "another region runs on",
    ALL_RUN, failed(LAST), stopped(LAST), attempt(None, LAST), task(LAST), switched(RUNNING),
)  # fmt: skip
near(
    "task-not-stopped", "its worker has died",
    ALL_RUN, died("worker-1"), failed(), stopped(*[each for each in SUBTASKS if "[1]" not in each]),
)  # fmt: skip
near("task-not-stopped", "it had finished", ALL_RUN, finished(LAST), failed(delay_ms=900), stopped(*ALL_BUT_ONE))

bad("stop-not-noticed", "a subtask stops and nobody counts that", ALL_RUN, stopped(LAST))
near(
    "stop-not-noticed", "it stops when the run ends",
    ALL_RUN, 900, stopped(LAST), switched(CANCELED), expected=ExpectedEnd.CANCELED,
)  # fmt: skip
near(
    "stop-not-noticed", "its failure was counted",
    ALL_RUN, stopped(LAST), failed(delay_ms=900), stopped(*ALL_BUT_ONE), ALL_RUN, stopped(LAST), failed(delay_ms=900),
    stopped(*ALL_BUT_ONE),
)  # fmt: skip

bad(
    "attempt-not-started", "nothing begins",
    [at(each, events.NodeStarted()) for each in ("coordinator.0", "worker-0.0", "worker-1.0")],
    events.JobConfigured(configuration=EffectiveConfiguration(())),
)  # fmt: skip
bad("attempt-not-started", "nothing begins again", ALL_RUN, failed(), stopped(*SUBTASKS))
bad("attempt-not-started", "a region does not begin again", ALL_RUN, failed(LAST), stopped(LAST))
bad(
    "attempt-not-started", "a new coordinator begins nothing",
    ALL_RUN, died(), at("coordinator.1", events.NodeStarted()), stopped(*SUBTASKS),
)  # fmt: skip
near("attempt-not-started", "the next attempt begins", ALL_RUN, failed(), stopped(*SUBTASKS), ALL_RUN)
near("attempt-not-started", "the delay is not over", ALL_RUN, failed(delay_ms=800), stopped(*SUBTASKS))
near("attempt-not-started", "a worker is gone", ALL_RUN, died("worker-1"), failed(), stopped(*SUBTASKS))
near(
    "attempt-not-started", "the job has failed",
    ALL_RUN, failed(), stopped(*SUBTASKS), switched(FAILED), expected=ExpectedEnd.FAILED,
)  # fmt: skip

bad("task-not-started", "one does not start", attempt(), tasks(*ALL_BUT_ONE))
bad(
    "task-not-started", "one starts in the attempt before",
    ALL_RUN, failed(), stopped(*SUBTASKS), attempt(), tasks(*ALL_BUT_ONE), at("", task(LAST), attempt=1),
)  # fmt: skip
near("task-not-started", "its worker dies first", attempt(), tasks(*ALL_BUT_ONE), died("worker-1"))
near(
    "task-not-started", "its attempt fails first",
    attempt(), tasks(*ALL_BUT_ONE), failed(delay_ms=900), stopped(*ALL_BUT_ONE),
)  # fmt: skip

bad("job-not-running", "nobody says that it runs", attempt(), tasks(*SUBTASKS))
bad("job-not-running", "it ran before the failure", ALL_RUN, failed(), stopped(*SUBTASKS), attempt(), tasks(*SUBTASKS))
near("job-not-running", "it runs", ALL_RUN)


ENDED = [kind(subtask=each) for each in SUBTASKS for kind in (events.SubtaskFinished, events.FinishReceived)]


bad("job-not-finished", "every subtask has ended", ALL_RUN, ENDED)
near("job-not-finished", "it finishes", ALL_RUN, ENDED, switched(FINISHED), expected=ExpectedEnd.FINISHED)
near(
    "job-not-finished", "one has not ended",
    ALL_RUN, ENDED, switched(FINISHED), ALL_RUN, ENDED[-2:], expected=ExpectedEnd.FINISHED,
)  # fmt: skip


bad(
    "command-ignored", "a cancelled job runs on",
    ALL_RUN, 100, at("harness", injected("cancel", "job")), expected=ExpectedEnd.CANCELED,
)  # fmt: skip
bad(
    "command-ignored", "a suspended job restarts",
    ALL_RUN, 100, at("harness", injected("suspend", "job")), 600, failed(), stopped(*SUBTASKS), ALL_RUN,
    expected=ExpectedEnd.SUSPENDED,
)  # fmt: skip
bad("command-ignored", "nobody takes up a rescale", ALL_RUN, 100, at("harness", injected("rescale", "job")))
near(
    "command-ignored", "a rescale is refused",
    ALL_RUN, 100, at("harness", injected("rescale", "job")), events.RescaleRequested(parallelism=3),
    events.RescaleRefused(parallelism=3, reason="there are too few workers."),
)  # fmt: skip
near(
    "command-ignored", "it is obeyed",
    ALL_RUN, 100, at("harness", injected("cancel", "job")), switched(CANCELLING), switched(CANCELED),
    expected=ExpectedEnd.CANCELED,
)  # fmt: skip
near(
    "command-ignored", "the coordinator dies with the second",
    ALL_RUN, 100, at("harness", injected("cancel", "job")), switched(CANCELED), ALL_RUN, 100,
    at("harness", injected("cancel", "job")), died(), expected=ExpectedEnd.CANCELED,
)  # fmt: skip

bad(
    "end-not-finished", "it stays half cancelled",
    ALL_RUN, 100, at("harness", injected("cancel", "job")), switched(CANCELLING), expected=ExpectedEnd.CANCELED,
)  # fmt: skip
near(
    "end-not-finished", "it is cancelled",
    ALL_RUN, 100, at("harness", injected("cancel", "job")), switched(CANCELLING), switched(CANCELED),
    expected=ExpectedEnd.CANCELED,
)  # fmt: skip
