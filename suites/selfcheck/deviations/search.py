"""A plan and a clause that refute a variant, looked for among the directed plans."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from holdfast.fixtures.mutants.deviations.deviating import row_of, variant_name
from holdfast.fixtures.reference.protocol.effects import Effects
from holdfast.fixtures.reference.protocol.job.job_master import JobMaster
from holdfast.fixtures.reference.protocol.tasks.worker import Worker
from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.deviation import Deviation
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.selfcheck.containment import Containment
from holdfast.suites.selfcheck.directed_plans import REFERENCE, distinct_plans
from holdfast.suites.selfcheck.mutation.baseline import digest_of

AFTER_LIVENESS = 8
"""So many plans more are tried for a clause of safety when one of liveness was found."""
PLANS_EACH = 25
"""So many plans are tried for a variant."""
RUN_CPU_S = 5.0
LIVENESS = "LIVE"
LONG = "case long-runs/"
"""Plans that take a hundred times as long as others."""


class Found(msgspec.Struct, frozen=True):
    """What became of the search for one cell.

    Attributes:
        step, deviation: the cell.
        variant: that was refuted, or the last that was tried; empty: there is none.
        clause, plan: what refuted it, and on which plan; empty: nothing did.
        runs, differing, broken: how many plans were run, on how many its trace differs, and how many it did not finish.
    """

    step: str
    deviation: Deviation
    variant: str = ""
    clause: str = ""
    plan: str = ""
    runs: int = 0
    differing: int = 0
    broken: int = 0


class Candidate(msgspec.Struct, frozen=True):
    """A directed plan that the runtime passes, with a digest of what it did and the steps that occur in it."""

    name: str
    plan: Plan
    digest: bytes
    rows: frozenset[str]


def candidates() -> list[Candidate]:
    """All that are run."""
    found = []
    for name, plan in distinct_plans().items():
        if name.startswith(LONG):
            continue
        rows: set[str] = set()
        run = run_plan(plan, _observing(rows), registry.toolbox())
        if run.outcome is Outcome.PASS and rows:
            found.append(Candidate(name, plan, digest_of(run), frozenset(rows)))
    return found


def search(step: str, deviation: Deviation, among: Iterable[Candidate], kills: Counter[str]) -> Found:
    """Look for what refutes a cell: first with one deviation of each process, then with all.

    Args:
        step, deviation: the cell.
        among: plans.
        kills: by plan, how many cells it refuted so far; it is counted on.
    """
    meeting = sorted((each for each in among if step in each.rows), key=lambda each: -kills[each.name])
    total = Found(step, deviation)
    best: Found | None = None
    containment = Containment(RUN_CPU_S)
    patience = AFTER_LIVENESS
    for once in (True, False):
        variant = variant_name(step, deviation, once=once)
        system = registry.system(f"{REFERENCE}+{variant}")
        for candidate in meeting[:PLANS_EACH]:
            total = replace(total, variant=variant, runs=total.runs + 1)
            try:
                with containment.installed():
                    run = containment.run(candidate.plan, system, registry.toolbox())
            except Exception:
                total = replace(total, broken=total.broken + 1)
                continue
            differs = digest_of(run) != candidate.digest
            total = replace(total, differing=total.differing + differs)
            clause = refuting_clause(run)
            if clause and (best is None or not clause.startswith(LIVENESS)):
                best = replace(total, clause=clause, plan=candidate.name)
            patience -= best is not None
            if best is not None and (not patience or not best.clause.startswith(LIVENESS)):
                kills[best.plan] += 1
                return best
    return best or total


def refuted(variant: str, plan: Plan) -> Run:
    """Run a variant on a plan; its errors and hangs are its own."""
    system = registry.system(f"{REFERENCE}+{variant}")
    containment = Containment(RUN_CPU_S)
    with containment.installed():
        return containment.run(replace(plan, system=system.name), system, registry.toolbox())


def refuting_clause(run: Run) -> str:
    """The first clause that names an anomaly; that the job does not go on only where nothing else does."""
    clauses = clauses_of(run)
    return next((each for each in clauses if not each.startswith(LIVENESS)), next(iter(clauses), ""))


def clauses_of(run: Run) -> list[str]:
    """All clauses that name an anomaly."""
    return [f"{verdict.oracle}/{anomaly.clause}" for verdict in run.verdicts for anomaly in verdict.anomalies]


def _observing(rows: set[str]) -> ReferenceSystem:
    """The runtime itself, noting which steps occur."""

    class Noting:
        def step(self, event: Any, now: float) -> Effects:
            effects: Effects = super().step(event, now)  # type: ignore[misc]
            rows.update(row_of(each) for each in (event, *effects))
            return effects

    system = ReferenceSystem()
    system.parts = dataclasses.replace(
        system.parts,
        job_master=cast("type[JobMaster]", type(JobMaster.__name__, (Noting, JobMaster), {})),
        worker=cast("type[Worker]", type(Worker.__name__, (Noting, Worker), {})),
    )
    return system
