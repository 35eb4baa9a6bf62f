"""Removed records: the fault lands where somebody would have needed them, and every driver removes the same ones."""

from __future__ import annotations

import pytest

from holdfast.faults.truncation import truncate
from holdfast.fixtures.reference.drivers.controls.input import TRUNCATE, InputFaults
from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import (
    AttemptStarted,
    CheckpointCompleted,
    Event,
    FailureCounted,
    InputTruncated,
    RecordFailed,
    TaskStarted,
)
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.lossy_jobs import over_sockets
from holdfast.harness.model.plan import FaultSpec, Plan
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.conformance.plans import plan
from holdfast.suites.conformance.source_systems import BEYOND_IT
from holdfast.suites.selfcheck.faults.scene import NotedHarness, NotedInput, at, landed

SOURCE_SYSTEM = Target(Role.SOURCE_SYSTEM)


def removed(next_offset: int, time_ms: float = 101) -> Event:
    return at(time_ms, "harness.0", InputTruncated(partition=0, next_offset=next_offset))


def started(position: int, time_ms: float = 110, restored: int | None = 2) -> Event:
    task = TaskStarted(
        attempt=2, subtask="source[0]", restored_checkpoint=restored, state=None, positions=((0, position),)
    )
    return at(time_ms, "worker-0.0", task)


class TestUpToTheCheckpoint:
    spec = FaultSpec("truncate", SOURCE_SYSTEM)

    def test_a_source_began_behind_what_is_gone(self) -> None:
        assert landed(self.spec, [removed(7), started(7)])

    def test_without_a_restart_nothing_came_of_it(self) -> None:
        assert landed(self.spec, [removed(7)]) is None
        assert landed(self.spec, [removed(7), started(7, time_ms=99)]) is None

    def test_a_source_that_restores_nothing_is_no_proof(self) -> None:
        assert landed(self.spec, [removed(7), started(0, restored=None)]) is None

    def test_where_nothing_was_there_to_be_removed_it_did_not_land(self) -> None:
        assert landed(self.spec, [removed(0), started(3)]) is False


class TestBeyondTheCheckpoint:
    spec = FaultSpec("truncate", SOURCE_SYSTEM, parameters={"beyond": 5})

    def test_a_source_began_in_what_is_gone_or_reported_the_gap(self) -> None:
        assert landed(self.spec, [removed(12), started(7)])
        failed = RecordFailed(subtask="source[0]", partition=0, offset=11, cause="gone")
        assert landed(self.spec, [removed(12), at(110, "worker-0.0", failed)])

    def test_a_source_that_needs_none_of_it_is_no_proof(self) -> None:
        assert landed(self.spec, [removed(12), started(12)]) is None
        failed = RecordFailed(subtask="source[0]", partition=0, offset=12, cause="it is poisoned")
        assert landed(self.spec, [removed(12), at(110, "worker-0.0", failed)]) is None


class TestOfAQueryWithoutTasks:
    """Where it began is told by the checkpoint that it restored."""

    completed = at(90, "coordinator.0", CheckpointCompleted(checkpoint=2, positions=(7,)))

    @pytest.mark.parametrize(("beyond", "start", "lands"), [(0, 7, True), (5, 12, True), (5, 7, None), (0, 0, False)])
    def test_it_began_from_a_checkpoint(self, beyond: int, start: int, lands: bool | None) -> None:
        spec = FaultSpec("truncate", SOURCE_SYSTEM, parameters={"beyond": beyond})
        attempt = at(110, "coordinator.1", AttemptStarted(restored_checkpoint=2))
        assert landed(spec, [self.completed, removed(start), attempt]) is lands

    def test_it_did_not_begin_again(self) -> None:
        spec = FaultSpec("truncate", SOURCE_SYSTEM)
        attempt = at(95, "coordinator.1", AttemptStarted(restored_checkpoint=2))
        assert landed(spec, [self.completed, attempt, removed(7)]) is None


def test_the_first_offset_that_is_left_lies_within_the_partition() -> None:
    noted, harness = NotedInput(10, 10, covered=(5, 9)), NotedHarness()
    faults = InputFaults(noted, harness)
    faults.truncate(-1, 3)
    assert noted.suffered.starts == {0: 8, 1: 10}
    faults.truncate(0, -2)
    assert noted.suffered.starts == {0: 8, 1: 10}
    assert harness.recorded[-1] == InputTruncated(partition=0, next_offset=3)
    faults.restore(TRUNCATE, (-1, 3, False))
    assert noted.suffered.starts == {0: 3}
    noted.covered = ()
    faults.truncate(1, -7)
    assert noted.suffered.starts == {0: 3, 1: 0}
    with pytest.raises(ValueError, match="partition 2 is unknown: the input has 2"):
        faults.truncate(2, 0)


@pytest.mark.parametrize("chosen", BEYOND_IT)
def test_the_job_fails_and_names_what_is_gone(chosen: Plan) -> None:
    run = run_plan(chosen, registry.system("reference"), registry.toolbox())
    assert run.outcome is Outcome.PASS
    failure = run.history.of(FailureCounted)[-1]
    assert "the source system has removed it, its oldest record is" in failure.cause
    assert not failure.recoverable


def test_a_socket_keeps_no_records_that_could_be_removed() -> None:
    asked = plan(truncate(after_checkpoint=1), job=over_sockets(KEYED_SUM))
    assert "keeps no records" in ReferenceSystem().objection(asked, Tier.SIM)
