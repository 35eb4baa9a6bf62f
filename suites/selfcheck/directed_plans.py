"""Plans made for something, by name: those of the cases, those on which their mutants show themselves, those of
`holdfast mutants`, and those that are kept because a deviation shows itself on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import msgspec
from msgspec.structs import replace

from holdfast.harness.engine.artefacts.json_files import read_plan_file
from holdfast.harness.engine.cases.case import is_control, why_not_applicable
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier, plan_for
from holdfast.harness.model.plan import Plan

REFERENCE = "reference"
KEPT = Path(__file__).parent / "deviations" / "plans"
"""Drawn plans, by seed, and others, by what they do. They are files: what a seed draws changes with the swarm."""


@cache
def directed_plans() -> Mapping[str, Plan]:
    """By name, every plan for the reference runtime on the simulator; of a generator one for each run of its case."""
    return {name: plan for name, plan, _ in _all()}


@cache
def distinct_plans() -> Mapping[str, Plan]:
    """The same, each once, under the first of its names; of a generator the first one."""
    found: dict[bytes, tuple[str, Plan]] = {}
    for name, plan, first in _all():
        if first:
            found.setdefault(msgspec.msgpack.encode(plan), (name, plan))
    return dict(found.values())


def _all() -> Iterator[tuple[str, Plan, bool]]:
    tools, system = registry.toolbox(), registry.system(REFERENCE)
    for mutant in registry.mutants():
        yield f"mutant {mutant.name}", replace(mutant.plan, system=REFERENCE), True
    for case in registry.cases():
        if is_control(case) or Tier.SIM not in case.tiers or why_not_applicable(case, system, Tier.SIM, tools):
            continue
        for name, made in ((f"case {case.id}", case.plan), (f"case {case.id}, for its mutants", case.mutant_plan)):
            if isinstance(made, Plan):
                yield name, replace(made, system=REFERENCE), True
            elif made is not None:
                for number in range(case.runs):
                    yield f"{name}, run {number}", replace(plan_for(made, number), system=REFERENCE), not number
    for path in sorted(KEPT.glob("*.json")):
        yield f"kept {path.stem}", replace(read_plan_file(path), system=REFERENCE), True
