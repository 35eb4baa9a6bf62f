"""Plans in words, for people: reports, progress lines, counts by attack and by window."""

from __future__ import annotations

from itertools import groupby

from holdfast.harness.engine.site import registry
from holdfast.harness.model import profile
from holdfast.harness.model.capability import Claims, guarantee_name
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec, Gate, Plan, Schedule
from holdfast.harness.model.sentence import plural
from holdfast.harness.model.submitted_jobs import PARALLELISM
from holdfast.harness.model.target import Role, Target
from holdfast.harness.oracles.shared.stated_options import texts
from holdfast.harness.spi.fault import request_of

_SINGLE = frozenset({Role.COORDINATOR, Role.STORAGE, Role.BROKER, Role.SOURCE_SYSTEM, Role.SINK_SYSTEM})

RESTARTS = {
    "failure_counted": "fault between a failure and its restart",
    "attempt_started": "fault at the start of an attempt",
}
"""By the event that a fault waits for, the part of a restart that it strikes."""
FIRST_CHECKPOINT = "fault before the first checkpoint of an attempt"


def target_in_words(target: Target) -> str:
    """`worker 1`, `coordinator`."""
    return target.role.value if target.role in _SINGLE else f"{target.role.value} {target.index}"


def fault_in_brief(spec: FaultSpec) -> str:
    """`kill of worker 1`; what somebody asks for is called that, `a user's cancel`."""
    fault = registry.toolbox().faults.get(spec.kind)
    return (request_of(fault) if fault else "") or f"{spec.kind} of {target_in_words(spec.target)}"


def attack(spec: FaultSpec) -> str:
    """What a fault is counted under: `kill worker`, `kill executor`, `storage-error commit`, `outage storage`."""
    parameters = spec.parameters
    return f"{spec.kind} {parameters.get('operation') or parameters.get('part') or spec.target.role.value}"


def window(spec: FaultSpec) -> str:
    """The window that a fault aims at, `kill worker before commit`; empty if it aims at none."""
    gate = spec.schedule.gate
    if spec.schedule.at_event in RESTARTS:
        return FIRST_CHECKPOINT if gate else RESTARTS[spec.schedule.at_event]
    return f"{attack(spec)} {moment(gate)}" if gate else ""


def moment(gate: Gate) -> str:
    """`before commit`; a gate in the middle of an operation that is not atomic is `during commit`."""
    inside = gate.effect.removeprefix("during-")
    return f"during {inside}" if inside != gate.effect else f"before {gate.effect}"


def fault_in_words(spec: FaultSpec) -> str:
    """`kill worker 1 after checkpoint 2 before commit`."""
    what = f"{spec.kind} {target_in_words(spec.target)}"
    details = "".join(f" {name}={value}" for name, value in spec.parameters.items())
    lasting = f" for {spec.duration_ms} ms" if spec.duration_ms else ""
    return f"{what}{details}{lasting}{schedule_in_words(spec.schedule)}"


def plan_in_words(plan: Plan) -> str:
    """One line: job, width, workload, faults, and the expected end unless it is to go on running."""
    workload = " ".join([plan.workload.name, *(f"{key}={value}" for key, value in plan.workload.parameters.items())])
    faults = "; ".join(map(fault_in_words, plan.faults)) or "no fault"
    end = "" if plan.expected_end is ExpectedEnd.RUNNING else f"; expected end {plan.expected_end.value}"
    return f"{plan.job.name} x{plan.topology.parallelism} on {workload}: {faults}{end}"


def setting_in_words(plan: Plan) -> str:
    """What ran, whatever breaks it: job, parallelism with what it becomes, the options that are no defaults with the
    file that they may be from, and the expected end unless it is to go on running."""
    requested = [int(spec.parameters[PARALLELISM]) for spec in plan.faults if PARALLELISM in spec.parameters]
    widths = [str(width) for width, _ in groupby([plan.topology.parallelism, *requested])]
    given = texts(plan)
    version = given.get(profile.PROFILE, profile.FLINK_2)
    defaults = {key: option.default_of(version) for key, option in profile.OPTIONS.items()}
    options = ", ".join(f"{key}={text}" for key, text in given.items() if text != defaults.get(key))
    wide = f"from {' to '.join(widths)}" if len(widths) > 1 else widths[0]
    file = f"a {plan.configuration_file.name.rpartition('/')[2]} and " if plan.configuration_file else ""
    end = "" if plan.expected_end is ExpectedEnd.RUNNING else f"; it must end {plan.expected_end}"
    return f"{plan.job.name}, parallelism {wide}; {file}{options or 'default options'}{end}"


def claims_in_words(claims: Claims) -> str:
    """`state exactly-once, output exactly-once`."""
    return f"state {guarantee_name(claims.state)}, output {guarantee_name(claims.output)}"


def schedule_in_words(schedule: Schedule) -> str:
    """` after checkpoint 2 before commit of sink`, with a blank in front; empty if it waits for nothing."""
    words = ""
    if schedule.after_checkpoint:
        words += f" after checkpoint {schedule.after_checkpoint}"
    if schedule.after_rows:
        words += f" after {plural(schedule.after_rows, 'row')}"
    if schedule.after_restored:
        words += f" after {plural(schedule.after_restored, 'restore')}"
    if schedule.after_acknowledged:
        words += f" after {plural(schedule.after_acknowledged, 'acknowledgement')} in that life"
    if schedule.at_event:
        words += f" at {schedule.at_event}"
    if schedule.gate is not None:
        gate = schedule.gate
        which = f" number {gate.occurrence}" if gate.occurrence > 1 else ""
        words += f" {moment(gate)}{which} of {gate.vertex or target_in_words(gate.target)}"
    if schedule.at_time_ms is not None:
        words += f" at {schedule.at_time_ms} ms"
    return words
