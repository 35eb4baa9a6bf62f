"""The same plans on several systems, one run after the other."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from holdfast.harness.engine.cases.compared_setup import Setup
from holdfast.harness.engine.cases.stored_plan import run_and_store
from holdfast.harness.engine.errors import NotApplicable, UsageError
from holdfast.harness.engine.executor.run import Run
from holdfast.harness.engine.plans.fitted import fitted
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.interruption import Interruption
from holdfast.harness.engine.views.recovery import recoveries
from holdfast.harness.engine.views.restarts import checkpoints_ms, read_again
from holdfast.harness.model.compared_systems import ComparedRun
from holdfast.harness.model.plan import Plan


def side_by_side(
    plans: Mapping[str, Plan],
    setups: Sequence[Setup],
    folder: Path,
    interruption: Interruption,
    runs: int = 1,
) -> Iterator[ComparedRun]:
    """Run them, system by system, until a signal comes.

    Args:
        plans: by name; each is changed to what a system takes (plans.fitted).
        setups: of systems; each on its own.
        folder: takes a folder for each run.
        interruption: heard between any two steps.
        runs: of each plan on each system.
    """
    for setup in setups:
        for name, plan in plans.items():
            try:
                own = fitted(replace(plan, options={**plan.options, **setup.options}), setup.system, setup.tier)
            except (NotApplicable, UsageError) as error:
                yield ComparedRun(name, setup.name, setup.tier, None, str(error))
                continue
            for number in range(runs):
                place = folder / re.sub(r"[\s/]", "-", f"{name}-{setup.name}-{number}")
                run, _ = run_and_store(own, setup.system, registry.toolbox(), setup.tier, place, interruption)
                if interruption.signal:
                    return
                yield compared(run, name, setup)


def compared(run: Run, plan: str, setup: Setup) -> ComparedRun:
    """What is compared of a run of the plan of that name."""
    history = run.history
    clauses = {f"{verdict.oracle}/{anomaly.clause}" for verdict in run.verdicts for anomaly in verdict.anomalies}
    return ComparedRun(
        plan,
        setup.name,
        setup.tier,
        run.outcome,
        run.reason or ", ".join(sorted(clauses)),
        recoveries(history, registry.toolbox().faults),
        read_again(history),
        checkpoints_ms(history),
        os.getloadavg()[0],
    )
