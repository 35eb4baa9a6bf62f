"""Plans that failed once more: how often each shows the same signature."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec

from holdfast.harness.engine.artefacts.plan_file import read_plan_file
from holdfast.harness.engine.cases.stored_plan import run_and_store
from holdfast.harness.engine.executor.run_folder import PLAN
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.interruption import Interruption
from holdfast.harness.engine.views.finding import finding_of
from holdfast.harness.model.case import Tier
from holdfast.harness.model.finding import Finding
from holdfast.harness.model.journal import Journal, RunResult
from holdfast.harness.model.night import Reruns
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.signature import Signature, signature_of
from holdfast.harness.model.status import Status

RERUNS = "reruns"
MOST_RERUN = 10
"""Signatures of one system whose plans are run again; further ones are listed without."""


def rerun_findings(
    journal: Journal,
    folder: Path,
    times: int,
    interruption: Interruption,
    say: Callable[[Signature, Reruns], None],
) -> dict[Signature, Reruns]:
    """Run the plan of each refuted finding again.

    Args:
        journal: of a certificate; its FAIL findings are run again.
        folder: of that certificate.
        times: how often each. On the simulator each time with other random numbers, because one more run with the
            same ones is the same run.
        interruption: ends it; a signature that was not run so often is left out.
        say: called with what came of each signature.
    """
    shutil.rmtree(folder / RERUNS, ignore_errors=True)  # Those of an interrupted night are run again.
    runs = {run.id: run for run in journal.runs}
    failed = [each for each in journal.findings if each.status is Status.FAIL and each.run in runs]
    found: dict[Signature, Reruns] = {}
    for finding in failed[: MOST_RERUN if times else 0]:
        signature, run = signature_of(finding, journal.system), runs[finding.run]
        if not run.artefacts:
            continue
        plan = read_plan_file(folder / run.artefacts / PLAN)
        shown = sum(
            _signature(_varied(plan, run, number), run, folder / RERUNS / f"{run.id}-{number}", interruption)
            == signature
            for number in range(1, times + 1)
            if not interruption.signal
        )
        if interruption.signal:
            break
        found[signature] = Reruns(shown, times, seeded=run.tier is Tier.SIM)
        say(signature, found[signature])
    return found


def _varied(plan: Plan, run: RunResult, number: int) -> Plan:
    return msgspec.structs.replace(plan, run_seed=plan.run_seed + number) if run.tier is Tier.SIM else plan


def _signature(plan: Plan, result: RunResult, folder: Path, interruption: Interruption) -> Signature | None:
    """What a run of a plan shows; None: nothing, or the harness broke."""
    system, tools = registry.system(plan.system), registry.toolbox()
    try:
        run, _ = run_and_store(plan, system, tools, result.tier, folder, interruption)
    except Exception:  # It shows nothing; the other runs still count.
        return None
    finding: Finding | None = finding_of(result.id, run.history, run.verdicts, tools.oracles, None)
    return signature_of(finding, plan.system) if finding is not None else None
