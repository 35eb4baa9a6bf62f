"""Rehearsals as cases: before a fault acts, a run without one shows that the system under test can be judged at all."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.harness.engine.cases.tally import Tally
from holdfast.harness.engine.site.answers import answer_of
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.plan import Plan
from holdfast.harness.spi.system import Rehearsed, System

AREA = "rehearsal"


def rehearsals(system: System, tier: Tier) -> tuple[Case, ...]:
    """What is run on a tier before all other cases."""
    plans = (
        answer_of(system.rehearsals, tier, kind=Sequence, of=Plan)
        if isinstance(system, Rehearsed) and tier in system.capabilities
        else ()
    )
    return tuple(_rehearsal(plan, tier) for plan in plans)


def _rehearsal(plan: Plan, tier: Tier) -> Case:
    return Case(
        id=f"{AREA}/{plan.job.name}",
        purpose="Can anything be said of the system under test: does it meet its contract while nothing is broken?",
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
        return f"no fault was tried, because the run without one says nothing ({rehearsal.id})"
    return ""
