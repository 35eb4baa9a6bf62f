"""How many drawn plans, and how many seconds, it takes until some oracle refutes a wrong variant of the reference.

Plans are drawn from seeds 1, 2, ... of the whole swarm, none of them made for a variant. A kill counts only on a plan
that the reference itself passes. Variants that no drawn plan refutes are listed: their own cases refute them.

python -m holdfast.suites.bench.kills [VARIANT ...] [--limit 300]
"""

from __future__ import annotations

import time
from typing import Annotated, NamedTuple

import msgspec
import typer
from rich.progress import track

from holdfast.fixtures.mutants.variants import VARIANTS
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site.registry import system, toolbox
from holdfast.harness.engine.swarm.draw import draw_plan
from holdfast.harness.engine.swarm.mix import mix_for
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.bench.figures import median, percentile, table

REFERENCE = "reference"


class Kill(NamedTuple):
    """What it took to refute a variant.

    Attributes:
        seeds: drawn plans, the last of which refutes it; or all that were tried.
        seconds: of this process.
        clause: that was violated first, as `ORACLE/clause`; empty: no plan refutes it.
    """

    variant: str
    seeds: int
    seconds: float
    clause: str


def kill(variant: str, limit: int) -> Kill:
    """Draw plans for a variant until one refutes it."""
    tools, right = toolbox(), system(REFERENCE)
    wrong, mix = system(f"{REFERENCE}+{variant}"), mix_for(right)
    begin = time.process_time()
    for seed in range(1, limit + 1):
        plan = draw_plan(seed, mix)
        run = run_plan(msgspec.structs.replace(plan, system=wrong.name), wrong, tools)
        if run.outcome is Outcome.FAIL and run_plan(plan, right, tools).outcome is Outcome.PASS:
            clause = next(f"{each.oracle}/{each.anomalies[0].clause}" for each in run.verdicts if each.anomalies)
            return Kill(variant, seed, time.process_time() - begin, clause)
    return Kill(variant, limit, time.process_time() - begin, "")


def main(
    variants: Annotated[list[str] | None, typer.Argument(help="Only these.")] = None,
    limit: Annotated[int, typer.Option(help="Plans for each variant, at most.")] = 300,
) -> None:
    """Refute every variant, and print what it took."""
    kills = [kill(name, limit) for name in track(variants or list(VARIANTS), description="variants")]
    dead = [each for each in kills if each.clause]
    rows = [(each.variant, str(each.seeds), f"{each.seconds:.1f}", each.clause or "-") for each in kills]
    print(table("Wrong variants", ("variant", "plans", "seconds", "clause"), rows))
    plans, seconds = [each.seeds for each in dead], [each.seconds for each in dead]
    print(
        f"\n{len(dead)} of {len(kills)} variants refuted within {limit} plans; plans: median {median(plans):.0f}, p95 "
        f"{percentile(plans, 95):.0f}; seconds: median {median(seconds):.1f}, p95 {percentile(seconds, 95):.1f}"
    )
    alive = [each.variant for each in kills if not each.clause]
    print(f"not refuted by {limit} drawn plans: {', '.join(alive) or 'none'}")


if __name__ == "__main__":
    typer.run(main)
