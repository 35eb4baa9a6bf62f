"""Writes `covered.toml` from what was found: each variant with the clause that was seen to refute it, and the plan."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from holdfast.fixtures.mutants.deviations.table import FOLDER, cell_name, placed, stored
from holdfast.fixtures.mutants.variants import VARIANTS
from holdfast.harness.engine.site import registry
from holdfast.suites.selfcheck.deviations.search import Found, clauses_of, refuted
from holdfast.suites.selfcheck.directed_plans import directed_plans

HEAD = "# Written by `python -m holdfast.suites.selfcheck.deviations.cover`; run again by the tests of that package.\n"


def main() -> int:
    """Run each variant that was written by hand on the plans of its cases, and take over what a search found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("found", type=Path, help="found.jsonl of a search")
    given = parser.parse_args()
    found = [msgspec.json.decode(line, type=Found) for line in given.found.read_bytes().splitlines()]
    lines = [HEAD, "\n[written]\n"]
    for variant in placed():
        if (seen := _seen(variant)) is not None:
            lines.append(f'{variant} = {{ clause = "{seen[0]}", plan = "{seen[1]}" }}\n')
        else:
            print(f"nothing refutes {variant}", file=sys.stderr)
    lines.append("\n[generic]\n")
    for each in found:
        if each.clause:
            cell = cell_name(each.step, each.deviation)
            if each.clause not in clauses_of(refuted(each.variant, directed_plans()[each.plan])):
                print(f"{each.clause} does not refute {each.variant} on {each.plan} any more", file=sys.stderr)
                continue
            lines.append(
                f'"{cell}" = {{ variant = "{each.variant}", clause = "{each.clause}", plan = "{each.plan}" }}\n'
            )
    (FOLDER / "covered.toml").write_text("".join(lines))
    return 0


def _seen(variant: str) -> tuple[str, str] | None:
    """The clause that was seen to refute this variant before, or decides a rule by it, and the plan."""
    known = stored().get(variant)
    plan = directed_plans().get(known.plan) if known else None
    if known and plan and known.clause in clauses_of(refuted(variant, plan)):
        return known.clause, known.plan
    for name, clauses in _deciding(variant):
        run = refuted(variant, directed_plans()[name])
        named = [clause for clause in clauses_of(run) if not clauses or clause in clauses]
        if named:
            return named[0], name
    return None


def _deciding(variant: str) -> Iterator[tuple[str, set[str]]]:
    assert variant in VARIANTS, variant
    if f"mutant {variant}" in directed_plans():
        yield f"mutant {variant}", set()
    for case in registry.cases():
        for decision in case.decides:
            if decision.mutant == variant:
                clauses = {f"{decision.oracle}/{clause}" for clause in decision.clauses}
                whole = f"case {case.id}"
                of_case = [name for name in directed_plans() if name == whole or name.startswith(f"{whole}, ")]
                for name in sorted(of_case, key=lambda name: "for its mutants" not in name):
                    yield name, clauses


if __name__ == "__main__":
    sys.exit(main())
