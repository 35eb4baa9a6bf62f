"""Histories for COUNT: failures and what the coordinator makes of them."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, injected
from holdfast.suites.selfcheck.oracles.builder import story as any_story

bad, near = exhibits("COUNT")

FIXED = {
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.attempts": "2",
    "restart-strategy.fixed-delay.delay": "1 s",
}
MANY = {**FIXED, "restart-strategy.fixed-delay.attempts": "9"}
RATE = {
    "restart-strategy.type": "failure-rate",
    "restart-strategy.failure-rate.max-failures-per-interval": "2",
    "restart-strategy.failure-rate.failure-rate-interval": "5 min",
    "restart-strategy.failure-rate.delay": "1 s",
}
EXPONENTIAL = {
    "restart-strategy.type": "exponential-delay",
    "restart-strategy.exponential-delay.initial-backoff": "1 s",
    "restart-strategy.exponential-delay.max-backoff": "10 s",
    "restart-strategy.exponential-delay.backoff-multiplier": "2.0",
    "restart-strategy.exponential-delay.reset-backoff-threshold": "1 min",
    "restart-strategy.exponential-delay.jitter-factor": "0.1",
    "restart-strategy.exponential-delay.attempts-before-reset-backoff": "5",
}
NONE = {"restart-strategy.type": "none", "execution.checkpointing.interval": "100 ms"}
OF_1_14 = {"holdfast.profile": "flink-1.14", "execution.checkpointing.interval": "100 ms"}
UNNAMED = {"execution.checkpointing.interval": "100 ms"}


def story(options: Mapping[str, str], *lines: Line) -> History:
    """A worker was killed before: of that its failures are."""
    kill = injected("kill", "worker[0]")
    return any_story(events.AttemptStarted(), kill, *lines, options=options, expected=ExpectedEnd.FAILED)


def counted() -> events.FailureCounted:
    return events.FailureCounted(cause="worker lost")


def refused() -> list[Line]:
    return [counted(), events.RestartRefused(reason="enough")]


def restarts(*, delay_ms: int = 1_000, waited_ms: int = 1_000) -> list[Line]:
    return [counted(), events.RestartScheduled(delay_ms=delay_ms), waited_ms, events.AttemptStarted()]


@bad("restarted-beyond-policy")
def third_restart_of_two() -> History:
    return story(FIXED, *restarts(), *restarts(), *restarts())


@bad("restarted-beyond-policy")
def third_failure_in_the_window() -> History:
    return story(RATE, *restarts(), *restarts(), *restarts())


@near("restarted-beyond-policy")
def two_restarts_of_two() -> History:
    return story(FIXED, *restarts(), *restarts(), *refused())


@near("restarted-beyond-policy")
def fourth_failure_after_the_window_slid() -> History:
    return story(RATE, *restarts(), *restarts(), 300_000, *restarts(), *restarts(), *refused())


@bad("failed-too-early")
def second_restart_of_two_refused() -> History:
    return story(FIXED, *restarts(), *refused())


@bad("failed-too-early")
def second_failure_in_the_window_refused() -> History:
    return story(RATE, *restarts(), *refused())


@bad("failed-too-early")
def new_coordinator_goes_on_counting() -> History:
    died = events.NodeDied(dead_node="coordinator", cause="killed")
    return story(FIXED, *restarts(), *restarts(), died, events.AttemptStarted(), *refused())


@near("failed-too-early")
def second_failure_in_the_window_restarts() -> History:
    return story(RATE, *restarts(), *restarts())


@bad("restart-missing")
def nothing_follows_a_failure() -> History:
    return story(FIXED, counted())


@near("restart-missing")
def restart_follows_a_failure() -> History:
    return story(FIXED, *restarts())


@bad("restarted-without-strategy")
def restarts_without_checkpointing() -> History:
    return story({}, *restarts())


@near("restarted-without-strategy")
def fails_without_checkpointing() -> History:
    return story({}, *refused())


@bad("restarted-after-none")
def restarts_though_none() -> History:
    return story(NONE, *restarts())


@near("restarted-after-none")
def fails_as_none() -> History:
    return story(NONE, *refused())


@bad("delay-too-short")
def restarts_at_half_the_delay() -> History:
    return story(FIXED, *restarts(waited_ms=500))


@near("delay-too-short")
def restarts_after_the_delay() -> History:
    return story(FIXED, *restarts(waited_ms=999))


@bad("delay-wrong")
def schedules_another_delay() -> History:
    return story(FIXED, *restarts(delay_ms=2_000, waited_ms=2_000))


@near("delay-wrong")
def schedules_the_delay() -> History:
    return story(FIXED, *restarts())


def _dies(*lines: Line, stopped: bool = False) -> History:
    """Worker 1 dies with a task."""
    tasks: list[events.Event] = [events.TaskStarted(subtask="sum[1]")]
    if stopped:
        tasks.append(events.TaskStopped(subtask="sum[1]", reason="cancelled"))
    return story(UNNAMED, tasks, events.NodeDied(dead_node="worker-1", cause="killed"), *lines)


def row(*delays_ms: int) -> list[Line]:
    """Restarts one after the other, each as soon as its delay is over."""
    return [line for delay_ms in delays_ms for line in (*restarts(delay_ms=delay_ms, waited_ms=delay_ms), 100)]


@bad("delay-wrong")
def third_delay_is_that_of_the_second() -> History:
    return story(EXPONENTIAL, *row(1_000, 2_000, 2_100))


@bad("delay-wrong")
def delay_above_the_maximum() -> History:
    return story(EXPONENTIAL, *row(1_000, 2_000, 4_000, 8_000, 10_500))


@bad("delay-wrong")
def delay_below_the_initial_one() -> History:
    return story(EXPONENTIAL, *row(950))


@bad("delay-wrong")
def default_of_another_profile() -> History:
    return story(UNNAMED, *row(1_000, 1_000))


@bad("delay-wrong")
def delays_grow_though_1_14() -> History:
    return story(OF_1_14, *row(1_000, 1_500))


@near("delay-wrong")
def fixed_delay_as_1_14() -> History:
    return story(OF_1_14, *row(1_000, 1_000))


@near("delay-wrong")
def delays_within_their_jitter() -> History:
    return story(EXPONENTIAL, *row(1_100, 1_800, 4_400, 7_300, 10_000), *refused())


@near("delay-wrong")
def default_of_this_profile() -> History:
    return story(UNNAMED, *row(1_000, 1_500, 2_250, 3_375))


@bad("restarted-beyond-policy")
def sixth_restart_of_five_in_a_row() -> History:
    return story(EXPONENTIAL, *row(1_000, 2_000, 4_000, 8_000, 10_000, 10_000))


@bad("delay-too-short")
def drawn_delay_is_not_waited_for() -> History:
    return story(EXPONENTIAL, *row(1_000), *restarts(delay_ms=2_000, waited_ms=1_000))


@bad("backoff-not-reset")
def row_goes_on_after_a_quiet_minute() -> History:
    return story(EXPONENTIAL, *row(1_000, 2_000), 60_100, *row(4_000))


@near("backoff-not-reset")
def row_begins_again_after_a_quiet_minute() -> History:
    return story(EXPONENTIAL, *row(1_000, 2_000), 60_100, *row(1_000, 2_000))


def _together(delay_ms: int) -> History:
    """A second failure comes 500 ms after the first, and the restart from that one is due after a second."""
    first: list[Line] = [counted(), events.RestartScheduled(delay_ms=1_000), 498]
    second: list[Line] = [counted(), events.RestartScheduled(delay_ms=delay_ms), delay_ms, events.AttemptStarted()]
    return story(EXPONENTIAL, *first, *second)


@bad("simultaneous-counted")
def second_failure_begins_a_longer_delay() -> History:
    return _together(2_000)


@near("simultaneous-counted")
def second_failure_waits_with_the_first() -> History:
    return _together(500)


def _eight(*moved_ms: int) -> History:
    """The row 1.0, 1.5, 2.25 .. of the default, some of its delays moved."""
    delays = [int(1_000 * 1.5**number) for number in range(8)]
    return story(UNNAMED, *row(*map(sum, zip(delays, (*moved_ms, *(0,) * 8), strict=False))))


@bad("without-jitter")
def eight_delays_are_the_row_itself() -> History:
    return _eight()


@near("without-jitter")
def one_of_eight_delays_is_moved() -> History:
    return _eight(0, 0, 0, 77)


POISON = "source[0]: record 7 of partition 0: it cannot be parsed"
FOLLOWED = "source[0]: Task is not running, but in state FAILED"


def poisoned(cause: str = POISON, *, recoverable: bool = True) -> list[Line]:
    """Record 7 makes the source fail, and that is counted."""
    record = events.RecordFailed(
        subtask="source[0]", partition=0, offset=7, cause="it cannot be parsed", recoverable=recoverable
    )
    return [record, events.FailureCounted(cause=cause, subtask="source[0]", recoverable=recoverable)]


@bad("restarted-after-unrecoverable")
def restarts_though_no_restart_can_help() -> History:
    return story(FIXED, *poisoned(recoverable=False), *restarts()[1:])


@bad("restarted-after-unrecoverable")
def what_the_operator_said_is_lost_on_the_way() -> History:
    record, failure = poisoned(recoverable=False)
    assert isinstance(failure, events.FailureCounted)
    failure.recoverable = True
    return story(FIXED, record, failure, *restarts()[1:])


@near("restarted-after-unrecoverable")
def fails_as_no_restart_can_help() -> History:
    return story(FIXED, *poisoned(recoverable=False), events.RestartRefused(reason="unrecoverable"))


@bad("cause-not-reported")
def only_that_a_task_failed() -> History:
    return story(FIXED, *poisoned("source[0]: task failed"), *restarts()[1:])


@near("cause-not-reported")
def record_is_named() -> History:
    return story(FIXED, *poisoned(), *restarts()[1:])


@near("cause-not-reported")
def what_followed_from_the_record_is_heard_of_first_once() -> History:
    return story(FIXED, *poisoned(), *restarts()[1:], *poisoned(FOLLOWED), *restarts()[1:])


@bad("cause-not-reported")
def what_followed_from_the_record_hides_it_most_times() -> History:
    rows = [line for cause in (POISON, FOLLOWED, FOLLOWED) for line in (*poisoned(cause), *restarts()[1:])]
    return story(MANY, *rows)


@bad("cause-not-reported")
def another_record_is_named() -> History:
    other = "source[0]: record 12 of partition 3: it cannot be parsed"
    return story(FIXED, *poisoned(), *restarts()[1:], *poisoned(other), *restarts()[1:])


@bad("cause-not-reported")
def what_followed_from_the_record_hides_it_each_time() -> History:
    return story(FIXED, *poisoned(FOLLOWED), *restarts()[1:], *poisoned(FOLLOWED), *restarts()[1:])


@bad("failure-not-counted")
def death_passes_unnoticed() -> History:
    return _dies()


@near("failure-not-counted")
def death_is_counted() -> History:
    return _dies(*restarts())


def _worker_dies() -> list[Line]:
    """Worker 1 runs a task of the present attempt and dies."""
    return [events.TaskStarted(subtask="sum[1]"), events.NodeDied(dead_node="worker-1", cause="killed")]


def _coordinator_dies() -> list[Line]:
    """A new coordinator starts the next attempt by itself."""
    return [events.NodeDied(dead_node="coordinator", cause="killed"), events.AttemptStarted()]


@bad("failure-not-counted")
def only_the_next_death_is_counted() -> History:
    return story(UNNAMED, *_worker_dies(), events.AttemptStarted(), *_worker_dies(), *restarts())


@bad("failure-not-counted")
def the_coordinator_dies_an_attempt_later() -> History:
    return story(UNNAMED, *_worker_dies(), events.AttemptStarted(), *_coordinator_dies())


@bad("failure-not-counted")
def death_under_the_new_coordinator_passes_unnoticed() -> History:
    return story(UNNAMED, *_worker_dies(), *_coordinator_dies(), *_worker_dies(), events.AttemptStarted())


@near("failure-not-counted")
def the_coordinator_dies_before_it_counts() -> History:
    return story(UNNAMED, *_worker_dies(), *_coordinator_dies(), *_worker_dies(), *restarts())


FIRST, SECOND = "coordinator.0", "coordinator.1"


def _superseded() -> list[Line]:
    """A second coordinator starts while the first stands still, and starts the next attempt."""
    return [at(SECOND, events.NodeStarted()), at(SECOND, events.AttemptStarted())]


@near("failure-not-counted")
def the_coordinator_is_superseded_before_it_counts() -> History:
    first = at(FIRST, events.NodeStarted())
    theirs = [at(SECOND, line) if isinstance(line, events.Event) else line for line in restarts()]
    return story(UNNAMED, first, *_worker_dies(), *_superseded(), *_worker_dies(), *theirs)


@bad("failure-not-counted")
def the_coordinator_is_superseded_an_attempt_later() -> History:
    first = at(FIRST, events.NodeStarted())
    return story(UNNAMED, first, *_worker_dies(), events.AttemptStarted(), *_superseded())


@near("failure-not-counted")
def two_deaths_of_an_attempt_are_one_failure() -> History:
    others = [events.TaskStarted(subtask="sum[0]"), events.NodeDied(dead_node="worker-0", cause="killed")]
    return story(UNNAMED, others, *_worker_dies(), *restarts())
