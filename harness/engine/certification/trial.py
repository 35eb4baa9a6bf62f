"""One case on one system, for somebody who waits for it alone: what came of it, and the run that shows it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from holdfast.harness.engine.cases.case_run import CaseRun, FinishedRun, run_case
from holdfast.harness.engine.certification.run_store import RunStore, replay_command
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.finding import Finding
from holdfast.harness.model.journal import CaseResult, RunResult
from holdfast.harness.model.verdict import Outcome


class Trial(msgspec.Struct, frozen=True):
    """A case that was run to its end.

    Attributes:
        result: of it.
        finding: of the first run that failed; None: none did.
        run: folder of that run, or of one that did not count; None: all counted, or none was kept.
        command: what repeats it; empty: there is none.
    """

    result: CaseResult
    finding: Finding | None = None
    run: Path | None = None
    command: str = ""


def try_case(system: str, case: Case, tier: Tier, folder: Path, first_seed: int = 1) -> Trial:
    """Run a case to its end, and keep its runs.

    Args:
        system, case, tier, first_seed: see run_case.
        folder: existing; takes the runs that are kept.

    Raises:
        As run_case.
    """
    store = RunStore(folder, registry.toolbox().faults)
    store.runs.mkdir()
    kept: list[RunResult] = []

    def keep(finished: FinishedRun, case_run: CaseRun) -> None:
        if (result := store.keep(finished, case_run)) is not None:
            kept.append(result)

    result = run_case(system, case, tier, first_seed=first_seed, folder=store.runs, seen=keep)
    failed = (run for run in kept if run.outcome is Outcome.FAIL)
    missed = (run for run in kept if run.outcome is Outcome.INCONCLUSIVE)
    shown = next(failed, None) or next(missed, None)
    if shown is None or not shown.artefacts:
        return Trial(result)
    run = folder / shown.artefacts
    return Trial(result, shown.finding, run, replay_command(run, shown.tier, shown.system))
