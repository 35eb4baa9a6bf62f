"""The Journal regrouped for showing: by area, by case, by what went wrong. Regrouping and counting only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from holdfast.harness.model.case import Tier
from holdfast.harness.model.journal import CaseResult, Journal, RuleResult, RunResult, Status
from holdfast.harness.model.rule import Level
from holdfast.harness.model.verdict import Anomaly, Outcome, Verdict

UNDECIDED = (Status.ERROR, Status.INCONCLUSIVE)
"""Ran, and could not tell: neither refuted nor upheld."""
TROUBLE = (Status.FAIL, *UNDECIDED)


@dataclass(frozen=True, slots=True)
class Area:
    """The rules of one area.

    Attributes:
        code: such as `BAR`.
        title: in words.
        rules: in the order of their ids.
        counts: of them, by status; see `status_counts`.
    """

    code: str
    title: str
    rules: tuple[RuleResult, ...]
    counts: dict[Status, int]


@dataclass(frozen=True, slots=True)
class LevelCount:
    """The rules of one level."""

    level: Level
    total: int
    counts: dict[Status, int]


@dataclass(frozen=True, slots=True)
class Exhibit:
    """An anomaly with the run that shows it."""

    run: RunResult
    oracle: str
    anomaly: Anomaly


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it should be: a rule, or a case that no such rule stands for.

    Attributes:
        name: id of the rule, or of the case with its tier.
        result: the rule, if it is one.
        case: the case, if it is not a rule.
        exhibit: the anomaly with the smallest witness among all failed runs.
        run: what to replay: the exhibit's run, else the first that could not tell.
        others: further runs that refuted it.
    """

    name: str
    status: Status
    reason: str
    result: RuleResult | None
    case: CaseResult | None
    exhibit: Exhibit | None
    run: RunResult | None
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """Findings that one piece of evidence explains: one anomaly often refutes several rules, and is told once.

    Attributes:
        name: of the first finding; other places link to it.
        reasons: of the findings, each once.
        others: further runs that refuted one of them.
        besides: anomalies of the same run that the block is not about, one of each clause.
    """

    name: str
    status: Status
    findings: tuple[Finding, ...]
    reasons: tuple[str, ...]
    exhibit: Exhibit | None
    run: RunResult | None
    others: tuple[str, ...]
    besides: tuple[tuple[str, Anomaly], ...]

    @property
    def size(self) -> int:
        """How many findings it stands for."""
        return len(self.findings)


def status_counts(statuses: Iterable[Status]) -> dict[Status, int]:
    """How many of each, worst first, the absent ones left out."""
    found = list(statuses)
    return {status: found.count(status) for status in reversed(Status) if status in found}


def areas(journal: Journal) -> tuple[Area, ...]:
    """The rules by area, in the order in which the journal lists them."""
    grouped: dict[str, list[RuleResult]] = {}
    for result in journal.rules:
        grouped.setdefault(result.rule.area, []).append(result)
    return tuple(
        Area(code, results[0].rule.title, tuple(results), status_counts(result.status for result in results))
        for code, results in grouped.items()
    )


def levels(journal: Journal) -> tuple[LevelCount, ...]:
    """The rules by level, strictest first."""
    grouped = {level: [result.status for result in journal.rules if result.rule.level is level] for level in Level}
    return tuple(
        LevelCount(level, len(statuses), status_counts(statuses)) for level, statuses in grouped.items() if statuses
    )


def total_runs(journal: Journal) -> int:
    """All runs that took place, thinned out of the journal or not."""
    return sum(runs_of(case) for case in journal.cases)


def runs_of(case: CaseResult) -> int:
    """All runs of a case."""
    return case.runs_passed + case.runs_failed + case.runs_inconclusive


def listed_runs(journal: Journal) -> dict[tuple[str, Tier], list[RunResult]]:
    """The runs that the journal keeps, by case and tier."""
    grouped: dict[tuple[str, Tier], list[RunResult]] = {}
    for run in journal.runs:
        grouped.setdefault((run.case, run.tier), []).append(run)
    return grouped


def cases_by_id(journal: Journal) -> dict[str, list[CaseResult]]:
    """The cases by id; one entry for each tier."""
    grouped: dict[str, list[CaseResult]] = {}
    for case in journal.cases:
        grouped.setdefault(case.case, []).append(case)
    return grouped


def findings(journal: Journal) -> tuple[Finding, ...]:
    """Everything that failed or could not be told, worst first, rules before cases.

    A case is listed of its own only where no rule in trouble speaks for it, so that nothing is told twice and nothing
    is left out.
    """
    runs = {run.id: run for run in journal.runs}
    listed = listed_runs(journal)
    found = [_of_rule(result, runs, listed) for result in journal.rules if result.status in TROUBLE]
    for case in journal.cases:
        if case.status in TROUBLE and not any(status in TROUBLE for status in case.rules.values()):
            found.append(_of_case(case, listed.get((case.case, case.tier), [])))
    order = {status: rank for rank, status in enumerate(TROUBLE)}
    return tuple(sorted(found, key=lambda finding: order[finding.status]))


def _of_rule(
    result: RuleResult, runs: dict[str, RunResult], listed: dict[tuple[str, Tier], list[RunResult]]
) -> Finding:
    failed = [runs[name] for name in result.failed_runs if name in runs]
    exhibit = _smallest(_exhibits(failed, result.oracles)) or _smallest(_exhibits(failed, ()))
    of_cases = [run for (case, _), held in listed.items() if case in result.cases for run in held]
    run = exhibit.run if exhibit else next(iter(failed), None) or _first_undecided(of_cases)
    return Finding(
        name=result.rule.id,
        status=result.status,
        reason=result.reason,
        result=result,
        case=None,
        exhibit=exhibit,
        run=run,
        others=tuple(name for name in result.failed_runs if run is None or name != run.id),
    )


def _of_case(case: CaseResult, held: list[RunResult]) -> Finding:
    failed = [run for run in held if run.outcome is Outcome.FAIL]
    exhibit = _smallest(_exhibits(failed, ()))
    run = exhibit.run if exhibit else next(iter(failed), None) or _first_undecided(held)
    return Finding(
        name=f"{case.case} on {case.tier}",
        status=case.status,
        reason=case.reason,
        result=None,
        case=case,
        exhibit=exhibit,
        run=run,
        others=tuple(other.id for other in failed if run is None or other.id != run.id),
    )


def blocks(journal: Journal) -> list[Block]:
    """The findings, worst first, those together that share their evidence."""
    grouped: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings(journal):
        # Without an anomaly the reason is all there is, so only findings with one reason belong together.
        evidence = finding.exhibit.anomaly if finding.exhibit else finding.reason
        grouped.setdefault((finding.status, evidence, finding.run and finding.run.id), []).append(finding)
    return [_block(together) for together in grouped.values()]


def _block(together: list[Finding]) -> Block:
    first = together[0]
    besides: dict[tuple[str, str], tuple[str, Anomaly]] = {}
    if first.exhibit is not None:
        for verdict, anomaly in anomalies(first.exhibit.run):
            if (verdict.oracle, anomaly.clause) != (first.exhibit.oracle, first.exhibit.anomaly.clause):
                besides.setdefault((verdict.oracle, anomaly.clause), (verdict.oracle, anomaly))
    return Block(
        name=first.name,
        status=first.status,
        findings=tuple(together),
        reasons=tuple(dict.fromkeys(finding.reason for finding in together if finding.reason)),
        exhibit=first.exhibit,
        run=first.run,
        others=tuple(dict.fromkeys(other for finding in together for other in finding.others)),
        besides=tuple(besides.values()),
    )


def owed(finding: Finding) -> str:
    """What it is about: the text of the rule, or the question of the case."""
    if finding.result is not None:
        return finding.result.rule.text
    return finding.case.purpose if finding.case is not None else ""


def anomalies(run: RunResult) -> Iterator[tuple[Verdict, Anomaly]]:
    """Every anomaly of a run with the verdict that names it."""
    for verdict in run.verdicts:
        for anomaly in verdict.anomalies:
            yield verdict, anomaly


def _exhibits(failed: list[RunResult], clauses: tuple[str, ...]) -> Iterator[Exhibit]:
    """Anomalies of the given `ORACLE/clause`, or all of them if none is given."""
    for run in failed:
        for verdict, anomaly in anomalies(run):
            if not clauses or f"{verdict.oracle}/{anomaly.clause}" in clauses:
                yield Exhibit(run, verdict.oracle, anomaly)


def _smallest(exhibits: Iterable[Exhibit]) -> Exhibit | None:
    # An anomaly without a witness shows nothing, so it comes last, however short.
    return min(
        exhibits,
        key=lambda each: (not each.anomaly.witness, len(each.anomaly.witness), each.run.events),
        default=None,
    )


def _first_undecided(held: list[RunResult]) -> RunResult | None:
    return next((run for run in held if run.outcome is Outcome.INCONCLUSIVE), None)
