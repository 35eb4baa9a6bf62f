"""Histories for COUNT: workers that stand still, and coordinators that give them up or not."""

from __future__ import annotations

from holdfast.harness.model.events import (
    AttemptStarted,
    Event,
    FailureCounted,
    FaultHealed,
    FaultInjected,
    JobStatus,
    JobSwitched,
    NodeDied,
)
from holdfast.harness.model.history import History
from holdfast.suites.selfcheck.oracles.builder import OPTIONS, Line, at, exhibits, injected, story

bad, near = exhibits("COUNT")

HEARTBEATS = {**OPTIONS, "heartbeat.interval": "50 ms", "heartbeat.timeout": "200 ms"}


def paused(fault: int = 0) -> FaultInjected:
    return at("harness", injected("pause", "worker[1]", fault))


def resumed(fault: int = 0) -> FaultHealed:
    return at("harness", FaultHealed(fault=fault, fault_kind="pause", target="worker[1]"))


def switched(status: JobStatus = JobStatus.RUNNING) -> JobSwitched:
    return JobSwitched(status=status)


def beating(*lines: Line) -> History:
    return story(AttemptStarted(), switched(), 100, *lines, options=HEARTBEATS)


def given_up() -> list[Event]:
    return [FailureCounted(cause="worker 1: no heartbeat for 200 ms"), switched(JobStatus.RESTARTING), AttemptStarted()]


@bad("silence-not-noticed")
def a_worker_stands_still_for_half_a_second() -> History:
    return beating(paused(), 500, resumed())


@bad("silence-not-noticed")
def it_stands_still_to_the_end() -> History:
    return beating(paused(), 500)


@bad("silence-not-noticed")
def it_is_given_up_when_it_is_back() -> History:
    return beating(paused(), 500, resumed(), 100, given_up())


@near("silence-not-noticed")
def it_is_given_up_in_time() -> History:
    return beating(paused(), 250, given_up(), 250, resumed())


def _after_one(*lines: Line) -> History:
    """One was given up, so that there is something to decide on."""
    return beating(paused(), 250, given_up(), 250, resumed(), switched(), 100, *lines)


@near("silence-not-noticed")
def the_second_is_back_in_time() -> History:
    return _after_one(paused(1), 190, resumed(1))


@near("silence-not-noticed")
def the_end_of_another_pause_wakes_it() -> History:
    return _after_one(paused(1), 10, paused(2), 100, resumed(2), 500, resumed(1))


@bad("silence-not-noticed")
def the_other_pause_ends_too_late_to_excuse_it() -> History:
    return _after_one(paused(1), 10, paused(2), 500, resumed(2), 10, resumed(1))


@near("silence-not-noticed")
def the_second_is_killed() -> History:
    return _after_one(paused(1), 300, NodeDied(dead_node="worker-1", cause="kill"), 200)


@near("silence-not-noticed")
def the_coordinator_has_died_before_the_second() -> History:
    return _after_one(NodeDied(dead_node="coordinator", cause="kill"), paused(1), 500, resumed(1))


@near("silence-not-noticed")
def a_job_that_does_not_run() -> History:
    return _after_one(switched(JobStatus.RESTARTING), 100, paused(1), 500, resumed(1))
