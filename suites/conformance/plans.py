"""What the plans of the cases are made of.

A plan is small: two workers, a keyed sum, 120 records that arrive while five checkpoints or so complete. Restarts are
quick unless a case is about them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from holdfast.faults import FAULTS
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.case import Case, PlanGenerator, Tier
from holdfast.harness.model.demands import demands
from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Bounds, ExpectedEnd, FaultSpec, Gate, Plan, Schedule, WorkloadSpec
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.window import Window
from holdfast.harness.spi.fault import Fault

EVERYWHERE = (Tier.SIM, Tier.PROCESS)
COORDINATOR, STORAGE, SOURCE_SYSTEM = Target(Role.COORDINATOR), Target(Role.STORAGE), Target(Role.SOURCE_SYSTEM)
WORKERS = (Target(Role.WORKER, 0), Target(Role.WORKER, 1))
LATE_CHANNELS = (Target(Role.CHANNEL, 2), Target(Role.CHANNEL, 3))
"""From the second source."""

CHECKPOINTING = "execution.checkpointing"
RESTART = "restart-strategy"
DEBLOATING = "taskmanager.network.memory.buffer-debloat.enabled"
FAILOVER = "jobmanager.execution.failover-strategy"
AT_LEAST_ONCE = {f"{CHECKPOINTING}.mode": "AT_LEAST_ONCE"}
STATE_IN_FILES = {f"{CHECKPOINTING}.data-inline-threshold": "0"}
INTOLERANT = {f"{CHECKPOINTING}.tolerable-failed-checkpoints": "0"}
ONE_TOLERABLE = {f"{CHECKPOINTING}.tolerable-failed-checkpoints": "1"}
TOLERANT = {f"{CHECKPOINTING}.tolerable-failed-checkpoints": "100"}
TWO_AT_ONCE = {f"{CHECKPOINTING}.max-concurrent-checkpoints": "2"}
TWO_RETAINED = {f"{CHECKPOINTING}.num-retained": "2"}
OPTIONS = {
    f"{CHECKPOINTING}.interval": "40 ms",
    f"{RESTART}.type": "fixed-delay",
    f"{RESTART}.fixed-delay.attempts": "30",
    f"{RESTART}.fixed-delay.delay": "20 ms",
    "source.max-batch-records": "4",
    "pipeline.operator-chaining.enabled": "false",
}
"""Every operator is a task of its own, with channels of its own, so that plans and clauses can name it."""
RECORDS = {"records": 120, "records_per_second": 200, "preloaded_percent": 25}
OPTION_NEEDS = {
    CHECKPOINTING: Capability.CHECKPOINTS,
    RESTART: Capability.RESTART_STRATEGIES,
    "scan.startup": Capability.START_AT_LATEST,
    FAILOVER: Capability.REGIONAL_FAILOVER,
    "source.split-assignment": Capability.ENUMERATED_SPLITS,
    "": Capability.OPTIONS,
}
"""By the beginning of an option's key."""
FAULT_KINDS: Mapping[str, Fault] = {made.kind: made for made in (factory() for factory in FAULTS)}
BOUNDS = Bounds(safety_ms=2_000, liveness_ms=3_000)
RESTORED = (Window.RESTORED_STATE, Window.READ_AGAIN)
"""Windows of a recovery that goes back behind what was read."""
IN_FLIGHT = (Window.OVERTAKING, Window.RESTORED_IN_FLIGHT)
"""Windows of a recovery of what barriers have overtaken."""


def plan(
    *faults: FaultSpec,
    job: Job = KEYED_SUM,
    options: Mapping[str, str] = {},
    records: Mapping[str, int | str] = {},
    **fields: Any,
) -> Plan:
    """A plan of two workers; what is not said is as above."""
    whole = Plan(
        job=job,
        workload=WorkloadSpec("synthetic", {**RECORDS, **records}),
        options={**OPTIONS, **options},
        faults=faults,
        bounds=BOUNDS,
    )
    return replace(whole, **fields)


def with_needs(*cases: Case) -> tuple[Case, ...]:
    """The cases, each with the capabilities that its plans ask for, besides those that it names itself."""
    return tuple(
        replace(case, needs=case.needs.union(*(_needs(case.plan_for(number)) for number in range(case.runs))))
        for case in cases
    )


def _needs(chosen: Plan) -> set[Capability]:
    needs = {FAULT_KINDS[spec.kind].needs(spec) for spec in chosen.faults} | demands(chosen.job)
    needs.update(
        capability
        for prefix, capability in OPTION_NEEDS.items()
        if any(key.startswith(prefix) for key in chosen.options)
    )
    if chosen.options.items() >= AT_LEAST_ONCE.items():
        needs.add(Capability.AT_LEAST_ONCE_MODE)
    if chosen.calls or chosen.configuration_file or chosen.expected_end is ExpectedEnd.ACCEPTED:
        needs.add(Capability.CONFIGURATION)
    if f"{CHECKPOINTING}.unaligned.enabled" in chosen.options:
        needs.add(Capability.UNALIGNED_CHECKPOINTS)
    if DEBLOATING in chosen.options:
        needs.add(Capability.BUFFER_DEBLOATING)
    if any(spec.schedule.gate for spec in chosen.faults):
        needs.add(Capability.GATES)
    return needs


def each_of(plans: Sequence[Plan]) -> PlanGenerator:
    """A generator that goes through fixed plans: as many successive seeds as there are plans run each of them."""
    return lambda seed: plans[seed % len(plans)]


def kill(target: Target, **when: Any) -> FaultSpec:
    """SIGKILL."""
    return FaultSpec("kill", target, Schedule(**when))


def pause(target: Target, duration_ms: int, **when: Any) -> FaultSpec:
    """SIGSTOP for a while."""
    return FaultSpec("pause", target, Schedule(**when), duration_ms)


def supersede(duration_ms: int, **when: Any) -> FaultSpec:
    """The coordinator stands still for so long, and a successor takes over at once."""
    return FaultSpec("supersede", COORDINATOR, Schedule(**when), duration_ms)


def slow(channel: Target, delay_ms: int, duration_ms: int = 300) -> FaultSpec:
    """A late channel, from the first attempt on."""
    return FaultSpec("slow", channel, Schedule(at_event="attempt_started"), duration_ms, {"delay_ms": delay_ms})


def slow_task(task: Target, delay_ms: int, duration_ms: int = 300) -> FaultSpec:
    """A subtask that takes so long for each batch, from the first attempt on."""
    return FaultSpec("slow-task", task, Schedule(at_event="attempt_started"), duration_ms, {"delay_ms": delay_ms})


def storage_error(operation: str, duration_ms: int = 300, how: Mapping[str, int] = {}, **when: Any) -> FaultSpec:
    """The next call of a storage operation fails, or as many as `how` says."""
    return FaultSpec("storage-error", STORAGE, Schedule(**when), duration_ms, {"operation": operation, **how})


def damage(part: str, way: str, duration_ms: int = 0, **when: Any) -> FaultSpec:
    """A file of the newest checkpoint is spoilt, for a while or until the end."""
    return FaultSpec("damage", STORAGE, Schedule(**when), duration_ms, {"part": part, "way": way})


def poison(duration_ms: int = 0, *, unrecoverable: bool = False, **when: Any) -> FaultSpec:
    """The last record of the first partition fails its operator, for a while or until the end."""
    parameters: dict[str, int | str] = {"offset": -1, "unrecoverable": int(unrecoverable)}
    return FaultSpec("poison", SOURCE_SYSTEM, Schedule(**when), duration_ms, parameters)


def surge(percent: int, duration_ms: int, **when: Any) -> FaultSpec:
    """Input arrives faster for a while."""
    return FaultSpec("surge", SOURCE_SYSTEM, Schedule(**when), duration_ms, {"percent": percent})


def slow_storage(operation: str, delay_ms: int, duration_ms: int, occurrences: int = 0, **when: Any) -> FaultSpec:
    """The next calls of a storage operation take longer; 0 occurrences: all for as long as it lasts."""
    parameters: dict[str, int | str] = {"operation": operation, "delay_ms": delay_ms, "occurrences": occurrences}
    return FaultSpec("slow-storage", STORAGE, Schedule(**when), duration_ms, parameters)


def lose_notices(percent: int, duration_ms: int, **when: Any) -> FaultSpec:
    """Notices of completion and abort are lost."""
    return FaultSpec("lose-notices", COORDINATOR, Schedule(**when), duration_ms, {"percent": percent})


def command(kind: str, parameters: Mapping[str, int | str] = {}, **when: Any) -> FaultSpec:
    """A user cancels or suspends the job, or submits another."""
    return FaultSpec(kind, COORDINATOR, Schedule(**when), parameters=dict(parameters))


def request_checkpoint(origins: str = "user", times: int = 1, **when: Any) -> FaultSpec:
    """Users ask for checkpoints, one after the other."""
    return FaultSpec("request-checkpoint", COORDINATOR, Schedule(**when), 0, {"origins": origins, "times": times})


def forge(message: str, subtask: str, shift: Mapping[str, int | str] = {}, **when: Any) -> FaultSpec:
    """A message of a subtask that it did not send; its attempt or checkpoint shifted."""
    parameters: dict[str, int | str] = {"message": message, "subtask": subtask, **shift}
    return FaultSpec("forge", COORDINATOR, Schedule(**when), parameters=parameters)


def gate(effect: str, target: Target, vertex: str = "", occurrence: int = 1) -> Gate:
    """In front of an effect."""
    return Gate(effect, target, occurrence, vertex)
