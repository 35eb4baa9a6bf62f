"""The whole verification of one certificate, and a run of it that is made again and kept beside the others."""

from __future__ import annotations

import os
from pathlib import Path

from holdfast.harness.engine.artefacts.files import require_folder
from holdfast.harness.engine.artefacts.json_files import plan_digest
from holdfast.harness.engine.artefacts.stored_run import store_run
from holdfast.harness.engine.certification.run_store import RUNS
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.executor.run import Run
from holdfast.harness.engine.site import entry_points
from holdfast.harness.engine.site.machine import versions
from holdfast.harness.engine.site.plan_code import require_trusted_code
from holdfast.harness.engine.verification.kits import compare_kit, compare_parts
from holdfast.harness.engine.verification.recount import recount
from holdfast.harness.engine.verification.replays import Plans, cases_of, draw_runs, judge_again, repeated, replay
from holdfast.harness.engine.verification.sent import Judged, SentCertificate
from holdfast.harness.engine.verification.statements import Kind, Statements
from holdfast.harness.model.case import Tier
from holdfast.harness.model.journal import Journal, RunResult

EXIT_CODES = {Kind.CONFIRMED: 0, Kind.SENDERS_WORD: 0, Kind.NOT_CHECKED: 2, Kind.CONTRADICTED: 1}


def verify(folder: Path, replays: int, seed: int, *, trust: bool) -> tuple[Journal, Statements]:
    """Recompute what can be; the certificate, and what is stated about it.

    Args:
        folder: of the certificate.
        replays: how many runs of the simulator are repeated.
        seed: which ones.
        trust: code may be imported that the certificate or a plan names, and no installed package registers.

    Raises:
        UsageError: it is no certificate, or one that is not read.
    """
    sent, statements = SentCertificate(folder), Statements()
    journal = sent.journal
    _compare_versions(journal, statements)
    if sent.checks and not sent.log and not journal.runs and not journal.subjects:
        for kit, checks in sent.checks.items():
            compare_kit(f"{kit.partition(' ')[0]} {journal.system}", kit, journal, checks, statements)
        statements.believe("what the checks of the kit found: certify the part to see it")
        statements.tell_words()
        return journal, statements
    judged = Judged(journal, trust=trust)
    cases = cases_of(sent, judged, statements)
    plans = Plans(sent, judged, cases)
    recount(sent, judged, cases, statements)
    compare_parts(sent, judged.system, statements)
    plans.compare(sent, statements)
    judge_again(sent, judged, plans, cases, statements)
    replay(sent, draw_runs(sent, replays, seed), plans, statements, trust=trust)
    statements.believe(f"that what ran was {journal.system}, on the machine and at the time that it names")
    if judged.system is None:
        statements.believe(f"which events {journal.system} supplies, and how it records them")
    statements.believe("report.html and the other views: read the title here")
    statements.tell_words()
    return journal, statements


def exit_code(statements: Statements) -> int:
    """1 where the certificate contradicts itself or a replay, else 2 where something was not checked, else 0."""
    kinds = {each.kind for each in statements.all}
    return next((EXIT_CODES[kind] for kind in (Kind.CONTRADICTED, Kind.NOT_CHECKED) if kind in kinds), 0)


def _compare_versions(journal: Journal, statements: Statements) -> None:
    ours, theirs = versions()["holdfast"], journal.versions.get("holdfast", "")
    if ours != theirs:
        statements.leave_open(
            f"it was made by Holdfast {theirs or 'of no known version'}, and this is {ours}: use that"
        )


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
