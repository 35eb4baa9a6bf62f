"""Plans from outside: checked against the system, the tier and the tools that are to run them, refused where they are
too large, and fitted to the system that is named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from holdfast.harness.engine.errors import NotApplicable, UsageError
from holdfast.harness.engine.plans.check_job import check_job, listed, require
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.answers import account_of, answer_of, evidence_of
from holdfast.harness.engine.site.entry_points import unknown
from holdfast.harness.engine.site.registry import Toolbox
from holdfast.harness.model.capability import Capability, Evidence
from holdfast.harness.model.case import Tier
from holdfast.harness.model.job import Partitioning, demands
from holdfast.harness.model.message_contract import ORDERED_CONNECTION
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec, Gate, Plan, Schedule
from holdfast.harness.model.sentence import known_names, plural
from holdfast.harness.model.submitted_jobs import STOP, topologies
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.topology import network_channels, subtasks
from holdfast.harness.oracles.output.settle_window import lengthened
from holdfast.harness.spi.fault import ContractBound, InputBound
from holdfast.harness.spi.system import WATCHED, MessageContractAware, OptionUse, Rehearsed, System, TierAware, declared

DAY_MS = 86_400_000
LONGEST_DAYS: Mapping[Tier, int] = {Tier.SIM: 30}
"""By tier, how many days a time may last: those of the simulator pass in minutes. On each other tier it is one."""
MOST = 1_000_000_000
"""Of whatever else is counted."""
MOST_COPIES = 1_000
MOST_FAULTS = 1_000
MOST_CHANNELS = 1_000_000
"""Each is named, and most of them hold a buffer."""
_ANY = frozenset({"version", "draw_seed", "run_seed", "digest_key", "seed", "event_time_ms"})
"""Numbers that are no size."""


def check_sizes(plan: Plan, tier: Tier) -> None:
    """Refuse a plan that is too large to be run on a tier.

    Raises:
        UsageError: one sentence that names the field.
    """
    if len(plan.faults) > MOST_FAULTS:
        raise UsageError(f"faults has {len(plan.faults)} entries; allowed are at most {MOST_FAULTS}: remove some.")
    days = LONGEST_DAYS.get(tier, 1)
    longest = f"{days * DAY_MS}, which is {plural(days, 'day')} on tier {tier}"
    for place, value in _numbers("", msgspec.to_builtins(plan)):
        field = place.rpartition(".")[2]
        lasts = field.endswith("_ms")
        most = days * DAY_MS if lasts else MOST_COPIES if field == "copies" else MOST
        if field not in _ANY and abs(value) > most:
            allowed = longest if lasts else most
            raise UsageError(f"{place} is {value}; allowed is at most {allowed}: make it smaller.")
    _check_channels(plan)
    _check_lengthened(plan, days * DAY_MS, longest)


def _check_channels(plan: Plan) -> None:
    """Before they are counted by being listed."""
    shuffled = sum(edge.partitioning is not Partitioning.FORWARD for edge in plan.job.edges)
    for topology in topologies(plan):
        channels = shuffled * topology.parallelism**2
        if channels > MOST_CHANNELS:
            raise UsageError(
                f"topology.parallelism is {topology.parallelism}, which gives job {plan.job.name} {channels:,} "
                f"channels; allowed are at most {MOST_CHANNELS:,}: make it smaller."
            )


def _check_lengthened(plan: Plan, most_ms: int, longest: str) -> None:
    """Timeouts and delays that hold up output lengthen the run."""
    if plan.expected_end in (ExpectedEnd.REFUSED, ExpectedEnd.ACCEPTED):
        return  # Nothing runs.
    bounds = lengthened(plan)
    for field in ("liveness_ms", "settle_ms"):
        if (value := getattr(bounds, field)) > most_ms:
            raise UsageError(
                f"options and faults lengthen bounds.{field} to {value}, since output may change as late; allowed is "
                f"at most {longest}: make timeouts and delays shorter."
            )


def _numbers(place: str, value: Any) -> Iterator[tuple[str, int | float]]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _numbers(f"{place}.{name}" if place else str(name), each)
    elif isinstance(value, list | tuple):
        for index, each in enumerate(value):
            yield from _numbers(f"{place}[{index}]", each)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield place, value


_MAX_PARALLELISM = 32_768
"""Flink's upper bound of the number of key groups."""
_SHOWS_PERSISTENCE = frozenset({Capability.CHECKPOINTS, Capability.ACKNOWLEDGES_INPUT})
"""What a system declares that shows when it has persisted something."""
_MAX_UNSIGNED = (1 << 64) - 1


def check_plan(plan: Plan, system: System, tier: Tier, tools: Toolbox) -> None:
    """Refuse what cannot be run, whatever the options are.

    Raises:
        UsageError: the plan contradicts itself, or names what does not exist.
        NotApplicable: it asks for what the system does not declare.
    """
    check_job(plan.job)
    lacking = demands(plan.job) - declared(system)
    if lacking:
        raise NotApplicable(
            f"system {system.name!r} does not declare {listed(lacking)}, which job {plan.job.name} needs."
        )
    finishes = plan.expected_end is ExpectedEnd.FINISHED
    require(
        plan.job.bounded or not finishes or any(fault.kind == STOP for fault in plan.faults),
        f"expected_end is {plan.expected_end}, but job {plan.job.name} has a source whose input never ends: "
        f"make every source bounded, or {STOP} it.",
    )
    require(
        not plan.job.bounded or plan.expected_end is not ExpectedEnd.RUNNING,
        f"expected_end is {plan.expected_end}, but the input of job {plan.job.name} ends: expect "
        f"{ExpectedEnd.FINISHED}.",
    )
    _check_numbers(plan)
    check_sizes(plan, tier)
    _check_workload(plan, tools)
    for index, spec in enumerate(plan.faults):
        _check_fault(f"faults[{index}]", spec, plan, system, tier, tools)
    _check_input(plan, tools)
    if tier not in system.capabilities:
        raise NotApplicable(
            f"system {system.name!r} does not run on tier {tier}; it runs on {listed(system.capabilities)}."
        )
    if objection := _objection(plan, system, tier):
        raise NotApplicable(objection)
    if plan.expected_end in (ExpectedEnd.REFUSED, ExpectedEnd.ACCEPTED):
        require(
            not plan.faults,
            f"faults has {len(plan.faults)} entries, but a plan that is to be {plan.expected_end} starts nothing: "
            "remove them.",
        )
    _check_configuration(plan, system)


def _objection(plan: Plan, system: System, tier: Tier) -> str:
    try:
        return answer_of(system.objection, plan, tier, kind=str) if isinstance(system, TierAware) else ""
    except ValueError:
        return ""  # A value of an option is refused: check_options reports it, or the run is to show it.


def check_options(plan: Plan, system: System) -> None:
    """Check that every option is accounted for, unless the plan starts nothing.

    Raises:
        UsageError: a value is refused.
        NotApplicable: an option is unsupported, or the adapter does not account for it.
    """
    if plan.expected_end in (ExpectedEnd.REFUSED, ExpectedEnd.ACCEPTED):
        return
    try:
        account = {each.key: each for each in account_of(system, plan)}
    except ValueError as error:
        raise UsageError(f"options: {error}") from error
    for key in plan.options:
        if key not in account:
            raise NotApplicable(f"system {system.name!r} does not account for option {key!r}.")
    for key, each in account.items():
        if each.use is OptionUse.UNSUPPORTED:
            raise NotApplicable(f"system {system.name!r} does not support option {key!r}.")


def _check_configuration(plan: Plan, system: System) -> None:
    wanted = {
        "calls": bool(plan.calls),
        "configuration_file": plan.configuration_file is not None,
        f"expected_end {plan.expected_end}": plan.expected_end is ExpectedEnd.ACCEPTED,
    }
    for field, demanded in wanted.items():
        if demanded and Capability.CONFIGURATION not in declared(system):
            raise NotApplicable(f"system {system.name!r} does not declare {Capability.CONFIGURATION}, for {field}.")


def _check_numbers(plan: Plan) -> None:
    topology, bounds = plan.topology, plan.bounds
    _in_range("topology.max_parallelism", topology.max_parallelism, 0, _MAX_PARALLELISM)
    _in_range("topology.parallelism", topology.parallelism, 1, topology.max_parallelism or _MAX_PARALLELISM)
    for job, submitted in enumerate(topologies(plan)[1:], 1):
        _in_range(f"max_parallelism of job {job}", submitted.max_parallelism, 0, _MAX_PARALLELISM)
        _in_range(f"parallelism of job {job}", submitted.parallelism, 1, submitted.max_parallelism or _MAX_PARALLELISM)
    _in_range("bounds.safety_ms", bounds.safety_ms, 1)
    _in_range("bounds.liveness_ms", bounds.liveness_ms, 1)
    _in_range("bounds.settle_ms", bounds.settle_ms, 0)
    _in_range("digest_key", plan.digest_key, 0, _MAX_UNSIGNED)


def _check_workload(plan: Plan, tools: Toolbox) -> None:
    workload = tools.workloads.get(plan.workload.name)
    if workload is None:
        raise unknown("workload", plan.workload.name, tools.workloads)
    kinds = {name: type(default) for name, (default, _) in workload.parameters.items()}
    _check_parameters("workload.parameters", plan.workload.parameters, kinds)


def _check_input(plan: Plan, tools: Toolbox) -> None:
    """What a fault does to a part of the input, it does to one that there is."""
    bound = {index: spec for index, spec in enumerate(plan.faults) if isinstance(tools.faults[spec.kind], InputBound)}
    if not bound:
        return
    try:
        inputs = tools.workloads[plan.workload.name].generate(plan.workload.parameters, plan.run_seed)
    except ValueError as error:
        raise UsageError(str(error)) from error
    for index, spec in bound.items():
        fault = tools.faults[spec.kind]
        assert isinstance(fault, InputBound)
        beyond = fault.beyond_input(spec, inputs)
        require(not beyond, f"faults[{index}].{beyond}")


def _check_fault(place: str, spec: FaultSpec, plan: Plan, system: System, tier: Tier, tools: Toolbox) -> None:
    fault = tools.faults.get(spec.kind)
    if fault is None:
        raise unknown("fault", spec.kind, tools.faults)
    require(
        spec.target.role in fault.roles,
        f"{place}.target.role is {spec.target.role}; a {spec.kind} hits {listed(fault.roles)}: choose one of these.",
    )
    _check_target(f"{place}.target", spec.target, plan)
    _check_parameters(
        f"{place}.parameters", spec.parameters, {name: kind for name, (kind, _) in fault.parameters.items()}
    )
    _in_range(f"{place}.duration_ms", spec.duration_ms, 0)
    require(
        fault.lasting or not spec.duration_ms,
        f"{place}.duration_ms is {spec.duration_ms}, but a {spec.kind} does not last: set it to 0.",
    )
    needed = fault.needs(spec)
    _check_capability(needed, f"{place} ({spec.kind})", system, tier)
    if isinstance(fault, ContractBound):
        _check_contract(place, spec, fault, system)
    _check_schedule(f"{place}.schedule", spec.schedule, plan, system, tier)


def _check_capability(needed: str, what: str, system: System, tier: Tier) -> None:
    if needed not in declared(system):
        raise NotApplicable(f"system {system.name!r} does not declare {needed}, which {what} needs.")
    if needed not in system.capabilities.get(tier, {needed}):
        raise NotApplicable(f"system {system.name!r} does not declare {needed} on tier {tier}, which {what} needs.")


def _check_contract(place: str, spec: FaultSpec, fault: ContractBound, system: System) -> None:
    """Refuse a fault on messages that is beyond the contract of the system."""
    contract = system.message_contract if isinstance(system, MessageContractAware) else ORDERED_CONNECTION
    try:
        beyond = fault.beyond(spec, contract)
    except ValueError as error:
        raise UsageError(f"{place}.parameters: {error}") from error
    require(not beyond, f"{place} ({spec.kind}) goes beyond the message contract of system {system.name!r}: {beyond}")


def _check_schedule(place: str, schedule: Schedule, plan: Plan, system: System, tier: Tier) -> None:
    _in_range(f"{place}.after_checkpoint", schedule.after_checkpoint, 0)
    _in_range(f"{place}.after_rows", schedule.after_rows, 0)
    for field in ("after_acknowledged", "after_restored"):
        wanted = getattr(schedule, field)
        _in_range(f"{place}.{field}", wanted, 0)
        if wanted and not _SHOWS_PERSISTENCE & declared(system):
            raise NotApplicable(
                f"system {system.name!r} declares neither {' nor '.join(sorted(_SHOWS_PERSISTENCE))}, one of which "
                f"{place}.{field} needs."
            )
    if schedule.at_event and schedule.at_event not in WATCHED:
        allowed = known_names(schedule.at_event, sorted(WATCHED), "allowed are")
        raise UsageError(f"{place}.at_event is {schedule.at_event!r}; {allowed}: use one of these.")
    if schedule.at_event and evidence_of(system).get(schedule.at_event, Evidence.NONE) is Evidence.NONE:
        raise NotApplicable(f"{place}.at_event is {schedule.at_event!r}, which system {system.name!r} does not report.")
    if schedule.at_time_ms is not None:
        _in_range(f"{place}.at_time_ms", schedule.at_time_ms, 0)
        require(
            tier is Tier.SIM,
            f"{place}.at_time_ms is {schedule.at_time_ms}, but only tier {Tier.SIM} can keep a time: use progress.",
        )
        require(schedule.gate is None, f"{place} has a gate and at_time_ms: remove one of the two.")
    if schedule.gate is not None:
        _check_gate(f"{place}.gate", schedule.gate, plan, system, tier)


def _check_gate(place: str, gate: Gate, plan: Plan, system: System, tier: Tier) -> None:
    _check_capability(Capability.GATES, place, system, tier)
    if gate.effect not in system.gates:
        raise NotApplicable(f"{place}.effect is {gate.effect!r}; system {system.name!r} has {listed(system.gates)}.")
    _in_range(f"{place}.occurrence", gate.occurrence, 1)
    _check_target(f"{place}.target", gate.target, plan)
    vertices = [vertex.name for vertex in plan.job.vertices]
    require(
        not gate.vertex or gate.vertex in vertices,
        f"{place}.vertex is {gate.vertex!r}; the vertices are {listed(vertices)}: use one of these, or none.",
    )


def _check_target(place: str, target: Target, plan: Plan) -> None:
    counts = {
        Role.WORKER: plan.topology.parallelism,
        Role.TASK: len(subtasks(plan.job, plan.topology)),
        Role.CHANNEL: len(network_channels(plan.job, plan.topology)),
    }
    count = counts.get(target.role, 1)
    if not count:
        raise NotApplicable(f"{place}: job {plan.job.name!r} has no {target.role} that a fault can hit.")
    _in_range(f"{place}.index", target.index, 0, count - 1)


def _check_parameters(place: str, parameters: Mapping[str, int | str], kinds: Mapping[str, type]) -> None:
    for name, value in parameters.items():
        if name not in kinds:
            allowed = known_names(name, sorted(kinds), "allowed are")
            raise UsageError(f"{place} has {name!r}; {allowed}: remove or rename it.")
        require(
            type(value) is kinds[name],
            f"{place}.{name} is {value!r}: give {'a whole number' if kinds[name] is int else 'a text'}.",
        )


def _in_range(place: str, value: int, low: int, high: int | None = None) -> None:
    allowed = f"at least {low}" if high is None else f"{low} to {high}"
    require(value >= low and (high is None or value <= high), f"{place} is {value}; allowed is {allowed}: change it.")


MOST_WORKERS = 3


def fit_to_system(plan: Plan, system: System, tier: Tier) -> Plan:
    """A plan as it fits a system: changed to what the system takes, or its rehearsal plan with the same faults.

    Args:
        plan: for any system; its parallelism is the least that it can do with.
        system: to be named in it.
        tier: where it is to run.

    Raises:
        UsageError: it is refused for another reason.
        NotApplicable: the system cannot have it.
    """
    if isinstance(system, Rehearsed) and (own := answer_of(system.rehearsals, tier, kind=Sequence, of=Plan)):
        plan = replace(own[0], faults=plan.faults)
    plan = replace(plan, system=system.name)
    widest = max(MOST_WORKERS, plan.topology.parallelism)
    for width in range(plan.topology.parallelism, widest + 1):
        wide = replace(plan, topology=replace(plan.topology, parallelism=width))
        try:
            check_options(wide, system)
        except NotApplicable:
            if any(each.use is not OptionUse.UNSUPPORTED for each in account_of(system, wide)):
                raise
            wide = replace(wide, options={})  # It has none: it persists when it likes.
        except UsageError:
            if width == widest:
                raise
            continue
        break
    check_plan(wide, system, tier, registry.toolbox())
    return wide
