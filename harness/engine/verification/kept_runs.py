"""Runs that were kept whole: their files are compared with every digest of them, and they are judged again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import msgspec

from holdfast.harness.engine.artefacts.files import read_content
from holdfast.harness.engine.artefacts.history_files import MANIFEST
from holdfast.harness.engine.artefacts.stored_run import HISTORY, StoredVerdicts, read_run
from holdfast.harness.engine.cases.results import broke, run_result
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.executor.judge import judge, on_its_word, outcome_of, unclaimed
from holdfast.harness.engine.executor.run import Run
from holdfast.harness.engine.plans.digest import plan_digest
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.verification.plans import Plans
from holdfast.harness.engine.verification.sent import Judged, Key, SentCertificate
from holdfast.harness.engine.verification.statements import Statements
from holdfast.harness.model.case import Case
from holdfast.harness.model.history import History
from holdfast.harness.model.journal import RunResult
from holdfast.harness.model.plural import plural

_NO_STORED_RUN = hashlib.sha256().hexdigest()
_OF_THE_HISTORY = (
    "system", "draw_seed", "run_seed", "plan_digest", "plan_text", "outcome", "reason", "verdicts", "events",
    "checkpoints", "records", "rows", "restarts", "planned", "landed", "windows", "claims", "on_its_word", "unclaimed",
)  # fmt: skip
"""Fields of a result that follow from plan and history."""


def judge_again(
    sent: SentCertificate, judged: Judged, plans: Plans, cases: dict[Key, Case], statements: Statements
) -> None:
    """Read each run that is there, and judge it."""
    journal = sent.journal
    stored = [each for each in journal.runs if each.artefacts]
    agree = sum(_judge_run(each, sent, judged, plans, cases, statements) for each in stored)
    if agree:
        statements.confirm(
            f"{plural(agree, 'kept run is', 'kept runs are')} whole, and judged again with the same result"
        )
    _compare_histories(sent, statements)
    if undigested := sum(each.id in sent.undigested for each in stored):
        statements.believe(f"that {plural(undigested, 'kept run is', 'kept runs are')} of an invocation that was ended")
    real = sum(each.tier != "sim" for each in stored)
    if real:
        statements.believe(f"what {plural(real, 'kept run')} on real processes recorded")
    lines = sum(len(sent.runs_of(key)) for key in sent.log) - sum(not each.shrunk_from for each in stored)
    if lines > 0:
        statements.believe(f"the results of {plural(lines, 'run')} that were not kept, as far as none was replayed")


def _judge_run(
    result: RunResult,
    sent: SentCertificate,
    judged: Judged,
    plans: Plans,
    cases: dict[Key, Case],
    statements: Statements,
) -> bool:
    try:
        if result.artefacts != f"runs/{result.id}":
            raise UsageError(f"run {result.id} is said to lie in {result.artefacts!r}, which is not its place.")
        history, stored = read_run(sent.run_folder(result.id))
    except UsageError as error:
        statements.contradict(str(error).rstrip("."))
        return False
    found = _result(result, history, stored, judged, plans, cases)
    name = f"run {result.id}"
    different = [field for field in _OF_THE_HISTORY if getattr(result, field) != getattr(found, field)]
    for field in different[:1]:
        statements.compare(f"{field.replace('_', ' ')} of {name}", getattr(result, field), getattr(found, field))
    kept = (stored.tier, stored.outcome, stored.verdicts, stored.trace_hash, stored.dispatched)
    if kept != (result.tier, result.outcome, result.verdicts, result.trace_hash, result.dispatched):
        statements.contradict(f"{name} has another verdict in its folder than in the certificate")
        return False
    return not different


def _result(
    result: RunResult, history: History, stored: StoredVerdicts, judged: Judged, plans: Plans, cases: dict[Key, Case]
) -> RunResult:
    """What plan and history give."""
    oracles = registry.toolbox().oracles
    case_run = plans.run_of(result)
    evidence = judged.evidence if case_run is None else case_run.system.evidence()
    verdicts = judge(history, oracles, evidence)
    outcome, reason = outcome_of(history, verdicts)
    run = Run(
        tier=stored.tier,
        history=history,
        verdicts=verdicts,
        outcome=outcome,
        reason=reason,
        on_its_word=on_its_word(oracles, evidence),
        unclaimed=unclaimed(oracles, history.claims),
    )
    case = cases.get((result.case, result.tier))
    found = run_result(run, result.case, 0, 0.0, case.windows if case is not None else ())
    return msgspec.structs.replace(found, plan_digest=plan_digest(history.plan))


def _compare_histories(sent: SentCertificate, statements: Statements) -> None:
    """The manifest of each kept run is in the digest of its case, and that in the digest of all."""
    digests = []
    for result in sent.journal.cases:
        key = result.case, result.tier
        digests.append(sent.histories_of(key))
        if key in sent.log and (not digests[-1] or any(broke(each.result) for each in sent.runs_of(key))):
            statements.leave_open(
                f"the digest of all histories: {result.case} on {result.tier} did not come to its end"
            )
            return
        if key in sent.log and not _is_over(sent, key, digests[-1]):
            statements.contradict(f"the histories of {result.case} on {result.tier} are not those that were stored")
            return
    if sent.log:
        whole = hashlib.sha256("".join(digests).encode()).hexdigest()
        if statements.compare("the digest of all histories", sent.journal.history_digest, whole):
            statements.confirm("the digest of all histories follows from the manifests of the kept runs")


def _is_over(sent: SentCertificate, key: Key, digests: str) -> bool:
    """Whether digests, one for each time that the case was begun, are over the manifests of its kept runs in turn."""
    manifests = _manifests(sent, key)
    length = len(_NO_STORED_RUN)
    for start in range(0, len(digests), length):
        digest = hashlib.sha256()
        while digest.hexdigest() != digests[start : start + length]:
            if (manifest := next(manifests, None)) is None:
                return False
            digest.update(manifest)
    return next(manifests, None) is None


def _manifests(sent: SentCertificate, key: Key) -> Iterator[bytes]:
    """Of the kept runs, in the order in which they ended; empty where it cannot be read, which judging them says."""
    for each in sent.runs_of(key):
        if each.kept is not None and each.kept.artefacts and each.result.id not in sent.undigested:
            try:
                yield read_content(sent.run_folder(each.kept.id) / HISTORY / MANIFEST, follow=False)
            except (OSError, UsageError):
                yield b""
