"""The status of a case after its runs, and of each rule that it decides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from holdfast.harness.engine.cases.case import is_control
from holdfast.harness.engine.cases.tally import Tally
from holdfast.harness.engine.executor.judge import missing_evidence
from holdfast.harness.model.capability import Evidence
from holdfast.harness.model.case import Case, Decision, Tier, Window, missed_in_words
from holdfast.harness.model.journal import STATUS_RANK, CaseResult, Status
from holdfast.harness.model.sentence import plural
from holdfast.harness.spi.oracle import Oracle

StatusReason = tuple[Status, str]
"""A status with its reason, one sentence; empty where it is PASS."""
PASSED: StatusReason = (Status.PASS, "")


def worst_of(found: Iterable[StatusReason]) -> StatusReason:
    """The worst; of equals the first, but PASS before NOT_APPLICABLE, because something was shown."""
    return max(found, key=lambda each: (STATUS_RANK[each[0]], each[0] is Status.PASS))


def case_not_run(case: Case, tier: Tier, status: Status, reason: str) -> CaseResult:
    """A case without a run: it does not apply, its tier was left out, or time was over."""
    return _result(case, tier, (status, reason), {each.rule: (status, reason) for each in case.decides}, Tally(), 0)


def case_result(
    case: Case,
    tier: Tier,
    demanded: int,
    tally: Tally,
    oracles: Iterable[Oracle],
    evidence: Mapping[str, Evidence],
    interruption: str = "",
) -> CaseResult:
    """A case after its runs.

    Args:
        demanded: how many runs must count.
        tally: of the runs.
        oracles: those that took part.
        evidence: of the system under test.
        interruption: why no more runs began, a signal or a time limit; what they would have decided stays untested.
    """
    if interruption and _undecided(case, demanded, tally):
        cut_short = Status.UNTESTED, f"{interruption}; {tally.passed} of {plural(demanded, 'run')} counted until then"
        return _result(case, tier, cut_short, {each.rule: cut_short for each in case.decides}, tally, demanded)
    named = {oracle.name: oracle for oracle in oracles}
    rules: dict[str, list[StatusReason]] = {}
    for decision in case.decides:
        oracle = named.get(decision.oracle)
        unobserved = missing_evidence(oracle, evidence, *decision.clauses) if oracle is not None else ()
        windows = (*case.windows, *decision.windows)
        rules.setdefault(decision.rule, []).append(_decided(decision, demanded, tally, unobserved, windows))
    status = _control_status(case.refutes, tally) if is_control(case) else _case_status(case, demanded, tally)
    return _result(case, tier, status, {rule: worst_of(each) for rule, each in rules.items()}, tally, demanded)


def is_open(result: CaseResult) -> bool:
    """Whether the case, or a rule of it, is neither shown nor refuted though it ran."""
    return Status.INCONCLUSIVE in (result.status, *result.rules.values())


def open_plans(demanded: int, tally: Tally) -> tuple[int, ...]:
    """The plans of a case of which no run counts, as `CaseRun.numbers`: all, where each has one and a rule is open all
    the same."""
    return tuple(number for number in range(demanded) if number not in tally.counted | tally.absent.keys())


def _result(
    case: Case, tier: Tier, status: StatusReason, rules: Mapping[str, StatusReason], tally: Tally, demanded: int
) -> CaseResult:
    return CaseResult(
        case=case.id,
        tier=tier,
        status=status[0],
        reason=status[1],
        purpose=case.purpose,
        method=case.method,
        passes=case.passes,
        rules={rule: status for rule, (status, _) in rules.items()},
        rule_reasons={rule: reason for rule, (_, reason) in rules.items() if reason},
        runs_demanded=demanded,
        runs_passed=tally.passed,
        runs_failed=tally.failed,
        runs_inconclusive=tally.inconclusive,
        inconclusive_causes=dict(tally.causes.most_common()),
        wall_ms=tally.wall_ms,
    )


def _undecided(case: Case, demanded: int, tally: Tally) -> bool:
    """Whether further runs could have decided what these did not."""
    decided = tally.failed or tally.errors or (is_control(case) and tally.passed)
    return not decided and len(tally.counted) < demanded - len(tally.absent)


def _case_status(case: Case, demanded: int, tally: Tally) -> StatusReason:
    if tally.failed:
        clauses = ", ".join([*(f"{oracle}/{clause}" for oracle, clause in sorted(tally.refuted)), *tally.ends[:1]])
        if case.rehearsal:
            return Status.FAIL, f"the contract is violated without a fault: {clauses}"
        return Status.FAIL, f"{tally.failed} of {plural(tally.runs, 'run')} failed: {clauses}"
    if tally.lacks and not tally.errors:
        return Status.INCONCLUSIVE, tally.lacks.rstrip(".")
    return _enough(demanded, tally)


def _control_status(wanted: frozenset[str], tally: Tally) -> StatusReason:
    """A wrong system must be refuted; if it is not, it is the harness that failed. It is right outside the windows in
    which it is wrong."""
    if passed := tally.passed - tally.passed_beside:
        return (
            Status.ERROR,
            f"negative control: {passed} of {plural(tally.runs, 'run')} passed on a system known to be wrong",
        )
    if tally.errors:
        return Status.ERROR, tally.errors[0]
    if not tally.failed:
        missed = "; ".join(map(missed_in_words, tally.missed_windows())) if tally.passed else _first_cause(tally)
        return Status.INCONCLUSIVE, f"negative control: no run failed; {missed}"
    named = sorted(f"{oracle}/{clause}" for oracle, clause in tally.refuted)
    if wanted and wanted.isdisjoint(named):
        return Status.ERROR, f"negative control: failed by {', '.join(named)}, not by {' or '.join(sorted(wanted))}"
    return PASSED


def _decided(
    decision: Decision, demanded: int, tally: Tally, unobserved: tuple[str, ...], windows: Iterable[Window]
) -> StatusReason:
    """One rule by the clauses of one oracle. Anomalies of other clauses do not touch it. `unobserved` are event kinds
    that these need and that are not supplied; `windows` must be hit where each clause has something to decide."""
    oracle = decision.oracle
    if tally.ends:
        return Status.FAIL, tally.ends[0]
    for clause in decision.clauses:
        if runs := tally.refuted.get((oracle, clause)):
            return Status.FAIL, f"{oracle}/{clause} in {len(runs)} of {plural(tally.runs, 'run')}, first in {runs[0]}"
    if unobserved:
        return Status.UNOBSERVED, f"{oracle} needs {', '.join(unobserved)}, which the system does not supply"
    enough = _enough(demanded, tally)
    if enough != PASSED:
        return enough
    open_clauses = [clause for clause in decision.clauses if not tally.checked[oracle, clause]]
    if decision.where_declared and len(open_clauses) == len(decision.clauses):
        clauses = ", ".join(f"{oracle}/{clause}" for clause in open_clauses)
        return Status.NOT_APPLICABLE, f"the system declares nothing that {clauses} could judge"
    for clause in open_clauses:
        if tally.unclaimed[f"{oracle}/{clause}"] < tally.passed + tally.failed:
            return Status.INCONCLUSIVE, f"{oracle}/{clause} had nothing to decide in {plural(tally.runs, 'run')}"
    if len(open_clauses) == len(decision.clauses):
        clauses = ", ".join(f"{oracle}/{clause}" for clause in open_clauses)
        return Status.NOT_APPLICABLE, f"the system does not claim what {clauses} is about"
    for window in windows:
        if not tally.hit[window.value]:
            return Status.INCONCLUSIVE, missed_in_words(window.value)
        for clause in (clause for clause in decision.clauses if clause not in open_clauses):
            if (oracle, clause) not in tally.checked_beside.get(window.value, ()):
                return Status.INCONCLUSIVE, f"{oracle}/{clause} had nothing to decide in runs that hit {window.value}"
    return PASSED


def _enough(demanded: int, tally: Tally) -> StatusReason:
    counted = len(tally.counted)
    if tally.errors:
        return Status.ERROR, tally.errors[0]
    if tally.absent and len(tally.absent) >= demanded:
        return Status.NOT_APPLICABLE, next(iter(tally.absent.values())).rstrip(".")
    if counted < demanded - len(tally.absent):
        return Status.INCONCLUSIVE, f"{counted} of {plural(demanded, 'run')} counted; {_first_cause(tally)}"
    if missed := tally.missed_windows():
        return Status.INCONCLUSIVE, "; ".join(map(missed_in_words, missed))
    return PASSED


def _first_cause(tally: Tally) -> str:
    if tally.deaths_at_once.reason:
        return tally.deaths_at_once.reason
    if not tally.causes:
        return "the campaign ended early"
    cause, times = tally.causes.most_common(1)[0]
    return f"{'each time' if times == tally.inconclusive else 'most often'} ({times}): {cause}"
