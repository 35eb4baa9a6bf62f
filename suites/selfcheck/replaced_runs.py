"""Runs on real tiers as cases run them: one that missed is replaced, a bounded number of times, and nothing else is."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from msgspec.structs import replace

from holdfast.harness.engine.cases.case_run import CaseRun, run_until
from holdfast.harness.engine.executor.run import Run
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.window import Window
from holdfast.harness.spi.system import System


def run_of_case(case: Case, plan: Plan, system: System, folder: Path) -> Run:
    """The first run that counts of a plan in the place of a case's own, or the last one that missed.

    A run counts as for a certificate: its faults took effect, and if nothing is refuted, it hit every window that the
    case demands, and each deciding clause had something to decide. A run that counts is the last one.

    Args:
        folder: existing; takes the folders of the runs.

    Raises:
        AssertionError: the harness broke; with the reason.
    """
    alone = replace(case, plan=plan, runs=1)
    *_, finished = run_until(CaseRun(alone, system, case.tiers[0], registry.toolbox(), folder=folder), 1)
    assert finished.run is not None, finished.result.reason
    return finished.run


def counting_run(plan: Plan, system: System, tier: Tier, folder: Path, windows: Collection[Window] = ()) -> Run:
    """The first run that counts of a plan which belongs to no case, or the last one that missed."""
    case = Case(
        id="selfcheck/plan",
        purpose="",
        method="",
        passes="",
        decides=(),
        plan=plan,
        windows=tuple(windows),
        tiers=(tier,),
    )
    return run_of_case(case, plan, system, folder)
