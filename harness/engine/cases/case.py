"""Cases: whether one applies to a system, which plans it runs, and one run of it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import msgspec

from holdfast.harness.engine.errors import NotApplicable, UsageError
from holdfast.harness.engine.plans.validate import check_options, check_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.registry import Toolbox
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.spi.system import System, Versioned, declared


def is_control(case: Case) -> bool:
    """Whether a case is a negative control: it names a wrong system itself and must fail on it."""
    return case.expected is Outcome.FAIL


def system_under_test(case: Case, system: System, first_seed: int) -> System:
    """The system under test of a case: the given one, or the wrong one that a negative control names.

    Args:
        case: to be run.
        system: to be certified.
        first_seed: from which the plan of a control is drawn, if it is.

    Raises:
        NotApplicable: the control is of another system, or about what the given one does not do; one sentence.
        UsageError: there is no such wrong system.
    """
    if not is_control(case):
        return system
    wrong = case.plan_for(first_seed).system
    if _base(wrong) != _base(system.name):
        raise NotApplicable(f"{wrong} is a wrong {_base(wrong)}, and {system.name} is none")
    if missing := sorted(case.needs - declared(system)):
        raise NotApplicable(f"{wrong} is wrong in {', '.join(missing)}, which {system.name} does not declare")
    return registry.system(system.of_its_version(wrong) if isinstance(system, Versioned) else wrong)


def _base(name: str) -> str:
    """The name of a system without its variant."""
    return name.partition("+")[0]


def plan_of(case: Case, system: System, first_seed: int, number: int, attempt: int = 0) -> Plan:
    """The plan of run `number` of a case, from 0, for a system.

    Args:
        attempt: how often this run missed already. A plan that was written by hand then gets other random numbers; a
            drawn one was replaced by the next draw.
    """
    plan = case.plan_for(first_seed + number)
    changes: dict[str, object] = {"system": system.name}
    if attempt and not plan.draw_seed:
        changes["run_seed"] = plan.run_seed + attempt
    return msgspec.structs.replace(plan, **changes)


def why_not_applicable(case: Case, system: System, tier: Tier, tools: Toolbox) -> str:
    """Why a case cannot run on a system, in one sentence; empty if it can.

    Raises:
        UsageError: the case's own plan is wrong.
    """
    if missing := sorted(case.needs - declared(system)):
        return f"{system.name} does not declare {', '.join(missing)}"
    if tier not in system.capabilities:
        return f"{system.name} does not run on tier {tier}"
    plan = plan_of(case, system, first_seed=1, number=0)
    try:
        check_plan(plan, system, tier, tools)
    except NotApplicable as error:
        return str(error).rstrip(".")
    except UsageError as error:
        raise UsageError(f"case {case.id}: {error}") from error
    # A value that the system refuses is no reason: the run shows that it refused what it should have accepted.
    with suppress(UsageError):
        try:
            check_options(plan, system)
        except NotApplicable as error:
            return str(error).rstrip(".")
    # Behind the system's own words, which name the package that is absent.
    missing = sorted(case.needs - system.capabilities[tier])
    return f"{system.name} does not declare {', '.join(missing)} on tier {tier}" if missing else ""


def not_applicable(case: Case, system: System, tier: Tier) -> str:
    """Why a case does not apply to a system on a tier, including negative controls of other systems; empty: it does. A
    case whose own plan is wrong applies, and shows it."""
    try:
        system_under_test(case, system, first_seed=1)
        return why_not_applicable(case, system, tier, registry.toolbox())
    except NotApplicable:
        return "it is a negative control of another system"
    except UsageError:
        return ""


def chosen(cases: Iterable[Case], rules: frozenset[str], areas: frozenset[str]) -> tuple[Case, ...]:
    """The cases that decide one of the rules or a rule of one of the areas, behind the rehearsals; all if none is
    named."""
    if not rules and not areas:
        return tuple(cases)
    return tuple(
        case
        for case in cases
        if case.rehearsal or any(each.rule in rules or each.rule.partition("-")[0] in areas for each in case.decides)
    )
