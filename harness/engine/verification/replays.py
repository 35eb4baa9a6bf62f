"""Runs of the simulator, repeated from their seeds: each must bring the same result, and the same history if it was
kept. Whoever made the certificate cannot know which ones are chosen."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random  # noqa: TID251 - which runs a user looks at; the command gives the seed

import msgspec

from holdfast.harness.engine.artefacts.files import read_content
from holdfast.harness.engine.artefacts.history_files import MANIFEST, write_history
from holdfast.harness.engine.artefacts.plan_file import read_plan_file
from holdfast.harness.engine.artefacts.stored_run import HISTORY
from holdfast.harness.engine.cases.case_run import CaseRun
from holdfast.harness.engine.cases.results import run_result
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.executor.run_folder import PLAN
from holdfast.harness.engine.plans.digest import plan_digest
from holdfast.harness.engine.site.plan_code import require_trusted_code
from holdfast.harness.engine.verification.plans import Plans
from holdfast.harness.engine.verification.sent import SentCertificate
from holdfast.harness.engine.verification.statements import Statements
from holdfast.harness.lease import Lease
from holdfast.harness.model.case import Tier
from holdfast.harness.model.history import History, Manifest
from holdfast.harness.model.journal import RunResult
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.plural import plural

_SAME = (
    "outcome", "reason", "verdicts", "trace_hash", "events", "dispatched", "checkpoints", "records", "rows", "restarts",
    "planned", "landed", "windows", "claims", "on_its_word", "unclaimed", "lacks", "absent",
)  # fmt: skip
_WHY = "it was edited, or made by other code"


def chosen(sent: SentCertificate, number: int, seed: int) -> list[RunResult]:
    """Runs of the simulator, drawn by a seed: kept ones and others by turns, as far as there are both.

    Args:
        number: how many at most.
        seed: of the choice.
    """
    random = Random(seed)
    logged = [each.result for key in sent.log if key[1] is Tier.SIM for each in sent.runs_of(key)]
    kept = {each.id: each for each in sent.journal.runs if each.artefacts and each.tier is Tier.SIM}
    groups = [[*kept.values()], [each for each in logged if each.id not in kept]]
    for group in groups:
        random.shuffle(group)
    shorter = min(map(len, groups))
    turns = [run for pair in zip(*(group[:shorter] for group in groups), strict=True) for run in pair]
    return [*turns, *groups[0][shorter:], *groups[1][shorter:]][:number]


def replay(
    sent: SentCertificate, runs: Sequence[RunResult], plans: Plans, statements: Statements, *, trust: bool
) -> None:
    """Repeat each of them.

    Args:
        runs: of the simulator.
        trust: their plans may name code that no installed package registers.
    """
    same = 0
    for result in runs:
        plan, case_run = _plan(sent, result, plans), plans.run_of(result)
        if plan is None or case_run is None:
            statements.leave_open(f"run {result.id} was not replayed: its plan or its system is not known here")
            continue
        try:
            require_trusted_code(plan, f"run {result.id}", trust=trust)
        except UsageError as error:
            statements.leave_open(str(error).rstrip("."))
            continue
        run, different = repeated(result, plan, case_run)
        if different:
            statements.contradict(f"run {result.id} replayed has another {different[0].replace('_', ' ')}: {_WHY}")
        elif result.artefacts and (file := _edited(sent, result, run)):
            statements.contradict(f"run {result.id} replayed has another {file} than the kept one: {_WHY}")
        else:
            same += 1
    if same:
        statements.confirm(f"{plural(same, 'run')} of the simulator replayed with the same result")


def repeated(result: RunResult, plan: Plan, case_run: CaseRun) -> tuple[Run, list[str]]:
    """A run of the simulator once more, and what it brings otherwise, by field.

    Args:
        result: of the run.
        plan: of it.
        case_run: how it took place.
    """
    run = run_plan(plan, case_run.system, case_run.tools, rehearsal=case_run.case.rehearsal)
    found = run_result(run, result.case, 0, 0.0, case_run.case.windows)
    return run, [field for field in _SAME if getattr(found, field) != getattr(result, field)]


def _plan(sent: SentCertificate, result: RunResult, plans: Plans) -> Plan | None:
    """That of the case; a run whose plan was made smaller than that has only its own file."""
    if not result.shrunk_from:
        return plans.plan_of(result)
    try:
        plan = read_plan_file(sent.run_folder(result.id) / PLAN)
    except UsageError:
        return None  # Judging it again has said so.
    return plan if plan_digest(plan) == result.plan_digest else None


def _edited(sent: SentCertificate, result: RunResult, run: Run) -> str:
    """The first file of a kept history that a replay writes otherwise; empty: there is none."""
    try:
        kept = _files(read_content(sent.run_folder(result.id) / HISTORY / MANIFEST, follow=False))
    except (OSError, UsageError, msgspec.MsgspecError):
        return MANIFEST
    again = _files(_written(run.history))
    return next((name for name in sorted(kept.keys() | again.keys()) if kept.get(name) != again.get(name)), "")


def _written(history: History) -> bytes:
    with Lease("verify") as folder:
        write_history(folder, history)
        return read_content(folder / MANIFEST)


def _files(manifest: bytes) -> dict[str, str]:
    """By name, the digests."""
    return {each.name: each.sha256 for each in msgspec.json.decode(manifest, type=Manifest).files}
