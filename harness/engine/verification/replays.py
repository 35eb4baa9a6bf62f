"""Runs of somebody else's certificate, recomputed. Each must be of the plan that its case has for its number, so that a
seed cannot be exchanged for one that passes.

Runs of the simulator are repeated from their seeds: each must bring the same result, and the same history if it was
kept. Whoever made the certificate cannot know which ones are chosen. The files of runs that were kept whole are
compared with every digest of them, and these runs are judged again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from random import Random  # noqa: TID251 - which runs a user looks at; the command gives the seed

import msgspec

from holdfast.harness.engine.artefacts.files import read_content
from holdfast.harness.engine.artefacts.history_files import MANIFEST, write_history
from holdfast.harness.engine.artefacts.json_files import plan_digest, read_plan_file
from holdfast.harness.engine.artefacts.stored_run import HISTORY, StoredVerdicts, read_run
from holdfast.harness.engine.cases.case import plan_of, system_under_test
from holdfast.harness.engine.cases.case_run import ATTEMPTS, CaseRun
from holdfast.harness.engine.cases.results import harness_broke, run_result
from holdfast.harness.engine.cases.swarm_case import case_for
from holdfast.harness.engine.certification.agenda import SEEDS
from holdfast.harness.engine.errors import NotApplicable, UsageError
from holdfast.harness.engine.executor.judge import judge, on_its_word, outcome_of, unclaimed
from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.executor.run_folder import PLAN
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.plan_code import require_trusted_code
from holdfast.harness.engine.verification.sent import Judged, Key, SentCertificate
from holdfast.harness.engine.verification.statements import Statements
from holdfast.harness.lease import Lease
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.history import History, Manifest
from holdfast.harness.model.journal import RunResult, Status
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.sentence import plural


def cases_of(sent: SentCertificate, judged: Judged, statements: Statements) -> dict[Key, Case]:
    """The cases that ran, as they are here; what is unknown is left open."""
    registered = {case.id: case for case in registry.cases()}
    found: dict[Key, Case] = {}
    for result in sent.journal.cases:
        case = registered.get(result.case)
        try:
            if case is None and judged.system is not None:
                case = case_for(judged.system, result.case, result.tier)
        except UsageError:
            case = None
        if case is not None:
            found[result.case, result.tier] = case
        elif result.runs_demanded or {result.status, *result.rules.values()} != {Status.UNTESTED}:
            why = judged.why_not or "no such case is known here"
            statements.leave_open(f"{result.case} on {result.tier} was not recomputed: {why}")
    return found


class Plans:
    """The plans that the runs of a certificate have, as they are drawn or written here.

    Args:
        sent: the certificate.
        judged: its system.
        cases: those that ran.
    """

    def __init__(self, sent: SentCertificate, judged: Judged, cases: dict[Key, Case]) -> None:
        self._judged = judged
        self._cases = cases
        self._runs: dict[Key, CaseRun | None] = {}
        self._first_seed = sent.journal.seed * SEEDS + 1

    def run_of(self, result: RunResult) -> CaseRun | None:
        """How a run of a case took place; None where the system is not known here."""
        key = result.case, result.tier
        if key not in self._runs:
            self._runs[key] = self._run_of(key)
        return self._runs[key]

    def _run_of(self, key: Key) -> CaseRun | None:
        case = self._cases.get(key)
        if case is None or self._judged.system is None:
            return None
        try:
            system = system_under_test(case, self._judged.system, self._first_seed)
        except (UsageError, NotApplicable):
            return None
        return CaseRun(case, system, key[1], registry.toolbox(), self._first_seed)

    def plan_of(self, result: RunResult) -> Plan | None:
        """The plan of a run; None where its system is not known, or it has no number."""
        case_run = self.run_of(result)
        if case_run is None or result.plan_number < 0:
            return None
        plan = plan_of(case_run.case, case_run.system, self._first_seed, result.plan_number)
        tries = range(1 if plan.draw_seed else ATTEMPTS)
        if result.run_seed - plan.run_seed in tries:
            plan = msgspec.structs.replace(plan, run_seed=result.run_seed)
        return plan

    def compare(self, sent: SentCertificate, statements: Statements) -> None:
        """Compare each run of the log with the plan of its number."""
        checked = open_runs = 0
        for key in sent.log:
            for result in (each.result for each in sent.runs_of(key)):
                plan = self.plan_of(result)
                if plan is None:
                    open_runs += 1
                elif (plan_digest(plan), plan.draw_seed, plan.run_seed) == (
                    result.plan_digest,
                    result.draw_seed,
                    result.run_seed,
                ):
                    checked += 1
                else:
                    statements.contradict(
                        f"run {result.id} is of another plan than number {result.plan_number} of {result.case} under "
                        f"seed {sent.journal.seed}"
                    )
        if checked:
            statements.confirm(f"{plural(checked, 'run is', 'runs are')} of the plan that seed and case give")
        if open_runs:
            why = self._judged.why_not or "the harness broke before it had one"
            statements.leave_open(f"the plans of {plural(open_runs, 'run')}: {why}")


_SAME = (
    "outcome", "reason", "verdicts", "trace_hash", "events", "dispatched", "checkpoints", "records", "rows", "restarts",
    "planned", "landed", "windows", "claims", "on_its_word", "unclaimed", "lacks", "absent",
)  # fmt: skip
_WHY = "it was edited, or made by other code"


def draw_runs(sent: SentCertificate, number: int, seed: int) -> list[RunResult]:
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
    """The plan of a run: that of its case; a run whose plan was shrunk has only its own file."""
    if not result.shrunk_from:
        return plans.plan_of(result)
    try:
        plan = read_plan_file(sent.run_folder(result.id) / PLAN)
    except UsageError:
        return None  # Judging it again has reported that.
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
    """Compare the manifests of kept runs with the digest of their case, and these with the digest of all."""
    digests = []
    for result in sent.journal.cases:
        key = result.case, result.tier
        digests.append(sent.histories_of(key))
        if key in sent.log and (not digests[-1] or any(harness_broke(each.result) for each in sent.runs_of(key))):
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
    """The manifests of the kept runs, in the order in which they ended; empty for one that cannot be read, which
    judging it reports."""
    for each in sent.runs_of(key):
        if each.kept is not None and each.kept.artefacts and each.result.id not in sent.undigested:
            try:
                yield read_content(sent.run_folder(each.kept.id) / HISTORY / MANIFEST, follow=False)
            except (OSError, UsageError):
                yield b""
