"""The Journal regrouped for showing: by area, by case, by status. Regrouping and counting only.

Rules that bind other subjects than that of the certificate are outside every count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from holdfast.harness.model.case import Tier
from holdfast.harness.model.journal import CaseResult, Journal, RuleResult, RunResult, Status
from holdfast.harness.model.rule import Level
from holdfast.harness.model.sentence import plural
from holdfast.harness.model.verdict import Anomaly, Verdict

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
        passed: those that passed and none of whose cases failed.
    """

    code: str
    title: str
    rules: tuple[RuleResult, ...]
    counts: dict[Status, int]
    passed: int


@dataclass(frozen=True, slots=True)
class LevelCount:
    """The rules of one level; `passed` as of Area."""

    level: Level
    total: int
    counts: dict[Status, int]
    passed: int


def status_counts(statuses: Iterable[Status]) -> dict[Status, int]:
    """How many of each, worst first, the absent ones left out."""
    found = list(statuses)
    return {status: found.count(status) for status in reversed(Status) if status in found}


def rules(journal: Journal) -> tuple[RuleResult, ...]:
    """The rules that bind the subject of the certificate, and others that something refuted."""
    return tuple(each for each in journal.rules if each.counts_for(journal.subject))


def other_rules(journal: Journal) -> tuple[RuleResult, ...]:
    """The rules that apply to other subjects."""
    return tuple(each for each in journal.rules if not each.counts_for(journal.subject))


def is_passed(result: RuleResult) -> bool:
    """Whether a rule passed and none of its cases failed."""
    return result.status is Status.PASS and not result.failed_cases


def areas(journal: Journal) -> tuple[Area, ...]:
    """The rules by area, in the order in which the journal lists them."""
    return _by_area(rules(journal))


def other_areas(journal: Journal) -> tuple[Area, ...]:
    """The rules of other subjects by area."""
    return _by_area(other_rules(journal))


def _by_area(results: Iterable[RuleResult]) -> tuple[Area, ...]:
    grouped: dict[str, list[RuleResult]] = {}
    for result in results:
        grouped.setdefault(result.rule.area, []).append(result)
    return tuple(
        Area(
            code,
            held[0].rule.title,
            tuple(held),
            status_counts(each.status for each in held),
            sum(map(is_passed, held)),
        )
        for code, held in grouped.items()
    )


def levels(journal: Journal) -> tuple[LevelCount, ...]:
    """The rules by level, strictest first."""
    grouped = {level: [each for each in rules(journal) if each.rule.level is level] for level in Level}
    return tuple(
        LevelCount(level, len(held), status_counts(each.status for each in held), sum(map(is_passed, held)))
        for level, held in grouped.items()
        if held
    )


def total_runs(journal: Journal) -> int:
    """All runs that took place, thinned out of the journal or not."""
    return sum(runs_of(case) for case in journal.cases)


def runs_of(case: CaseResult) -> int:
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


def anomalies(run: RunResult) -> Iterator[tuple[Verdict, Anomaly]]:
    """Every anomaly of a run with the verdict that names it."""
    for verdict in run.verdicts:
        for anomaly in verdict.anomalies:
            yield verdict, anomaly


def not_applicable(journal: Journal) -> str:
    """How many cases do not apply to the system under test, in one sentence; empty if all apply."""
    absent = [case for case in journal.cases if case.status is Status.NOT_APPLICABLE]
    if not absent:
        return ""
    applying = {case.case.partition("/")[0] for case in journal.cases if case.status is not Status.NOT_APPLICABLE}
    areas = {case.case.partition("/")[0] for case in absent} - applying
    whole = f", among them all of {plural(len(areas), 'area')}" if areas else ""
    verb = "does" if len(absent) == 1 else "do"
    return f"{len(absent):,} of {plural(len(journal.cases), 'case')} {verb} not apply to this system{whole}"
