"""Faults of processes: what proves them, and what does not."""

from __future__ import annotations

import pytest

from holdfast.harness.model.events import (
    AckOutcome,
    AckReceived,
    AckSent,
    CheckpointCompleted,
    Event,
    NodeDied,
    NodeStarted,
    RowsVisible,
    SourceEmitted,
    SplitsLeft,
)
from holdfast.harness.model.plan import FaultSpec, Gate, Schedule
from holdfast.harness.model.target import Role, Target
from holdfast.suites.selfcheck.faults.scene import WORKER, at, emitted, landed


class TestKill:
    spec = FaultSpec("kill", WORKER)

    def died(self, node: str, cause: str = "kill", time_ms: float = 101) -> list[Event]:
        return [at(time_ms, "harness.0", NodeDied(dead_node=node, cause=cause))]

    @pytest.mark.parametrize("node", ["worker-1.0", "worker-1.3"])
    @pytest.mark.parametrize("cause", ["kill", "killed", "SIGKILL"])
    def test_any_life_of_the_process_may_have_died(self, node: str, cause: str) -> None:
        assert landed(self.spec, self.died(node, cause), end_ms=None)

    def test_a_part_of_the_process_may_have_lives_of_its_own(self) -> None:
        assert landed(self.spec, self.died("worker-1/python-worker.2"))

    @pytest.mark.parametrize(
        "node", ["worker-0.0", "worker-10.0", "worker-11.1", "coordinator.0", "worker-0/python-worker.0"]
    )
    def test_the_death_of_another_process_is_no_proof(self, node: str) -> None:
        assert not landed(self.spec, self.died(node))

    def test_a_death_of_another_cause_is_no_proof(self) -> None:
        assert not landed(self.spec, self.died("worker-1.0", cause="exit code 1"))

    def test_an_earlier_death_is_no_proof(self) -> None:
        assert not landed(self.spec, self.died("worker-1.0", time_ms=99))

    def test_the_coordinator_is_a_process_too(self) -> None:
        assert landed(FaultSpec("kill", Target(Role.COORDINATOR)), self.died("coordinator.0"))

    @pytest.mark.parametrize(("completed_ms", "expected"), [((60, 99), True), ((60,), False), ((60, 102), False)])
    def test_the_checkpoints_that_it_waited_for_completed_before_the_death(
        self, completed_ms: tuple[float, ...], expected: bool
    ) -> None:
        spec = FaultSpec("kill", WORKER, Schedule(after_checkpoint=2))
        completed = [at(ms, "coordinator.0", CheckpointCompleted(checkpoint=n)) for n, ms in enumerate(completed_ms, 1)]
        assert landed(spec, [*completed, *self.died("worker-1.0")]) is expected


@pytest.mark.parametrize(("records", "unread"), [(2, True), (1, False)])
def test_a_kill_while_input_is_unread(records: int, unread: bool) -> None:
    spec = FaultSpec("kill", WORKER, parameters={"unread": 1})
    death = at(101, "harness.0", NodeDied(dead_node="worker-1.0", cause="kill"))
    later = at(150, "worker-0.0", SourceEmitted(subtask="source[0]", partition=0, first_offset=1, next_offset=records))
    assert landed(spec, [emitted(50, "worker-0.0"), death, later], records=records) is unread


class TestAimedKill:
    spec = FaultSpec("kill", WORKER, Schedule(gate=Gate("acknowledge", WORKER, vertex="sink")))
    death = (at(101, "harness.0", NodeDied(dead_node="worker-1.0", cause="kill")),)

    def acknowledging(self, subtask: str = "sink[1]", node: str = "worker-1.0", time_ms: float = 98) -> Event:
        return at(time_ms, node, AckSent(subtask=subtask, checkpoint=1))

    def test_the_last_step_leads_to_the_effect(self) -> None:
        assert landed(self.spec, [emitted(97, "worker-1.0"), self.acknowledging(), *self.death])

    def test_what_others_do_afterwards_is_no_objection(self) -> None:
        later = [emitted(99, "worker-0.0"), emitted(103, "worker-1.1")]
        assert landed(self.spec, [self.acknowledging(), *self.death, *later])

    def test_a_node_that_went_on_was_not_held(self) -> None:
        assert not landed(self.spec, [self.acknowledging(), emitted(99, "worker-1.0"), *self.death])

    def test_the_effect_of_another_vertex_is_no_proof(self) -> None:
        assert not landed(self.spec, [self.acknowledging("sum[1]"), *self.death])

    def test_the_effect_of_another_node_is_no_proof(self) -> None:
        assert not landed(self.spec, [self.acknowledging(node="worker-0.0"), *self.death])

    @pytest.mark.parametrize("step", [AckReceived(checkpoint=1, subtask="sink[1]", outcome=AckOutcome.SUCCESS),
                                      SplitsLeft(checkpoint=1, vertex="source", splits=())])  # fmt: skip
    def test_an_enumerator_adds_its_part_before_the_metadata_is_published(self, step: Event) -> None:
        spec = FaultSpec(
            "kill", Target(Role.COORDINATOR), Schedule(gate=Gate("publish-metadata", Target(Role.COORDINATOR)))
        )
        death = at(101, "harness.0", NodeDied(dead_node="coordinator.0", cause="kill"))
        assert landed(spec, [at(98, "coordinator.0", step), death])

    def test_an_effect_without_a_recorded_step_needs_the_death_alone(self) -> None:
        spec = FaultSpec("kill", WORKER, Schedule(gate=Gate("read-state", WORKER)))
        assert landed(spec, self.death)
        assert not landed(spec, [])


class TestPause:
    spec = FaultSpec("pause", WORKER, duration_ms=100)

    def test_silence_while_another_node_goes_on(self) -> None:
        assert landed(self.spec, [emitted(99, "worker-1.0"), emitted(150, "worker-0.0"), emitted(201, "worker-1.0")])

    def test_what_the_process_still_says_around_the_signals_is_no_objection(self) -> None:
        own = [emitted(101, "worker-1.0"), emitted(199, "worker-1.0")]
        assert landed(self.spec, [*own, emitted(150, "worker-0.0")])

    def test_a_process_that_goes_on_was_not_paused(self) -> None:
        own = [emitted(time, "worker-1.0") for time in range(100, 200, 20)]
        assert not landed(self.spec, [*own, emitted(150, "worker-0.0")])

    def test_silence_everywhere_proves_nothing(self) -> None:
        assert not landed(self.spec, [emitted(99, "worker-1.0"), emitted(201, "worker-0.0")])

    def test_silence_everywhere_that_ends_with_the_pause_is_a_pause(self) -> None:
        assert landed(self.spec, [emitted(99, "worker-1.0"), emitted(200.1, "worker-1.0")])
        assert not landed(self.spec, [emitted(99, "worker-1.0"), emitted(240, "worker-1.0")])

    def test_a_pause_ends_with_the_life_that_was_paused(self) -> None:
        died = at(120, "harness.0", NodeDied(dead_node="worker-1.0", cause="kill"))
        new_life = [emitted(time, "worker-1.1") for time in range(125, 200, 5)]
        assert landed(self.spec, [emitted(99, "worker-1.0"), emitted(110, "worker-0.0"), died, *new_life])
        assert not landed(self.spec, [at(100, "harness.0", died), *new_life])

    def test_a_successor_that_speaks_does_not_break_the_silence_of_the_paused(self) -> None:
        born = at(120, "worker-1.1", NodeStarted())
        successor = [emitted(time, "worker-1.1") for time in range(125, 200, 5)]
        assert landed(self.spec, [emitted(99, "worker-1.0"), born, *successor])
        going_on = [emitted(time, "worker-1.0") for time in range(105, 200, 5)]
        assert not landed(self.spec, [*going_on, born, *successor])

    def test_a_process_that_never_says_anything_proves_nothing(self) -> None:
        assert not landed(self.spec, [at(1, "worker-1.0", NodeStarted()), emitted(150, "worker-0.0")])

    @pytest.mark.parametrize(("visible_ms", "expected"), [(201, True), (150, False)])
    def test_a_process_seen_from_outside_is_heard_through_its_output(self, visible_ms: int, expected: bool) -> None:
        rows = at(visible_ms, "reader.0", RowsVisible(name="version-1", poll=9, records=1, checksum=0))
        life = at(1, "worker-1.0", NodeStarted())
        fed = [emitted(time, "source.0") for time in (120, 180)]
        assert landed(self.spec, [life, rows, *fed], end_ms=199) is expected
