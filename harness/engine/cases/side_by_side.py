"""The same plans on several systems, one run after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from holdfast.harness.engine.cases.stored_plan import run_and_store
from holdfast.harness.engine.errors import NotApplicable, UsageError
from holdfast.harness.engine.executor.run import Run
from holdfast.harness.engine.plans.fitted import fitted
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.interruption import Interruption
from holdfast.harness.engine.views.recovery import recoveries
from holdfast.harness.engine.views.restarts import checkpoints_ms, read_again
from holdfast.harness.model.case import Tier
from holdfast.harness.model.compared_systems import ComparedRun
from holdfast.harness.model.plan import Plan
from holdfast.harness.spi.system import System


def side_by_side(
    plans: Mapping[str, Plan],
    systems: Sequence[System],
    tier: Tier,
    folder: Path,
    interruption: Interruption,
    runs: int = 1,
) -> Iterator[ComparedRun]:
    """Run them, system by system, until a signal comes.

    Args:
        plans: by name; each is changed to what a system takes (plans.fitted).
        systems: each on its own.
        tier: of all runs.
        folder: takes a folder for each run.
        interruption: heard between any two steps.
        runs: of each plan on each system.
    """
    for system in systems:
        for name, plan in plans.items():
            try:
                own = fitted(plan, system, tier)
            except (NotApplicable, UsageError) as error:
                yield ComparedRun(name, system.name, None, str(error))
                continue
            for number in range(runs):
                place = folder / f"{name}-{system.name.replace('/', '-')}-{number}"
                run, _ = run_and_store(own, system, registry.toolbox(), tier, place, interruption)
                if interruption.signal:
                    return
                yield compared(run, name)


def compared(run: Run, plan: str) -> ComparedRun:
    """What is compared of a run; `plan` is the name that its plan has."""
    history = run.history
    clauses = {f"{verdict.oracle}/{anomaly.clause}" for verdict in run.verdicts for anomaly in verdict.anomalies}
    return ComparedRun(
        plan,
        history.plan.system,
        run.outcome,
        run.reason or ", ".join(sorted(clauses)),
        recoveries(history, registry.toolbox().faults),
        read_again(history),
        checkpoints_ms(history),
    )
