"""Faults that act at a time, on the simulator: each is healed on its own."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from holdfast.fixtures.reference.connectors.arrival_clock import NORMAL_PERCENT
from holdfast.fixtures.reference.drivers.simulated.controls import SimulatedControls
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import FaultHealed
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.target import Role, Target
from holdfast.harness.spi.controls import Controls
from holdfast.suites.conformance.plans import plan
from holdfast.suites.selfcheck.faults.scene import BY_KIND, MILLISECOND_NS

STORAGE, CHANNEL = Target(Role.STORAGE), Target(Role.CHANNEL, 2)
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
def controls() -> SimulatedControls:
    """Those of a run that has not begun."""
    system, tools, calm = registry.system("reference"), registry.toolbox(), plan()
    inputs = tools.workloads[calm.workload.name].generate(calm.workload.parameters, calm.run_seed)
    controls = system.deploy(calm, inputs, Tier.SIM, None).controls
    assert isinstance(controls, SimulatedControls)
    return controls


@pytest.mark.parametrize(("first", "second"), [*PAIRS, *((second, first) for first, second in PAIRS)])
def test_one_is_healed_and_the_other_goes_on(controls: Controls, first: FaultSpec, second: FaultSpec) -> None:
    for spec in (first, second):
        BY_KIND[spec.kind].inject(controls, spec)
        assert not BY_KIND[spec.kind].healed(controls, spec)
    BY_KIND[first.kind].undo(controls, first)
    assert BY_KIND[first.kind].healed(controls, first)
    assert not BY_KIND[second.kind].healed(controls, second)
    BY_KIND[second.kind].undo(controls, second)
    assert BY_KIND[second.kind].healed(controls, second)
    assert controls.whole(first.target)


def healed_the_newest(controls: Controls, older: FaultSpec, newer: FaultSpec) -> None:
    """Both act, and the newer one is healed."""
    for spec in (older, newer):
        BY_KIND[spec.kind].inject(controls, spec)
    BY_KIND[newer.kind].undo(controls, newer)


def test_a_channel_is_as_slow_as_the_fault_that_is_left(controls: SimulatedControls) -> None:
    healed_the_newest(controls, SLOWER, SLOW)
    assert controls.channel(CHANNEL).delay_ns == 700 * MILLISECOND_NS


def test_a_subtask_is_as_busy_as_the_fault_that_is_left_wants(controls: SimulatedControls) -> None:
    healed_the_newest(controls, HEAVIER, BURDEN)
    assert list(controls.world.burdens_ns.values()) == [700 * MILLISECOND_NS]


def test_a_store_fails_as_the_fault_that_is_left_wants(controls: SimulatedControls) -> None:
    healed_the_newest(controls, FAILS_AFTERWARDS, FAILS)
    failing = controls.world.storage_fault("commit")
    assert failing is not None
    assert failing.after_effect


def test_a_store_is_as_slow_as_the_fault_that_is_left(controls: SimulatedControls) -> None:
    healed_the_newest(controls, LATER, LATE)
    assert controls.world.storage_delay_ms("commit") == 700


def test_the_end_of_a_surge_lifts_no_poison(controls: SimulatedControls) -> None:
    healed_the_newest(controls, POISON_ELSEWHERE, SURGE)
    assert list(controls.world.log.poisons) == [1]
    assert controls.world.log.clock.percent == NORMAL_PERCENT


def test_the_end_of_a_poison_ends_no_surge(controls: SimulatedControls) -> None:
    healed_the_newest(controls, SURGE, POISON)
    assert not controls.world.log.poisons
    assert controls.world.log.clock.percent == 300


def test_a_fault_of_a_channel_that_is_gone_heals(controls: SimulatedControls) -> None:
    BY_KIND["cut"].inject(controls, CUT)
    gone = controls.channel(CHANNEL)
    del controls.world.channels[gone.name]
    BY_KIND["cut"].undo(controls, CUT)
    controls.world.channels[gone.name] = gone
    assert controls.whole(CHANNEL)


def test_each_is_recorded_as_healed_when_it_is() -> None:
    twins = [replace(FAILS_ELSEWHERE, duration_ms=duration_ms) for duration_ms in (100, 400)]
    others = [replace(SLOW, duration_ms=400), replace(SLOWER, duration_ms=100)]
    faults = tuple(replace(each, schedule=Schedule(at_time_ms=40)) for each in (*twins, *others))
    run = run_plan(plan(*faults), registry.system("reference"), registry.toolbox())
    lasted_ms = {event.fault: event.time_ns // MILLISECOND_NS - 40 for event in run.history.of(FaultHealed)}
    assert lasted_ms == {0: 100, 1: 400, 2: 400, 3: 100}
