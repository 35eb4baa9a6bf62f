"""A run of which a certificate has only a line, made again from its seeds and kept whole beside the others."""

from __future__ import annotations

import os
from pathlib import Path

from holdfast.harness.engine.artefacts.safe_path import require_folder
from holdfast.harness.engine.artefacts.stored_run import store_run
from holdfast.harness.engine.certification.run_store import RUNS
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.executor.run import Run
from holdfast.harness.engine.plans.digest import plan_digest
from holdfast.harness.engine.site import entry_points
from holdfast.harness.engine.site.plan_code import require_trusted_code
from holdfast.harness.engine.verification.plans import Plans, cases_of
from holdfast.harness.engine.verification.replays import repeated
from holdfast.harness.engine.verification.sent import Judged, SentCertificate
from holdfast.harness.engine.verification.statements import Statements
from holdfast.harness.model.case import Tier
from holdfast.harness.model.journal import RunResult


def keep(sent: SentCertificate, run: str, *, trust: bool) -> tuple[Run, Path]:
    """Make a run again and keep it; the run, and its folder.

    Args:
        sent: the certificate.
        run: its id.
        trust: code may be imported that the certificate or the plan names, and no installed package registers.

    Raises:
        UsageError: there is no such line, or it cannot be made again as it was; nothing is kept.
    """
    result, runs = _line(sent, run), sent.folder / RUNS
    folder = require_folder(runs) / run
    if os.path.lexists(folder):
        raise UsageError(f"run {run} is kept already, in {folder}: look at that.")
    if result.tier is not Tier.SIM:
        raise UsageError(
            f"run {run} took place on tier {result.tier}, where none comes twice as it was: certify again with --keep "
            "all."
        )
    judged = Judged(sent.journal, trust=trust)
    plans = Plans(sent, judged, cases_of(sent, judged, Statements()))
    plan, case_run = plans.plan_of(result), plans.run_of(result)
    if plan is None or case_run is None:
        why = judged.why_not or "its case is not known here, or gives it no number"
        raise UsageError(f"run {run} cannot be made again: {why}.")
    if plan_digest(plan) != result.plan_digest:
        raise UsageError(f"run {run} cannot be made again: its case has another plan here; use the code that made it.")
    require_trusted_code(plan, f"run {run}", trust=trust)
    again, different = repeated(result, plan, case_run)
    if different:
        raise UsageError(
            f"run {run} does not come again as it was, its {different[0].replace('_', ' ')} is another: the code "
            "changed, or the system does not replay; nothing is kept."
        )
    return again, store_run(folder, again)


def _line(sent: SentCertificate, run: str) -> RunResult:
    logged = (each.result for key in sent.log for each in sent.runs_of(key))
    known = {each.id: each for each in (*sent.journal.runs, *logged)}
    if run not in known:
        raise entry_points.unknown(f"run of {sent.folder}", run, known)
    return known[run]
