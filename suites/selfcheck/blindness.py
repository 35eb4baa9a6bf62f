"""Is a quick certificate blind? Of wrong variants of the reference, drawn by seed: which of those that a thorough
certificate refuses does a quick one refuse?

What a quick certificate runs is part of what a thorough one runs, with the same plans. So a variant that the quick one
refuses is refused by both; only for another one the rest of the thorough one runs. On the simulator alone: there a
result is the same each time.

python -m holdfast.suites.selfcheck.blindness [--seed 1] [--count 60]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, NamedTuple

import msgspec
import typer

from holdfast.harness.engine.cases.case import not_applicable
from holdfast.harness.engine.cases.case_run import run_case
from holdfast.harness.engine.cases.swarm_case import SWARM_ID, cases_for
from holdfast.harness.engine.certification.agenda import DRAWN_PLANS, cost_s, select
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.journal import Status
from holdfast.harness.model.sentence import plural
from holdfast.harness.sim.streams import Stream

LEAST_SHARE = 0.95
"""Of the variants that a thorough certificate refuses, as many are refused by a quick one."""
_BASE = "reference"


class Refusal(NamedTuple):
    """Which case refused a variant: of a quick certificate, or only of a thorough one; empty: none did."""

    variant: str
    quick: str = ""
    thorough: str = ""

    def __str__(self) -> str:
        if self.quick:
            return f"{self.variant}: refused by {self.quick}"
        return f"{self.variant}: {f'MISSED, {self.thorough} refuses it' if self.thorough else 'not refused on sim'}"


def variants() -> list[str]:
    """Every wrong variant of the reference: registered ones, and those that a decision names."""
    named = (decision.wrong_system for case in registry.cases() for decision in case.decides)
    return sorted({name for name in (*named, *(each.system for each in registry.mutants())) if _is_variant(name)})


def drawn(seed: int, count: int) -> list[str]:
    """So many different variants."""
    left, stream = variants(), Stream(seed, "blindness")
    return [left.pop(stream.below(len(left))) for _ in range(min(count, len(left)))]


def refusal(variant: str) -> Refusal:
    """What refuses a variant; the rest of the thorough certificate runs only where the quick one passes it."""
    system = registry.system(variant)
    costs = registry.case_costs()
    able = [
        (case, Tier.SIM)
        for case in cases_for(system)
        if Tier.SIM in case.tiers and not not_applicable(case, system, Tier.SIM)
    ]
    quick = [_fewer(case) for case, _ in select(able, costs)]
    chosen = {case.id for case in quick if case.id != SWARM_ID}
    rest = sorted((case for case, _ in able if case.id not in chosen), key=lambda case: cost_s(costs, case, Tier.SIM))
    if found := _refusing(variant, sorted(quick, key=lambda case: not _names(case, variant))):
        return Refusal(variant, quick=found)
    return Refusal(variant, thorough=_refusing(variant, rest))


def _refusing(variant: str, cases: Iterable[Case]) -> str:
    """The first case that fails on a variant; empty: none."""
    return next((case.id for case in cases if run_case(variant, case, Tier.SIM).status is Status.FAIL), "")


def _fewer(case: Case) -> Case:
    return msgspec.structs.replace(case, runs=DRAWN_PLANS) if case.id == SWARM_ID else case


def _names(case: Case, variant: str) -> bool:
    return any(decision.wrong_system == variant for decision in case.decides)


def _is_variant(name: str) -> bool:
    return name.startswith(f"{_BASE}+")


def share(found: Sequence[Refusal]) -> float:
    """How many of those that a thorough certificate refuses a quick one refuses; 1 where it refuses none."""
    both = sum(bool(each.quick) for each in found)
    refused = both + sum(bool(each.thorough) for each in found)
    return both / refused if refused else 1.0


def main(
    seed: Annotated[int, typer.Option(help="Of the draw.")] = 1,
    count: Annotated[int, typer.Option(min=1, help="How many variants.")] = 60,
) -> None:
    """Compare, and fail where the quick certificate misses too many."""
    found = []
    for variant in drawn(seed, count):
        found.append(refusal(variant))
        print(found[-1], flush=True)  # noqa: T201 - the command's own output
    words = f"of {plural(len(found), 'variant')}, {share(found):.1%} of what a thorough certificate refuses"
    print(f"A quick certificate refuses, {words}.")  # noqa: T201 - the command's own output
    raise typer.Exit(0 if share(found) >= LEAST_SHARE else 1)


if __name__ == "__main__":
    typer.run(main)
