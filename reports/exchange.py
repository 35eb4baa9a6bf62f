"""A certificate as the tests that other tools list: its titles, each rule, and each case on a tier.

JUnit, CTRF and Allure show the same tests with the same outcomes. A finding is one failure, of the case that shows it.
What it touches besides is skipped and names that one, so that one defect is counted once. The titles, of the system and
of its parts, decide the exit code: where one is refused or open, it fails here, or names the test that does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum, auto

import msgspec

from holdfast.harness.model.case import Tier
from holdfast.harness.model.certificate import CERTIFICATE, Standing
from holdfast.harness.model.finding import Finding, clause_in_words
from holdfast.harness.model.journal import CaseResult, Journal, RuleResult, RunResult, Status
from holdfast.harness.model.status import ON_ITS_WORD, STATUS_WORDS
from holdfast.reports import finding, notes, text, view


class Shown(Enum):
    """What every tool has a word for."""

    PASSED = auto()
    FAILED = auto()
    UNDECIDED = auto()
    """An error, never a pass: a build that looks at failures and errors must stop."""
    SKIPPED = auto()


OUTCOMES = {
    Status.PASS: Shown.PASSED,
    Status.FAIL: Shown.FAILED,
    Status.ERROR: Shown.UNDECIDED,
    Status.INCONCLUSIVE: Shown.UNDECIDED,
    Status.WAIVED: Shown.SKIPPED,
    Status.UNTESTED: Shown.SKIPPED,
    Status.UNOBSERVED: Shown.SKIPPED,
    Status.NOT_APPLICABLE: Shown.SKIPPED,
}


class ListedTest(msgspec.Struct, frozen=True):
    """One test.

    Attributes:
        id: stable over nights: a rule such as `E2E-02`, `CASE on TIER`, or `title: NAME`.
        name: for people.
        result: of the rule or of the case, or what a certificate comes to.
        outcome: that is shown.
        message: one sentence; empty if it passed.
        details: lines: what a failure shows.
        noted: lines that stand beside it, whatever the outcome.
        wall_ms: what the runs took that decide it.
        next: command that repeats it; empty: none.
    """

    id: str
    name: str
    result: RuleResult | CaseResult | Standing
    outcome: Shown
    message: str
    details: tuple[str, ...] = ()
    noted: tuple[str, ...] = ()
    wall_ms: float = 0.0
    next: str = ""


def tests(journal: Journal) -> tuple[ListedTest, ...]:
    """The titles, the rules that bind the subject, by area, then the cases."""
    shown, elsewhere = _spread(journal)
    runs = view.listed_runs(journal)
    wall_ms: dict[str, float] = {}
    for case in journal.cases:
        for rule in case.rules:
            wall_ms[rule] = wall_ms.get(rule, 0.0) + case.wall_ms

    def test(result: RuleResult | CaseResult) -> ListedTest:
        found, same = shown.get(id_of(result), ()), elsewhere.get(id_of(result), "")
        if isinstance(result, RuleResult):
            made = _rule(result, wall_ms.get(result.rule.id, 0.0))
        else:
            made = _case(result, runs.get((result.case, result.tier), []), journal)
        if same:
            message = f"{STATUS_WORDS[result.status]}: same cause as {same}"
            return msgspec.structs.replace(made, outcome=Shown.SKIPPED, message=message, details=())
        if not found:
            return made
        return msgspec.structs.replace(
            made,
            message=found[0].what,
            details=tuple(line for each in found for line in (*finding.in_text(each), *_touched(each, journal))),
            next=found[0].next.line_in_report() if found[0].next is not None else "",
        )

    results = tuple(map(test, _results(journal)))
    return (*(_title(each, journal, results) for each in journal.standings), *results)


def _title(standing: Standing, journal: Journal, results: Iterable[ListedTest]) -> ListedTest:
    """What runs found is a test of a rule or a case already; what kits found about a part stands in its own report."""
    own = standing.name == CERTIFICATE
    bound = {each.rule.id for each in journal.rules if each.concerns(standing.subject)}
    of_runs = own or standing.name == standing.subject
    bearer = next(
        (
            each.id
            for each in results
            if of_runs and each.outcome is OUTCOMES[standing.status] and each.result.status is standing.status
            if own or _rules_of(each) & bound
        ),
        "",
    )
    outcome, message = OUTCOMES[standing.status], " ".join(standing.missing) or text.STATUS_MEANINGS[standing.status]
    if standing.status in view.TROUBLE and bearer:
        outcome, message = Shown.SKIPPED, f"{STATUS_WORDS[standing.status]}: same cause as {bearer}"
    return ListedTest(
        f"title: {standing.name}",
        f"{standing.heading}: {journal.system if own else standing.name}",
        standing,
        outcome,
        "" if outcome is Shown.PASSED else message,
        (*standing.missing, *((f"Report: {standing.report}",) if standing.report else ())),
    )


def _rules_of(test: ListedTest) -> frozenset[str]:
    if isinstance(test.result, RuleResult):
        return frozenset({test.result.rule.id})
    return frozenset(test.result.rules) if isinstance(test.result, CaseResult) else frozenset()


def _results(journal: Journal) -> tuple[RuleResult | CaseResult, ...]:
    return (*view.rules(journal), *journal.cases)


def id_of(result: RuleResult | CaseResult) -> str:
    return result.rule.id if isinstance(result, RuleResult) else _case_id(result.case, result.tier)


def _case_id(case: str, tier: Tier) -> str:
    return f"{case} on {tier}"


def _spread(journal: Journal) -> tuple[Mapping[str, list[Finding]], Mapping[str, str]]:
    """By id of a test, the findings that it shows; and by id of what they touch besides, the test that shows it."""
    statuses = {id_of(each): each.status for each in _results(journal)}
    showing = {run.id: _case_id(run.case, run.tier) for run in journal.runs}
    shown: dict[str, list[Finding]] = {}
    elsewhere: dict[str, str] = {}
    for each in journal.findings:
        touched = dict.fromkeys((showing.get(each.run, ""), *each.cases, *each.rules))
        candidates = [name for name in touched if name in statuses and statuses[name] is each.status]
        if each.status not in view.TROUBLE or not candidates:
            continue
        bearer = next((name for name in candidates if name not in shown), candidates[0])
        elsewhere.pop(bearer, None)
        shown.setdefault(bearer, []).append(each)
        for name in candidates:
            if name not in shown:
                elsewhere.setdefault(name, bearer)
    return shown, elsewhere


def _touched(found: Finding, journal: Journal) -> Iterable[str]:
    """In which cases it was seen, and which rules it is about."""
    if found.cases:
        yield f"seen  {finding.scope(found, journal)}"
    if found.rules:
        yield f"rules {', '.join(found.rules)}"


def _rule(result: RuleResult, wall_ms: float) -> ListedTest:
    noted = [result.reason] if result.failed_cases else []
    noted += [f"Rests on {ON_ITS_WORD}."] if result.on_its_word else []
    return ListedTest(
        result.rule.id,
        f"{result.rule.id} {text.one_line(result.rule.text)}",
        result,
        Shown.SKIPPED if result.failed_cases and result.status is Status.PASS else OUTCOMES[result.status],
        _message(result),
        (result.rule.text,),
        tuple(noted),
        wall_ms,
    )


def _case(case: CaseResult, runs: list[RunResult], journal: Journal) -> ListedTest:
    details = [f"Purpose: {case.purpose}", f"Method: {case.method}", f"Passes if: {case.passes}"]
    troubled = [run for run in runs if run.reason or any(view.anomalies(run))] if case.status in view.TROUBLE else []
    for run in troubled:
        details += ["", *of_run(run, journal)]
    return ListedTest(
        id_of(case),
        id_of(case),
        case,
        OUTCOMES[case.status],
        _message(case),
        tuple(details),
        tuple(notes.of_case(case, runs, journal.oracle_titles)),
        case.wall_ms,
        troubled[0].replay if troubled else "",
    )


def of_run(run: RunResult, journal: Journal) -> list[str]:
    """What one run came to, as lines."""
    lines = [f"Run {run.id}: {run.plan_text}"]
    if run.finding is not None:
        return [*lines, *finding.in_text(run.finding)]
    lines += [run.reason] if run.reason else []
    for verdict, anomaly in view.anomalies(run):
        lines.append(f"{clause_in_words(journal.oracle_titles, verdict.oracle, anomaly.clause)}: {anomaly.message}")
        lines += [f"  {number}. {line}" for number, line in enumerate(anomaly.witness, start=1)]
    return [*lines, f"Replay: {run.replay}"]


def _message(result: RuleResult | CaseResult) -> str:
    if result.status is Status.PASS and not (isinstance(result, RuleResult) and result.failed_cases):
        return ""
    return text.one_line(result.reason) or text.STATUS_MEANINGS[result.status]
