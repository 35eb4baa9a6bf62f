"""Smaller plans, for the simulator: one that still shows the same anomaly, found greedily and deterministically; and
what of a refuted plan needs its faults, found by running it without any and with each alone.

It stays refuted, whatever comes of that: a failure that needs no fault is one as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import msgspec

from holdfast.harness.engine.executor.run import Run, run_plan, without_faults
from holdfast.harness.engine.plans.validate import check_options, check_plan
from holdfast.harness.engine.plans.words import fault_in_brief, schedule_in_words
from holdfast.harness.engine.site.registry import Toolbox
from holdfast.harness.engine.views.finding import NOT_TRIED, Needed, first_anomaly
from holdfast.harness.model.case import Tier
from holdfast.harness.model.plan import FaultSpec, Plan, Schedule
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.oracles.shared.stated_options import texts
from holdfast.harness.spi.system import System

TRIES = 300
replace = msgspec.structs.replace


def try_plan(plan: Plan, system: System, tools: Toolbox) -> Run | None:
    """A run of a plan on the simulator; None if it cannot be run, for whatever reason: what was left out of the plan
    may be what a fault of it acts on."""
    try:
        check_plan(plan, system, Tier.SIM, tools)
        check_options(plan, system)
        return run_plan(plan, system, tools)
    except Exception:  # Whatever breaks is no smaller plan, and must not cost the report.
        return None


def shrink(
    plan: Plan,
    reproduces: Callable[[Plan], bool],
    tries: int = TRIES,
    progress: Callable[[int], None] = lambda tried: None,
) -> Plan:
    """The smallest plan that was found.

    Args:
        plan: one that reproduces.
        reproduces: whether a plan still shows what it is about.
        tries: how many plans are run at most.
        progress: called after each with how many there were.
    """
    tried = 0
    smaller = True
    while smaller:
        smaller = False
        for candidate in _candidates(plan):
            if tried >= tries:
                return plan
            tried += 1
            found = reproduces(candidate)
            progress(tried)
            if found:
                plan, smaller = candidate, True
                break
    return plan


def _candidates(plan: Plan) -> Iterator[Plan]:
    """Smaller plans, those that leave out most first. Each differs from the plan."""
    for index in range(len(plan.faults)):
        yield replace(plan, faults=plan.faults[:index] + plan.faults[index + 1 :])
    for parallelism in range(1, plan.topology.parallelism):
        yield replace(plan, topology=replace(plan.topology, parallelism=parallelism))
    if plan.calls or plan.configuration_file is not None:
        yield replace(plan, options=dict(texts(plan)), calls=(), configuration_file=None)
    for key in plan.options:
        yield replace(plan, options={name: value for name, value in plan.options.items() if name != key})
    for name, value in plan.workload.parameters.items():
        for less in _less(value):
            parameters = {**plan.workload.parameters, name: less}
            yield replace(plan, workload=replace(plan.workload, parameters=parameters))
    for index, spec in enumerate(plan.faults):
        for simpler in _simpler(spec):
            yield replace(plan, faults=(*plan.faults[:index], simpler, *plan.faults[index + 1 :]))


def _less(value: int | str) -> Iterator[int]:
    if isinstance(value, int) and value > 0:
        for less in dict.fromkeys((0, 1, value // 4, value // 2, value - 1)):
            if less < value:
                yield less


def _simpler(spec: FaultSpec) -> Iterator[FaultSpec]:
    for name in spec.parameters:
        yield replace(spec, parameters={key: value for key, value in spec.parameters.items() if key != name})
    for schedule in _sooner(spec.schedule):
        yield replace(spec, schedule=schedule)


def _sooner(schedule: Schedule) -> Iterator[Schedule]:
    if schedule.gate is not None:
        yield replace(schedule, gate=None)
        for occurrence in range(1, schedule.gate.occurrence):
            yield replace(schedule, gate=replace(schedule.gate, occurrence=occurrence))
    if schedule.at_event:
        yield replace(schedule, at_event="")
    if schedule.after_rows:
        yield replace(schedule, after_rows=0)
    for acknowledged in range(schedule.after_acknowledged):
        yield replace(schedule, after_acknowledged=acknowledged)
    for restored in range(schedule.after_restored):
        yield replace(schedule, after_restored=restored)
    for checkpoints in range(schedule.after_checkpoint):
        yield replace(schedule, after_checkpoint=checkpoints)


MOST_FAULTS = 6
"""Of a plan, that are tried alone."""
MOST_PLANS = 10
"""That one report explains so."""


def needed_faults(run: Run, system: System, tools: Toolbox) -> Needed:
    """Which faults the cause of a refutation needs. Not tried where nothing was refuted, the plan has no fault, its
    expected end needs them, or the run was on no simulator.

    Args:
        run: that was judged.
        system: the system under test.
        tools: what it ran with.
    """
    plan = run.history.plan
    if run.tier is not Tier.SIM or run.outcome is not Outcome.FAIL or not plan.faults:
        return NOT_TRIED
    bare = without_faults(plan)
    if bare.expected_end is not plan.expected_end:
        return NOT_TRIED
    cause = first_anomaly(run.history, run.verdicts)

    def shows(candidate: Plan) -> bool:
        found = try_plan(candidate, system, tools)
        return found is not None and cause is not None and (cause[0], cause[1].clause) in _refuted(found)

    if shows(bare):
        return Needed("needs no fault", frozenset())
    words = _told_apart(plan.faults)
    if len(plan.faults) == 1:
        return Needed(f"needs {words[0]}", frozenset({0}))
    alone = [
        index
        for index, spec in enumerate(plan.faults[:MOST_FAULTS])
        if shows(msgspec.structs.replace(plan, faults=(spec,)))
    ]
    if alone:
        each = list(dict.fromkeys(words[index] for index in alone))
        sentence = f"needs one of: {', '.join(each)}" if len(each) > 1 else f"needs {each[0]}"
        return Needed(sentence, frozenset(alone))
    everything = frozenset(range(len(plan.faults)))
    if len(plan.faults) == 2:
        first, second = words
        sentence = f"{first} and {second}" if first != second else f"{first}, twice"
        return Needed(f"needs both: {sentence}", everything)
    return Needed(f"needs more than one of its {len(plan.faults)} faults", everything)


def _refuted(run: Run) -> set[tuple[str, str]]:
    return {(verdict.oracle, anomaly.clause) for verdict in run.verdicts for anomaly in verdict.anomalies}


def _told_apart(faults: Sequence[FaultSpec]) -> list[str]:
    """Each in words; those that read alike, with their moments."""
    words = list(map(fault_in_brief, faults))
    times = Counter(words)
    return [
        each + (schedule_in_words(spec.schedule) if times[each] > 1 else "")
        for each, spec in zip(words, faults, strict=True)
    ]
