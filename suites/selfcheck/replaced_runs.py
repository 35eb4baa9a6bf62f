"""Runs on real tiers as cases run them: one that missed is replaced, a bounded number of times, and nothing else is."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from pathlib import Path

from msgspec.structs import replace

from holdfast.harness.engine.cases.case_run import CaseRun, run_until
from holdfast.harness.engine.executor.run import Run
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.registry import Toolbox
from holdfast.harness.model.case import Case, Tier, Window
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.verdict import Outcome
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
    *_, last = _runs(replace(case, plan=plan, runs=1), system, folder)
    return last


def counting_run(
    plan: Plan, system: System, tier: Tier, folder: Path, *windows: Window, tools: Toolbox | None = None
) -> Run:
    """The same of a plan that belongs to no case. A run whose reader was too slow, and that did nothing else wrong,
    is the last one, too: the next would be no better on the same machine.

    Args:
        windows: that it must hit, if nothing is refuted.
        tools: faults, workloads and oracles; by default all that are registered.
    """
    case = Case(
        id="selfcheck/plan",
        purpose="",
        method="",
        passes="",
        decides=(),
        plan=plan,
        tiers=(tier,),
        windows=windows,
    )
    with closing(_runs(case, system, folder, tools)) as runs:
        for run in runs:
            if reader_was_slow(run):
                break
    return run


def named_clauses(run: Run) -> set[str]:
    """What of the run is violated, as ORACLE/clause."""
    return {f"{verdict.oracle}/{anomaly.clause}" for verdict in run.verdicts for anomaly in verdict.anomalies}


def assert_passes(run: Run) -> None:
    """No oracle has anything against it, and its faults took effect."""
    found = [(verdict.oracle, verdict.anomalies) for verdict in run.verdicts if verdict.anomalies]
    assert not found, found
    assert all(run.history.end.faults_landed), run.history.end.fault_troubles or run.reason
    assert reader_was_slow(run) or (run.outcome, run.reason) == (Outcome.PASS, "")


def reader_was_slow(run: Run) -> bool:
    """Whether that is all that is wrong: a busy machine starves the reader of its ten looks per checkpoint."""
    landed = all(run.history.end.faults_landed)
    return landed and run.outcome is Outcome.INCONCLUSIVE and "reader-too-slow" in run.reason


def _runs(case: Case, system: System, folder: Path, tools: Toolbox | None = None) -> Generator[Run, None, None]:
    case_run = CaseRun(case, system, case.tiers[0], tools or registry.toolbox(), folder=folder)
    for finished in run_until(case_run, 1):
        assert finished.run is not None, finished.result.reason
        yield finished.run
