"""Histories for PACE: requests of users, and coordinators that take them or not."""

from __future__ import annotations

from holdfast.harness.model.checkpoint import CheckpointOrigin
from holdfast.harness.model.events import (
    AttemptStarted,
    CheckpointRequested,
    FaultInjected,
    JobStatus,
    JobSwitched,
    NodeDied,
)
from holdfast.harness.model.history import History
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, injected, story

bad, near = exhibits("PACE")
WHILE_MS = 600
"""Longer than a coordinator needs."""


def given(kind: str = "request-checkpoint") -> FaultInjected:
    return at("harness", injected(kind, "job"))


def taken(origin: CheckpointOrigin = CheckpointOrigin.USER) -> CheckpointRequested:
    return CheckpointRequested(request=9, origin=origin)


def savepoint(number: int) -> CheckpointRequested:
    return CheckpointRequested(request=number, origin=CheckpointOrigin.SAVEPOINT)


def story_of(*lines: Line) -> History:
    return story(AttemptStarted(), WHILE_MS, *lines, WHILE_MS)


@bad("request-lost")
def nobody_takes_it() -> History:
    return story_of(given())


@bad("request-lost")
def only_the_interval_asks() -> History:
    return story_of(given(), taken(CheckpointOrigin.PERIODIC))


@bad("request-lost")
def the_coordinator_had_died_before() -> History:
    return story_of(NodeDied(dead_node="coordinator", cause="kill"), AttemptStarted(), WHILE_MS, given())


@bad("request-lost")
def a_worker_dies_with_it() -> History:
    return story_of(given(), NodeDied(dead_node="worker-0", cause="kill"))


@bad("request-lost")
def nobody_takes_that_for_a_savepoint() -> History:
    return story_of(given("savepoint"), taken())


@near("request-lost")
def the_coordinator_takes_that_for_a_savepoint() -> History:
    return story_of(given("savepoint"), taken(CheckpointOrigin.SAVEPOINT))


@bad("savepoint-unasked")
def one_request_counts_twice() -> History:
    return story_of(given("savepoint"), savepoint(9), savepoint(10))


@near("savepoint-unasked")
def two_savepoints_are_requested_of_two_coordinators() -> History:
    dies = (NodeDied(dead_node="coordinator", cause="kill"), AttemptStarted())
    return story_of(given("savepoint"), savepoint(9), dies, WHILE_MS, given("stop"), savepoint(9))


@near("request-lost")
def the_coordinator_takes_it() -> History:
    return story_of(given(), 20, taken())


@near("request-lost")
def the_coordinator_dies_with_the_last_of_two() -> History:
    return story_of(given(), taken(), WHILE_MS, given(), 20, NodeDied(dead_node="coordinator", cause="kill"))


@near("request-lost")
def the_job_ends_with_the_last_of_two() -> History:
    return story_of(given(), taken(), WHILE_MS, given(), 20, JobSwitched(status=JobStatus.CANCELED))
