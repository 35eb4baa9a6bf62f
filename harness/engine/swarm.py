"""The swarm as a case, made to measure for a system: many drawn plans, each with its own mix."""

from __future__ import annotations

from functools import partial

from holdfast.harness.engine import registry
from holdfast.harness.engine.draw import draw_plan
from holdfast.harness.engine.mix import SWARM, mix_for
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.spi.system import System

SWARM_ID = "swarm/drawn-plans"
RUNS = 300


def swarm_case(system: System) -> Case:
    """What `certify` asks beside the registered cases."""
    return Case(
        id=SWARM_ID,
        purpose="Does every guarantee stand under whatever mix of faults, options and width is drawn?",
        method="Each run draws its own plan from one seed: two to four faults by progress, at gates and at times.",
        passes="No oracle names an anomaly in any run.",
        decides=(),
        plan=partial(draw_plan, mix=mix_for(system, SWARM)),
        runs=RUNS,
        tiers=(Tier.SIM,),
    )


def cases_for(system: System) -> tuple[Case, ...]:
    """The registered cases, and the swarm where there is a simulator to run it."""
    return (*registry.cases(), swarm_case(system)) if Tier.SIM in system.tiers else registry.cases()


def case_for(system: System, name: str) -> Case:
    """One of these by its id.

    Raises:
        UsageError: there is none.
    """
    cases = cases_for(system)
    for case in cases:
        if case.id == name:
            return case
    raise registry.unknown("case", name, (case.id for case in cases))
