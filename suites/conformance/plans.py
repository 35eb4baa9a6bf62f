"""What the cases and their plans are made of; plans that are submitted and do not run, whose result is the answer.

A plan is small: two workers, a keyed sum, 120 records that arrive while five checkpoints or so complete. Restarts are
quick unless a case is about them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from holdfast.faults import FAULTS
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.case import Case, Decision, Plans, Tier, Window
from holdfast.harness.model.configuration import Call, ConfigurationFile
from holdfast.harness.model.job import Job, demands
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Bounds, ExpectedEnd, FaultSpec, Gate, Plan, WorkloadSpec
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.spi.fault import AnyFault

EVERYWHERE = (Tier.SIM, Tier.PROCESS)
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
FAULT_KINDS: Mapping[str, AnyFault] = {made.kind: made for made in (factory() for factory in FAULTS)}
BOUNDS = Bounds(safety_ms=2_000, liveness_ms=3_000)
RESTORED = (Window.RESTORED_STATE, Window.READ_AGAIN)
"""Windows of a recovery that goes back behind what was read."""
EXACT_ROWS = ("EXACT/row-wrong", "EXACT/row-repeated", "EXACT/counts-stepped-back", "EXACT/input-missing")
"""Clauses of which one speaks if output is not exactly once."""
EXACT_SUMS = ("EXACT/row-wrong", "EXACT/counts-stepped-back", "EXACT/input-missing")
"""The same of sums, where a row that is repeated is a wrong one."""
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


def case(
    name: str,
    purpose: str,
    plan: Plans,
    *decides: Decision,
    method: str,
    passes: str,
    runs: int = 0,
    tiers: tuple[Tier, ...] = (Tier.SIM,),
    windows: tuple[Window, ...] = (),
    needs: frozenset[str] = frozenset(),
    mutant_plan: Plans | None = None,
    refutes: frozenset[str] = frozenset(),
    pictures: tuple[str, ...] = (),
    rehearsal: bool = False,
) -> Case:
    """A row of a table of cases: its id, what it tests, what runs, and the rules that this decides; the rest is as in
    `Case`. With `refutes` it is a negative control."""
    return Case(
        id=name,
        purpose=purpose,
        method=method,
        passes=passes,
        decides=decides,
        plan=plan,
        runs=runs,
        expected=Outcome.FAIL if refutes else Outcome.PASS,
        tiers=tiers,
        windows=windows,
        needs=needs,
        mutant_plan=mutant_plan,
        refutes=refutes,
        pictures=pictures,
        rehearsal=rehearsal,
    )


def decides(
    rule: str, *clauses: str, wrong: str, windows: tuple[Window, ...] = (), where_declared: bool = False
) -> Decision:
    """A rule, the clauses `ORACLE/clause` of one oracle that decide it, the wrong variant that shows it can fail, and
    the windows that it demands, wherever or where something is declared (see Decision)."""
    [oracle] = {clause.partition("/")[0] for clause in clauses}
    named = tuple(clause.partition("/")[2] for clause in clauses)
    return Decision(rule, oracle, named, wrong, windows, where_declared)


def with_needs(*cases: Case, needs: frozenset[str] = frozenset()) -> tuple[Case, ...]:
    """The cases, each with the capabilities that its plans ask for, besides `needs` and those that it names itself."""
    return tuple(
        replace(each, needs=each.needs.union(needs, *(_needs(each.plan_for(number)) for number in range(each.runs))))
        for each in cases
    )


def _needs(chosen: Plan) -> set[str]:
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


def gate(effect: str, target: Target, vertex: str = "", occurrence: int = 1) -> Gate:
    """In front of an effect."""
    return Gate(effect, target, occurrence, vertex)


Options = dict[str, str]
FLAT, NESTED = "flink-conf.yaml", "config.yaml"


def submitted(options: Options, *calls: Call, file: ConfigurationFile | None = None, **fields: Any) -> Plan:
    """A job with these options and no others, to be accepted unless the fields say otherwise."""
    bare = replace(plan(), options=dict(options), calls=calls, configuration_file=file)
    return replace(bare, **{"expected_end": ExpectedEnd.ACCEPTED, **fields})


def refused(options: Options, *calls: Call, file: ConfigurationFile | None = None, **fields: Any) -> Plan:
    """The same, to be refused."""
    return submitted(options, *calls, file=file, expected_end=ExpectedEnd.REFUSED, **fields)


def flat(options: Options) -> ConfigurationFile:
    """The file of Flink 1.14 that says this."""
    return ConfigurationFile(FLAT, "".join(f"{key}: {value}\n" for key, value in options.items()))


def nested(options: Options) -> ConfigurationFile:
    """The file of Flink 2.x that says this, each key as deep as it has dots unless another begins like it."""
    lines = ["# a cluster"]
    first = [key.partition(".")[0] for key in options]
    for key, value in options.items():
        names = key.split(".") if first.count(key.partition(".")[0]) == 1 else [key]
        lines += [f"{'  ' * depth}{name}:" for depth, name in enumerate(names)]
        lines[-1] += f" {value}"
    return ConfigurationFile(NESTED, "\n".join(lines))
