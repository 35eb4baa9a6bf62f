"""Cases that are made to measure for a system: the swarm, which is many drawn plans, each with its own mix; and
rehearsals. Before a fault acts, a run without one shows that the system under test can be judged at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import msgspec

from holdfast.harness.engine.cases.tally import Tally
from holdfast.harness.engine.site import entry_points, registry
from holdfast.harness.engine.site.answers import account_of, answer_of
from holdfast.harness.engine.swarm.draw import draw_plan
from holdfast.harness.engine.swarm.mix import SWARM, Mix, accepted_jobs, mix_for
from holdfast.harness.model import profile
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.case import Case, Tier, Window
from holdfast.harness.model.plan import Plan
from holdfast.harness.spi.system import OptionUse, Rehearsed, SuitsPlans, System

AREA = "rehearsal"


def rehearsals(system: System, tier: Tier) -> tuple[Case, ...]:
    """The cases that run on a tier before all others, without faults."""
    plans = (
        answer_of(system.rehearsals, tier, kind=Sequence, of=Plan)
        if isinstance(system, Rehearsed) and tier in system.capabilities
        else ()
    )
    return tuple(_rehearsal(plan, tier) for plan in plans)


def _rehearsal(plan: Plan, tier: Tier) -> Case:
    return Case(
        id=f"{AREA}/{plan.job.name}",
        purpose="Can the system under test be judged: does it meet its contract while no fault acts?",
        method="A run without faults, before all others.",
        passes="Checkpoints complete where they belong, output appears where the harness looks, and it is as expected.",
        decides=(),
        plan=plan,
        tiers=(tier,),
        rehearsal=True,
    )


def why_blocked(rehearsal: Case, on: Tier, tally: Tally, tier: Tier) -> str:
    """Why no other case need be run on a tier, in one sentence; empty if they may.

    Args:
        rehearsal, on: that was run, and where.
        tally: of its runs.
        tier: of the other cases. A contract that is violated without a fault is violated everywhere; what a tier lacks,
            another one may have.
    """
    if tally.failed:
        return f"no fault was tried, because the contract is violated without one ({rehearsal.id} on {on})"
    if on is tier and (tally.lacks or tally.errors):
        return f"no fault was tried, because the run without one decides nothing ({rehearsal.id})"
    return ""


SWARM_ID = "swarm/drawn-plans"
RUNS = {Tier.SIM: 300, Tier.SPARK: 2, Tier.CONTAINERS: 2}
REAL_RUNS = 5
_RATE = "records_per_second"
PATIENCE = {Tier.SPARK: 6, Tier.CONTAINERS: 6}
"""How many times as long a phase may take where a process that starts again starts a Java machine."""
ARRIVAL = 3
"""How many times as long input arrives where checkpoints are micro-batches: they take longer than their interval."""
REAL = msgspec.structs.replace(
    SWARM,
    jobs={**SWARM.jobs, "window-sum": 4},
    coordinator_gates={**SWARM.coordinator_gates, "write-offsets": 2, "write-commit": 3},
    interval_ms=(300, 600),
    records=(2_000, 6_000),
    fault_count={2: 3, 3: 1},
    calm_percent=0,
    single_percent=0,
    timed_percent=0,
    boundary_percent=0,
    within_edges=frozenset({profile.TIMEOUT}),
    long_percent=0,
    backlog_percent=0,
)
"""The same in the time of real processes: nothing can be made to happen at a time, no checkpoint is sure to be complete
within an interval, and a death may fail a job twice. Of the few runs each must strike something."""


def swarm_case(system: System, tier: Tier | None = None) -> Case:
    """The case of `certify` that runs drawn plans, within the capabilities of the system.

    Args:
        tier: of its runs, which changes the plans; None: the first on which the system runs.
    """
    tier = tier or _first_tier(system)
    mix = mix_for(system, SWARM if tier is Tier.SIM else REAL, tier)
    return Case(
        id=SWARM_ID,
        purpose="Does every guarantee stand under whatever mix of faults, options and width is drawn?",
        method="Each run draws its own plan from one seed: no fault, one, or several; by progress, at gates, at times.",
        passes="No oracle names an anomaly in any run.",
        decides=(),
        windows=demanded_windows(system, tier),
        plan=partial(_drawn, system, mix, tier),
        runs=RUNS.get(tier, REAL_RUNS),
        tiers=(tier,),
    )


def demanded_windows(system: System, tier: Tier) -> tuple[Window, ...]:
    """The windows that drawn plans must hit: of a program those of a restore, for which each of its plans is drawn; of
    others, with the many runs of the simulator, all that they declare."""
    able = system.capabilities[tier]
    if Capability.CHECKPOINTS not in able:
        if not able >= {Capability.ACKNOWLEDGES_INPUT, Capability.KILL_WORKER}:
            return ()
        return (Window.RESTORED_STATE, *((Window.SENT_AGAIN,) if Capability.GATES in able else ()))
    if tier is not Tier.SIM:
        return ()  # A few runs may kill only what is started again without a restore, such as an executor.
    declared = [Window.RESTORED_STATE, Window.READ_AGAIN]
    if Capability.TWO_PHASE_COMMIT in able:
        declared.append(Window.TRANSACTION_IN_DOUBT)
    if Capability.UNALIGNED_CHECKPOINTS in able:
        declared += [Window.OVERTAKING, Window.RESTORED_IN_FLIGHT]
    if able >= {Capability.RESTART_STRATEGIES, Capability.KILL_WORKER}:
        declared.append(Window.RESTART_STRUCK)
    if able >= {Capability.REGIONAL_FAILOVER, Capability.KILL_WORKER}:
        declared += [Window.REGION_RESTARTED, Window.REGION_STRUCK]
    return tuple(declared)


def _drawn(system: System, mix: Mix, tier: Tier, seed: int) -> Plan:
    """The plan of a seed in the time of its tier, suited to the system, and without the options that this does not
    support: an adapter may lack some of an area."""
    slowly = Capability.MICRO_BATCHES in mix.able
    plan = _in_time(draw_plan(seed, mix), PATIENCE.get(tier, 1), ARRIVAL if slowly else 1)
    if isinstance(system, SuitsPlans):
        plan = answer_of(system.suited, plan, tier, kind=Plan)
    try:
        unsupported = {each.key for each in account_of(system, plan) if each.use is OptionUse.UNSUPPORTED}
    except ValueError:
        return plan  # The run shows that it refuses what it should have accepted.
    if not unsupported:
        return plan
    return msgspec.structs.replace(
        plan, options={key: value for key, value in plan.options.items() if key not in unsupported}
    )


def _in_time(plan: Plan, patience: int, arrival: int) -> Plan:
    safety_ms, liveness_ms = (bound * patience for bound in (plan.bounds.safety_ms, plan.bounds.liveness_ms))
    parameters = dict(plan.workload.parameters)
    parameters[_RATE] = max(1, int(parameters[_RATE]) // arrival)
    return msgspec.structs.replace(
        plan,
        bounds=msgspec.structs.replace(plan.bounds, safety_ms=safety_ms, liveness_ms=liveness_ms),
        workload=msgspec.structs.replace(plan.workload, parameters=parameters),
    )


def _first_tier(system: System) -> Tier:
    """The first on which it can be given a job; if there is none, the first of all."""
    tiers = sorted(system.capabilities, key=list(Tier).index)
    return next((tier for tier in tiers if accepted_jobs(system, REAL, tier)), tiers[0])


def cases_for(system: System, drawn_on: Iterable[Tier] = ()) -> tuple[Case, ...]:
    """The rehearsals of the system, the registered cases, and the swarm on the first tier of the system and on those of
    `drawn_on`."""
    tiers = {_first_tier(system), *drawn_on} & system.capabilities.keys()
    first = (case for tier in Tier for case in rehearsals(system, tier))
    return (*first, *registry.cases(), *(swarm_case(system, tier) for tier in Tier if tier in tiers))


def case_for(system: System, name: str, tier: Tier | None = None) -> Case:
    """One of these by its id; swarm and rehearsal by their tier, too.

    Raises:
        UsageError: there is none.
    """
    if tier is None:
        cases = cases_for(system)
    else:
        cases = (*rehearsals(system, tier), *registry.cases(), swarm_case(system, tier))
    for case in cases:
        if case.id == name:
            return case
    raise entry_points.unknown("case", name, (case.id for case in cases))
