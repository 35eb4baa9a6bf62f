"""Plans from outside: checked against the system, the tier and the tools that are to run them.

A drawn plan is valid by construction and does not come here.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.engine.errors import NotApplicable, UsageError
from holdfast.harness.engine.plans.check_job import check_job, listed, require
from holdfast.harness.engine.plans.sizes import check_sizes
from holdfast.harness.engine.site.answers import account_of, answer_of, evidence_of
from holdfast.harness.engine.site.entry_points import unknown
from holdfast.harness.engine.site.registry import Toolbox
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.case import Tier
from holdfast.harness.model.demands import demands
from holdfast.harness.model.evidence import Evidence
from holdfast.harness.model.message_contract import ORDERED_CONNECTION
from holdfast.harness.model.nearest import known_names
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec, Gate, Plan, Schedule
from holdfast.harness.model.submitted_jobs import STOP, topologies
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.topology import network_channels, subtasks
from holdfast.harness.spi.fault import ContractBound, InputBound
from holdfast.harness.spi.system import WATCHED, MessageContractAware, OptionUse, System, TierAware, declared

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
        return ""  # A value of an option is refused, as check_options says, or as the run is to show.


def check_options(plan: Plan, system: System) -> None:
    """Every option must be accounted for, unless the plan starts nothing.

    Raises:
        UsageError: a value is refused.
        NotApplicable: an option is unsupported, or the adapter says nothing about it.
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
    """What is done to messages is within the contract of the system."""
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
