"""A plan for whatever system is named: changed where that takes no options, or is of another width."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from holdfast.harness.engine.errors import NotApplicable, UsageError
from holdfast.harness.engine.plans.validate import check_options, check_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.answers import account_of, answer_of
from holdfast.harness.model.case import Tier
from holdfast.harness.model.plan import Plan
from holdfast.harness.spi.system import OptionUse, Rehearsed, System

MOST_WORKERS = 3


def fitted(plan: Plan, system: System, tier: Tier) -> Plan:
    """That plan as it applies to a system, or that by which the system asks to be rehearsed, with the same faults.

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
