"""That a coordinator was superseded is proved by what it said after its successor had begun."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from holdfast.harness.model.events import (
    CheckpointCompleted,
    CheckpointTriggered,
    Event,
    JobStatus,
    JobSwitched,
    NodeDied,
    NodeStarted,
)
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role, Target
from holdfast.suites.selfcheck.faults.scene import at, landed

SPEC = FaultSpec("supersede", Target(Role.COORDINATOR))
FORMER, SUCCESSOR = "coordinator.0", "coordinator.1"


def story(*events: Event, spec: FaultSpec = SPEC) -> bool | None:
    return landed(spec, [at(0, FORMER, NodeStarted()), *events])


def says(time_ms: float, node: str = FORMER) -> Event:
    return at(time_ms, node, JobSwitched(status=JobStatus.RESTARTING))


def test_it_came_back() -> None:
    assert story(at(101, SUCCESSOR, NodeStarted()), says(201))


def test_it_never_said_anything_again() -> None:
    assert not story(at(101, SUCCESSOR, NodeStarted()), says(150, SUCCESSOR))


def test_nobody_took_over() -> None:
    assert not story(says(201))


def test_it_was_dead_when_its_successor_began() -> None:
    died = at(50, "harness.0", NodeDied(dead_node=FORMER, cause="kill"))
    assert not story(died, at(101, SUCCESSOR, NodeStarted()), says(201))


def test_its_successor_had_begun_before_the_fault() -> None:
    assert not story(at(90, SUCCESSOR, NodeStarted()), says(201))


@pytest.mark.parametrize(("completed_ms", "lands"), [(99, False), (102, True)])
def test_where_it_must_stop_within_a_checkpoint(completed_ms: float, lands: bool) -> None:
    """A successor may complete it."""
    spec = replace(SPEC, parameters={"unfinished": 1})
    begun = at(90, FORMER, CheckpointTriggered(checkpoint=1, participants=()))
    done = at(completed_ms, FORMER if completed_ms < 100 else SUCCESSOR, CheckpointCompleted(checkpoint=1))
    assert story(begun, done, at(101, SUCCESSOR, NodeStarted()), says(201), spec=spec) is lands
