"""One plan, executed and stored."""

from __future__ import annotations

from pathlib import Path

from holdfast.harness.engine.artefacts.stored_run import close_run_folder, discard_run_folder, open_run_folder
from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.site.interruption import Interruption
from holdfast.harness.engine.site.registry import Toolbox
from holdfast.harness.model.case import Tier
from holdfast.harness.model.plan import Plan
from holdfast.harness.spi.system import System


def run_and_store(
    plan: Plan, system: System, tools: Toolbox, tier: Tier, folder: Path, interruption: Interruption
) -> tuple[Run, Path]:
    """Run a checked plan and keep the run in a new folder; the run, and where it is."""
    part = open_run_folder(folder, plan)
    try:
        with interruption.breakable():
            run = run_plan(plan, system, tools, tier, None if tier is Tier.SIM else part, interruption.reason)
    except BaseException:
        discard_run_folder(part)
        raise
    return run, close_run_folder(part, folder, run)
