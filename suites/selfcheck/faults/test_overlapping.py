"""Faults that act at a time: each is healed on its own; those of clocks, and of parts of the input."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from holdfast.fixtures.reference.connectors.source_log import NORMAL_PERCENT
from holdfast.fixtures.reference.drivers.process_faults import WrongClocks
from holdfast.fixtures.reference.drivers.processes.shared_pages import Clocks
from holdfast.fixtures.reference.drivers.simulated.deployment import SimulatedDeployment
from holdfast.fixtures.reference.drivers.targets import Targets
from holdfast.fixtures.reference.protocol.clock import WallClock
from holdfast.fixtures.reference.protocol.storage.operation import Failure
from holdfast.harness.cli import execute
from holdfast.harness.engine.artefacts.json_files import write_plan
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.plans.validate import check_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import FaultHealed, NodeStarted
from holdfast.harness.model.plan import FaultSpec, Plan, Schedule, WorkloadSpec
from holdfast.harness.model.target import COORDINATOR, STORAGE, Role, Target
from holdfast.harness.model.topology import network_channels
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.spi.controls import NOBODY, Acting
from holdfast.harness.spi.controls.process import ClockError
from holdfast.suites.conformance.plans import plan
from holdfast.suites.selfcheck.faults.scene import BY_KIND, MILLISECOND_NS, WORKER, at, emitted, landed

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


HOUR_MS = 3_600_000
AHEAD, FAST = ClockError(ahead_ms=HOUR_MS), ClockError(percent=1_000)


@pytest.mark.parametrize("kind", ["jump-clock", "skew-clock"])
@pytest.mark.parametrize(
    ("time_ms", "node", "expected"),
    [
        (150, "worker-1.0", True),
        (150, "worker-1.3", True),
        (99, "worker-1.0", False),
        (201, "worker-1.0", False),
        (150, "worker-0.0", False),
        (150, "coordinator.0", False),
    ],
)
def test_a_life_of_the_process_does_something_meanwhile(kind: str, time_ms: float, node: str, expected: bool) -> None:
    assert landed(FaultSpec(kind, WORKER), [emitted(time_ms, node)]) is expected


def test_the_coordinator_has_a_clock_too() -> None:
    assert landed(FaultSpec("jump-clock", COORDINATOR), [at(150, "coordinator.1", NodeStarted())])


@pytest.mark.parametrize(
    ("clock", "shows_ms"),
    [
        (WallClock(), 500),
        (WallClock(300, -200), 300),
        (WallClock(300, percent=1_000), 2_300),
        (WallClock(300, percent=0), 300),
    ],
)
def test_a_clock_shows_what_is_wrong_with_it(clock: WallClock, shows_ms: float) -> None:
    assert clock.reading_ms(500) == pytest.approx(shows_ms)


def test_other_processes_see_what_the_newest_error_makes_of_a_clock(tmp_path: Path) -> None:
    processes, acting, times_ms = ["coordinator", "worker-0", "worker-1"], Acting(), iter((100.0, 200.0, 300.0))
    ours, theirs, chosen = Clocks(tmp_path, processes), Clocks(tmp_path, processes), plan()
    targets = Targets(chosen.job, chosen.topology, 2)
    clocks = WrongClocks(targets, acting, lambda: next(times_ms), ours.set_clock)
    acting.fault = 4
    clocks.mislead(WORKER, AHEAD)
    assert (theirs.of("worker-1"), theirs.by("worker-1")) == (WallClock(100, HOUR_MS), 4)
    acting.fault = 5
    clocks.mislead(WORKER, FAST)
    assert (theirs.of("worker-1"), theirs.by("worker-1")) == (WallClock(200, percent=1_000), 5)
    clocks.correct(WORKER, FAST)
    assert (theirs.of("worker-1"), theirs.by("worker-1")) == (WallClock(300, HOUR_MS), 4)
    acting.fault = 4
    clocks.correct(WORKER, AHEAD)
    assert theirs.of("worker-1") == theirs.of("coordinator") == WallClock()
    assert theirs.by("worker-1") == NOBODY
    assert clocks.right(WORKER, AHEAD)


RECORDS = 20


def asked(kind: str, records: int = RECORDS, partitions: int = 1, **parameters: int) -> Plan:
    """A plan with a fault of its input."""
    fault = FaultSpec(kind, Target(Role.SOURCE_SYSTEM), parameters=dict(parameters), duration_ms=50)
    workload = WorkloadSpec("synthetic", {"records": records, "partitions": partitions})
    return msgspec.structs.replace(plan(fault), workload=workload)


@pytest.mark.parametrize(
    ("kind", "parameters", "complaint"),
    [
        ("poison", {"partition": 7}, "partition is 7; allowed is 0 to 0: change it."),
        ("poison", {"partition": -1}, "partition is -1; allowed is 0 to 0: change it."),
        ("poison", {"offset": 20}, "offset is 20; allowed is -20 to 19: change it."),
        ("poison", {"offset": -21}, "offset is -21; allowed is -20 to 19: change it."),
        ("truncate", {"partition": 1}, "partition is 1; allowed is -1 to 0: change it."),
        ("truncate", {"partition": -2}, "partition is -2; allowed is -1 to 0: change it."),
    ],
)
def test_what_is_not_there_is_refused_in_one_sentence(
    kind: str, parameters: dict[str, int], complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The run ended with exit code 4, or another record was poisoned."""
    write_plan(tmp_path / "plan.json", asked(kind, **parameters))
    assert execute(["run", str(tmp_path / "plan.json"), "--tier", "sim", "--out", str(tmp_path / "out")]) == 3
    said = capsys.readouterr()
    assert said.err == f"holdfast: faults[0].parameters.{complaint}\n"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [("poison", {}), ("poison", {"offset": 19}), ("poison", {"offset": -20}), ("truncate", {"partition": -1})],
)
def test_what_is_there_is_accepted(kind: str, parameters: dict[str, int]) -> None:
    check_plan(asked(kind, **parameters), registry.system("reference"), Tier.SIM, registry.toolbox())


def test_a_poison_where_there_is_no_record_has_not_landed() -> None:
    """It was a division by zero. The partition is there, so the plan is none to refuse."""
    empty = asked("poison", records=1, partitions=2, partition=0)
    check_plan(empty, registry.system("reference"), Tier.SIM, registry.toolbox())
    run = run_plan(empty, registry.system("reference"), registry.toolbox())
    assert run.outcome is Outcome.INCONCLUSIVE
    assert run.reason.startswith("faults[0] (poison) ")
