"""Histories for PROGRESS: a job that stands before an attempt of it runs, and one that a user has ended."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.harness.model.configuration import EffectiveConfiguration
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, injected, story
from holdfast.suites.selfcheck.oracles.legal import SUBTASKS

bad, near = exhibits("PROGRESS")

WITHOUT_CHECKPOINTS = {"pipeline.operator-chaining.enabled": "false"}
ALL_BUT_ONE = SUBTASKS[:-1]
LAST = SUBTASKS[-1]


def standing(*lines: Line, expected: ExpectedEnd = ExpectedEnd.RUNNING) -> History:
    """No checkpoints. The run ends a second after the last line."""
    return story(*lines, options=WITHOUT_CHECKPOINTS, expected=expected)


def switched(status: events.JobStatus = events.JobStatus.RUNNING) -> events.JobSwitched:
    return events.JobSwitched(status=status)


def running() -> list[events.Event]:
    return [events.AttemptStarted(), *begun(*SUBTASKS), switched()]


def begun(*subtasks: str) -> list[events.TaskStarted]:
    return [events.TaskStarted(subtask=each) for each in subtasks]


def stopped(*subtasks: str) -> list[events.TaskStopped]:
    return [events.TaskStopped(subtask=each, reason="cancelled") for each in subtasks]


def failed(*subtasks: str, delay_ms: int = 20) -> list[events.Event]:
    return [
        events.FailureCounted(cause="it failed", subtask=LAST, subtasks=subtasks),
        switched(events.JobStatus.RESTARTING),
        events.RestartScheduled(delay_ms=delay_ms),
    ]


def dies(process: str) -> events.NodeDied:
    return events.NodeDied(dead_node=process, cause="kill")


@bad("task-not-stopped")
def one_runs_on_after_the_failure() -> History:
    return standing(running(), failed(), stopped(*ALL_BUT_ONE))


@bad("task-not-stopped")
def one_of_the_region_runs_on() -> History:
    return standing(running(), failed(LAST, "sum[1]"), stopped(LAST))


@near("task-not-stopped")
def another_region_runs_on() -> History:
    again = [events.AttemptStarted(subtasks=(LAST,)), events.TaskStarted(subtask=LAST), switched()]
    return standing(running(), failed(LAST), stopped(LAST), *again)


@near("task-not-stopped")
def its_worker_has_died() -> History:
    left = [each for each in SUBTASKS if "[1]" not in each]
    return standing(running(), dies("worker-1"), failed(), stopped(*left))


@near("task-not-stopped")
def it_had_finished() -> History:
    finished = events.SubtaskFinished(subtask=LAST)
    return standing(running(), finished, failed(delay_ms=900), stopped(*ALL_BUT_ONE))


@bad("stop-not-noticed")
def a_subtask_stops_and_nobody_counts_that() -> History:
    return standing(running(), stopped(LAST))


@near("stop-not-noticed")
def it_stops_when_the_run_ends() -> History:
    return standing(running(), 900, stopped(LAST), switched(events.JobStatus.CANCELED), expected=ExpectedEnd.CANCELED)


@near("stop-not-noticed")
def its_failure_was_counted() -> History:
    def fails() -> list[events.Event]:
        return [*stopped(LAST), *failed(delay_ms=900), *stopped(*ALL_BUT_ONE)]

    return standing(running(), fails(), running(), fails())


@bad("attempt-not-started")
def nothing_begins() -> History:
    nodes = [at(each, events.NodeStarted()) for each in ("coordinator.0", "worker-0.0", "worker-1.0")]
    return standing(nodes, events.JobConfigured(configuration=EffectiveConfiguration(())))


@bad("attempt-not-started")
def nothing_begins_again() -> History:
    return standing(running(), failed(), stopped(*SUBTASKS))


@bad("attempt-not-started")
def a_region_does_not_begin_again() -> History:
    return standing(running(), failed(LAST), stopped(LAST))


@bad("attempt-not-started")
def a_new_coordinator_begins_nothing() -> History:
    return standing(running(), dies("coordinator"), at("coordinator.1", events.NodeStarted()), stopped(*SUBTASKS))


@near("attempt-not-started")
def the_next_attempt_begins() -> History:
    return standing(running(), failed(), stopped(*SUBTASKS), running())


@near("attempt-not-started")
def the_delay_is_not_over() -> History:
    return standing(running(), failed(delay_ms=800), stopped(*SUBTASKS))


@near("attempt-not-started")
def a_worker_is_gone() -> History:
    return standing(running(), dies("worker-1"), failed(), stopped(*SUBTASKS))


@near("attempt-not-started")
def the_job_has_failed() -> History:
    return standing(
        running(), failed(), stopped(*SUBTASKS), switched(events.JobStatus.FAILED), expected=ExpectedEnd.FAILED
    )


@bad("task-not-started")
def one_does_not_start() -> History:
    return standing(events.AttemptStarted(), begun(*ALL_BUT_ONE))


@bad("task-not-started")
def one_starts_in_the_attempt_before() -> History:
    late = at("", events.TaskStarted(subtask=LAST), attempt=1)
    return standing(running(), failed(), stopped(*SUBTASKS), events.AttemptStarted(), begun(*ALL_BUT_ONE), late)


@near("task-not-started")
def its_worker_dies_first() -> History:
    return standing(events.AttemptStarted(), begun(*ALL_BUT_ONE), dies("worker-1"))


@near("task-not-started")
def its_attempt_fails_first() -> History:
    return standing(events.AttemptStarted(), begun(*ALL_BUT_ONE), failed(delay_ms=900), stopped(*ALL_BUT_ONE))


@bad("job-not-running")
def nobody_says_that_it_runs() -> History:
    return standing(events.AttemptStarted(), begun(*SUBTASKS))


@bad("job-not-running")
def it_ran_before_the_failure() -> History:
    return standing(running(), failed(), stopped(*SUBTASKS), events.AttemptStarted(), begun(*SUBTASKS))


@near("job-not-running")
def it_runs() -> History:
    return standing(running())


@bad("job-not-finished")
def every_subtask_has_ended() -> History:
    return standing(running(), ended())


@near("job-not-finished")
def it_finishes() -> History:
    return standing(running(), ended(), switched(events.JobStatus.FINISHED), expected=ExpectedEnd.FINISHED)


@near("job-not-finished")
def one_has_not_ended() -> History:
    before = [*running(), *ended(), switched(events.JobStatus.FINISHED)]
    return standing(before, running(), ended()[-2:], expected=ExpectedEnd.FINISHED)


def ended() -> list[events.Event]:
    return [kind(subtask=each) for each in SUBTASKS for kind in (events.SubtaskFinished, events.FinishReceived)]


def ordered(kind: str = "cancel") -> events.FaultInjected:
    return at("harness", injected(kind, "job"))


@bad("command-ignored")
def a_cancelled_job_runs_on() -> History:
    return standing(running(), 100, ordered(), expected=ExpectedEnd.CANCELED)


@bad("command-ignored")
def a_suspended_job_restarts() -> History:
    lines: list[Line] = [running(), 100, ordered("suspend"), 600, failed(), stopped(*SUBTASKS), running()]
    return standing(*lines, expected=ExpectedEnd.SUSPENDED)


@bad("command-ignored")
def nobody_takes_up_a_rescale() -> History:
    return standing(running(), 100, ordered("rescale"))


@near("command-ignored")
def a_rescale_is_refused() -> History:
    refused = events.RescaleRefused(parallelism=3, reason="there are too few workers.")
    return standing(running(), 100, ordered("rescale"), events.RescaleRequested(parallelism=3), refused)


@near("command-ignored")
def it_is_obeyed() -> History:
    end = switched(events.JobStatus.CANCELED)
    return standing(
        running(), 100, ordered(), switched(events.JobStatus.CANCELLING), end, expected=ExpectedEnd.CANCELED
    )


@near("command-ignored")
def the_coordinator_dies_with_the_second() -> History:
    obeyed: list[Line] = [running(), 100, ordered(), switched(events.JobStatus.CANCELED)]
    return standing(*obeyed, running(), 100, ordered(), dies("coordinator"), expected=ExpectedEnd.CANCELED)


@bad("end-not-finished")
def it_stays_half_cancelled() -> History:
    return standing(running(), 100, ordered(), switched(events.JobStatus.CANCELLING), expected=ExpectedEnd.CANCELED)


@near("end-not-finished")
def it_is_cancelled() -> History:
    end = switched(events.JobStatus.CANCELED)
    return standing(
        running(), 100, ordered(), switched(events.JobStatus.CANCELLING), end, expected=ExpectedEnd.CANCELED
    )
