"""Faults that act at a time, on the simulator: each is healed on its own."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from holdfast.fixtures.reference.connectors.arrival_clock import NORMAL_PERCENT
from holdfast.fixtures.reference.drivers.simulated.deployment import SimulatedDeployment
from holdfast.fixtures.reference.protocol.storage.storage_world import Failure
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import FaultHealed
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.target import STORAGE, Role, Target
from holdfast.harness.model.topology import network_channels
from holdfast.suites.conformance.plans import plan
from holdfast.suites.selfcheck.faults.scene import BY_KIND, MILLISECOND_NS

CHANNEL = Target(Role.CHANNEL, 2)
CHANNEL_NAME = network_channels(plan().job, plan().topology)[CHANNEL.index]
FAILS = FaultSpec("storage-error", STORAGE, parameters={"operation": "commit", "occurrences": 0})
LATE = FaultSpec("slow-storage", STORAGE, parameters={"operation": "commit"})
FAILS_ELSEWHERE = replace(FAILS, parameters={"operation": "delete", "occurrences": 0})
FAILS_AFTERWARDS = replace(FAILS, parameters={"operation": "commit", "occurrences": 0, "after_effect": 1})
LATER = replace(LATE, parameters={"operation": "commit", "delay_ms": 700})
CUT, SLOW = FaultSpec("cut", CHANNEL), FaultSpec("slow", CHANNEL)
SLOWER = replace(SLOW, parameters={"delay_ms": 700})
BURDEN = FaultSpec("slow-task", Target(Role.TASK, 2))
HEAVIER = replace(BURDEN, parameters={"delay_ms": 700})
ELSEWHERE = replace(BURDEN, target=Target(Role.TASK, 3))
INPUT = Target(Role.SOURCE_SYSTEM)
POISON, SURGE = FaultSpec("poison", INPUT), FaultSpec("surge", INPUT)
POISON_BEHIND = replace(POISON, parameters={"offset": 5})
POISON_ELSEWHERE = replace(POISON, parameters={"partition": 1})
FASTER = replace(SURGE, parameters={"percent": 900})
PAIRS = (
    (FAILS, LATE),
    (FAILS, FAILS_ELSEWHERE),
    (FAILS, FAILS_AFTERWARDS),
    (LATE, LATER),
    (CUT, SLOW),
    (SLOW, SLOWER),
    (BURDEN, HEAVIER),
    (BURDEN, ELSEWHERE),
    (POISON, SURGE),
    (POISON, POISON_BEHIND),
    (POISON, POISON_ELSEWHERE),
    (SURGE, FASTER),
)


@pytest.fixture
def run() -> SimulatedDeployment:
    """One that has not begun."""
    system, tools, calm = registry.system("reference"), registry.toolbox(), plan()
    inputs = tools.workloads[calm.workload.name].generate(calm.workload.parameters, calm.run_seed)
    deployment = system.deploy(calm, inputs, Tier.SIM, None)
    assert isinstance(deployment, SimulatedDeployment)
    return deployment


def _inject(run: SimulatedDeployment, spec: FaultSpec) -> None:
    fault = BY_KIND[spec.kind]
    fault.inject(run.controls[fault.control], spec)


def _undo(run: SimulatedDeployment, spec: FaultSpec) -> None:
    fault = BY_KIND[spec.kind]
    fault.undo(run.controls[fault.control], spec)


def _healed(run: SimulatedDeployment, spec: FaultSpec) -> bool:
    fault = BY_KIND[spec.kind]
    return fault.healed(run.controls[fault.control], spec)


@pytest.mark.parametrize(("first", "second"), [*PAIRS, *((second, first) for first, second in PAIRS)])
def test_one_is_healed_and_the_other_goes_on(run: SimulatedDeployment, first: FaultSpec, second: FaultSpec) -> None:
    for spec in (first, second):
        _inject(run, spec)
        assert not _healed(run, spec)
    _undo(run, first)
    assert _healed(run, first)
    assert not _healed(run, second)
    _undo(run, second)
    assert _healed(run, second)
    assert _healed(run, first)


def heal_the_newest(run: SimulatedDeployment, older: FaultSpec, newer: FaultSpec) -> None:
    """Both act, and the newer one is healed."""
    for spec in (older, newer):
        _inject(run, spec)
    _undo(run, newer)


def test_a_channel_is_as_slow_as_the_fault_that_is_left(run: SimulatedDeployment) -> None:
    heal_the_newest(run, SLOWER, SLOW)
    assert run.world.job.channels[CHANNEL_NAME].delay_ns == 700 * MILLISECOND_NS


def test_a_subtask_is_as_busy_as_the_fault_that_is_left_wants(run: SimulatedDeployment) -> None:
    heal_the_newest(run, HEAVIER, BURDEN)
    assert list(run.world.burdens_ms.values()) == [700]


def test_a_store_fails_as_the_fault_that_is_left_wants(run: SimulatedDeployment) -> None:
    heal_the_newest(run, FAILS_AFTERWARDS, FAILS)
    assert run.world.storage_faults.strike("commit") is Failure.AFTER_EFFECT


def test_a_store_is_as_slow_as_the_fault_that_is_left(run: SimulatedDeployment) -> None:
    heal_the_newest(run, LATER, LATE)
    assert run.world.storage_faults.delay_ms("commit") == 700


def test_the_end_of_a_surge_lifts_no_poison(run: SimulatedDeployment) -> None:
    heal_the_newest(run, POISON_ELSEWHERE, SURGE)
    assert list(run.world.log.poisons) == [1]
    assert run.world.log.clock.percent == NORMAL_PERCENT


def test_the_end_of_a_poison_ends_no_surge(run: SimulatedDeployment) -> None:
    heal_the_newest(run, SURGE, POISON)
    assert not run.world.log.poisons
    assert run.world.log.clock.percent == 300


def test_a_fault_of_a_channel_that_is_gone_heals(run: SimulatedDeployment) -> None:
    _inject(run, CUT)
    gone = run.world.job.channels.pop(CHANNEL_NAME)
    _undo(run, CUT)
    run.world.job.channels[CHANNEL_NAME] = gone
    assert _healed(run, CUT)


def test_each_is_recorded_as_healed_when_it_is() -> None:
    twins = [replace(FAILS_ELSEWHERE, duration_ms=duration_ms) for duration_ms in (100, 400)]
    others = [replace(SLOW, duration_ms=400), replace(SLOWER, duration_ms=100)]
    faults = tuple(replace(each, schedule=Schedule(at_time_ms=40)) for each in (*twins, *others))
    run = run_plan(plan(*faults), registry.system("reference"), registry.toolbox())
    lasted_ms = {event.fault: event.time_ns // MILLISECOND_NS - 40 for event in run.history.of(FaultHealed)}
    assert lasted_ms == {0: 100, 1: 400, 2: 400, 3: 100}
