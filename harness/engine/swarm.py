"""The swarm as a case, made to measure for a system: many drawn plans, each with its own mix."""

from __future__ import annotations

from functools import partial

import msgspec

from holdfast.harness.engine import registry
from holdfast.harness.engine.draw import draw_plan
from holdfast.harness.engine.mix import SWARM, mix_for
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.spi.system import System

SWARM_ID = "swarm/drawn-plans"
RUNS = {Tier.SIM: 300}
REAL_RUNS = 5
REAL = msgspec.structs.replace(SWARM, interval_ms=(300, 600), records=(2_000, 6_000), timed_percent=0)
"""The same in the time of real processes, where nothing can be made to happen at a time, for a system that is on no
simulator."""


def swarm_case(system: System) -> Case:
    """What `certify` asks beside the registered cases: of every system what it is able to take."""
    tier = min(system.tiers, key=list(Tier).index)
    return Case(
        id=SWARM_ID,
        purpose="Does every guarantee stand under whatever mix of faults, options and width is drawn?",
        method="Each run draws its own plan from one seed: two to four faults by progress, at gates and at times.",
        passes="No oracle names an anomaly in any run.",
        decides=(),
        plan=partial(draw_plan, mix=mix_for(system, SWARM if tier is Tier.SIM else REAL)),
        runs=RUNS.get(tier, REAL_RUNS),
        tiers=(tier,),
    )


def cases_for(system: System) -> tuple[Case, ...]:
    """The registered cases, and the swarm."""
    return (*registry.cases(), swarm_case(system))


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
