"""Journals of parts: from the results of a kit's checks to the journal of its certificate, and the titles of all parts
of a kind together, over what their kits and what runs show."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from typing import NamedTuple

import msgspec

from holdfast.harness.engine.cases.case_status import worst_of
from holdfast.harness.engine.cases.results import cause_of
from holdfast.harness.engine.cases.tally import Tally
from holdfast.harness.engine.certification.certificate import (
    certificate,
    is_binding,
    rule_results,
    tiers_that_ran,
    with_new_title,
)
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.answers import answer_of
from holdfast.harness.engine.site.machine import versions
from holdfast.harness.model.case import Tier
from holdfast.harness.model.certificate import Scope
from holdfast.harness.model.finding import Command, Finding, Violation
from holdfast.harness.model.journal import (
    CaseResult,
    Journal,
    PartReport,
    RuleResult,
    Status,
    SubjectReport,
    TierReport,
    Title,
)
from holdfast.harness.model.sentence import plural
from holdfast.harness.spi.kit import HasFloor, Kit, KitCheck
from holdfast.harness.spi.system import MadeOfParts, Part, System

_METHODS = {Tier.SIM: "it is used beside a model of the kit's own, while whatever it needs fails"}
NOT_CHOSEN = "none of its checks was chosen"
"""Why a rule of a kit is untested that was not chosen."""
_OPEN = (Status.FAIL, Status.ERROR, Status.INCONCLUSIVE)


def kit_journal(
    checks: Sequence[KitCheck],
    *,
    command: str,
    factory: str,
    subject: str,
    started: str,
    duration_s: float,
    seed: int = 0,
    interrupted: str = "",
    left_out: frozenset[str] = frozenset(),
    floor: Sequence[frozenset[str]] = (),
    again: Callable[[str], Command] | None = None,
) -> Journal:
    """The journal of one kit on one factory. A check is a case of one run.

    Args:
        checks: their results.
        command: as typed.
        factory: what was certified.
        subject: whose rules count.
        started: ISO 8601 in UTC.
        duration_s: of all checks.
        seed: of all random programs.
        interrupted: name of the signal that ended it early: no rule passes then, for some of its checks may be missing.
        left_out: rules of the kit that were not chosen.
        floor: of the kit, see HasFloor.
        again: the command that runs the checks of a rule again; None: it is not known.
    """
    checks = _not_below(floor, checks)
    results = [_case_result(each) for each in checks]
    rules = tuple(
        _with_cases(each, checks) if each.rule.id not in left_out else _not_chosen(each)
        for each in rule_results(registry.rules(), (), results, {}, subject)
    )
    if interrupted:
        rules = tuple(_cut_short(each, interrupted) for each in rules)
    tally = Tally()
    tally.runs = sum(each.status is not Status.NOT_APPLICABLE for each in checks)
    tally.passed = sum(each.status is Status.PASS for each in checks)
    supplied = tuple(sorted({part for each in checks for part in each.supplied_by_author}))
    # Equal twice over, whatever the times were.
    judged = [msgspec.structs.replace(each, figures=()) for each in checks]
    said = hashlib.sha256(msgspec.json.encode(judged)).hexdigest()
    return Journal(
        command=command,
        system=factory,
        subject=subject,
        profile="",
        claims="",
        evidence={},
        started=started,
        duration_s=duration_s,
        interrupted=interrupted,
        versions=versions(),
        seed=seed,
        plans_digest="",
        history_digest=said,
        tiers=_tiers(checks),
        cases=tuple(results),
        rules=rules,
        runs=(),
        certificate=certificate(
            rules,
            results,
            (tally,),
            subject,
            supplied,
            interrupted=bool(interrupted),
            scope=Scope.NARROWED if left_out else Scope.THOROUGH,
        ),
        findings=tuple(_finding(together, again) for together in same_cause(checks)),
    )


def floor_of(kit: Kit) -> Sequence[frozenset[str]]:
    """Groups of checks of which one applies to everything; none where a kit knows of none."""
    return kit.floor if isinstance(kit, HasFloor) else ()


def _not_below(floor: Sequence[frozenset[str]], checks: Sequence[KitCheck]) -> Sequence[KitCheck]:
    """The checks; open where none of a group applied of which one applies to everything."""
    by_id = {each.id: each for each in checks}
    unmet = {
        name: f"none of {', '.join(sorted(group))} applied, though one of them always does"
        if len(group) > 1
        else "it did not apply, though it always does"
        for group in floor
        if all(name in by_id and by_id[name].status is Status.NOT_APPLICABLE for name in group)
        for name in group
    }
    return [
        msgspec.structs.replace(each, status=Status.INCONCLUSIVE, reason=f"{unmet[each.id]} ({each.reason})")
        if each.id in unmet
        else each
        for each in checks
    ]


def _tiers(checks: Sequence[KitCheck]) -> tuple[TierReport, ...]:
    """The tiers of the checks; that of the kit's own first."""
    runs = {Tier.SIM: 0}
    for check in checks:
        runs[check.tier] = runs.get(check.tier, 0) + (check.status is not Status.NOT_APPLICABLE)
    return tuple(TierReport(tier, ran=True, reason="", runs=number) for tier, number in runs.items())


def _case_result(check: KitCheck) -> CaseResult:
    passed, failed = check.status is Status.PASS, check.status is Status.FAIL
    ran = check.status is not Status.NOT_APPLICABLE
    # A check that broke off where another rule is broken leaves its own open.
    rules = {check.own_rule: Status.INCONCLUSIVE, check.rule: check.status}
    return CaseResult(
        case=check.id,
        tier=check.tier,
        status=check.status,
        reason=check.reason,
        purpose=check.purpose,
        method=_METHODS.get(check.tier, "it takes its part in the reference runtime, whose processes are killed"),
        passes="no difference and no error that the contract does not allow",
        rules=rules,
        rule_reasons={} if passed else dict.fromkeys(rules, check.reason),
        runs_demanded=int(ran),
        runs_passed=int(passed),
        runs_failed=int(failed),
        runs_inconclusive=int(ran and not passed and not failed),
        inconclusive_causes={check.reason: 1} if check.status is Status.INCONCLUSIVE else {},
        figures=check.figures,
    )


def _with_cases(rule: RuleResult, checks: Sequence[KitCheck]) -> RuleResult:
    deciding = tuple(each.id for each in checks if rule.rule.id in (each.own_rule, each.rule))
    if not deciding:
        return rule
    return msgspec.structs.replace(rule, cases=deciding, observed_by=deciding)


def _not_chosen(rule: RuleResult) -> RuleResult:
    if rule.status is Status.FAIL:
        return rule
    return msgspec.structs.replace(rule, status=Status.UNTESTED, reason=NOT_CHOSEN)


def _cut_short(rule: RuleResult, interrupted: str) -> RuleResult:
    if rule.status is not Status.PASS:
        return rule
    reason = f"interrupted by {interrupted} before all of its checks had run"
    return msgspec.structs.replace(rule, status=Status.INCONCLUSIVE, reason=reason)


def same_cause(checks: Iterable[KitCheck]) -> list[list[KitCheck]]:
    """The refuted and open checks, grouped: those with one rule and one reason, but for numbers, belong together."""
    grouped: dict[tuple[Status, str, str], list[KitCheck]] = {}
    for each in checks:
        if each.status in _OPEN:
            grouped.setdefault((each.status, each.rule, cause_of(each.reason)), []).append(each)
    return list(grouped.values())


def _finding(together: Sequence[KitCheck], again: Callable[[str], Command] | None) -> Finding:
    check = together[0]
    more = f" and {plural(len(together) - 1, 'more check')}" if len(together) > 1 else ""
    cause = Violation(check.rule, check.id.partition("/")[2], check.purpose, check.reason, check.witness)
    return Finding(
        status=check.status,
        what=check.reason,
        when=f"check {check.id}, behind the steps below" + (f",{more}" if more else ""),
        why=check.purpose,
        next=again(check.own_rule) if again is not None else None,
        cause=cause if check.status is Status.FAIL else None,
        rules=(check.rule,),
        cases=tuple(f"{each.id} on {each.tier}" for each in together),
    )


class JudgedPart(NamedTuple):
    """A part, and the result of its kit.

    Attributes:
        part: which.
        journal: of its kit; None: it was not tried.
        reason: why it was not tried.
        report: its own report, relative to the folder of the whole.
        broken: the harness itself failed on it.
    """

    part: Part
    journal: Journal | None
    reason: str = ""
    report: str = ""
    broken: bool = False


def parts_of(system: System) -> Sequence[Part]:
    """The parts of a system that kits can judge."""
    return answer_of(system.certified_parts, kind=Sequence, of=Part) if isinstance(system, MadeOfParts) else ()


def why_absent(part: Part) -> str:
    """Why a part cannot be judged here; empty: it can."""
    if part.requires and find_spec(part.requires) is None:
        return f"{part.contract} {part.factory} needs the package {part.requires}, which is not installed"
    return ""


def subject_reports(journal: Journal, judged: Sequence[JudgedPart]) -> tuple[SubjectReport, ...]:
    """A title for each subject that has parts.

    A rule has the worst of what decides it: checks of the kit on each part, and cases of the whole system. What does
    not decide it, because it did not run it, does not count.

    Args:
        journal: of the whole system.
        judged: its parts.
    """
    by_subject: dict[str, list[JudgedPart]] = {}
    for each in judged:
        by_subject.setdefault(_subject_of(each.part.contract), []).append(each)
    return tuple(_subject(subject, journal, parts) for subject, parts in by_subject.items())


def _subject_of(contract: str) -> str:
    """The subject whose rules a kit decides; the name of its contract, where the kit itself cannot be had."""
    try:
        return registry.kit(contract).subject
    except UsageError:
        return contract


def _subject(subject: str, journal: Journal, judged: Sequence[JudgedPart]) -> SubjectReport:
    tried = [each.journal for each in judged if each.journal is not None]
    bound = [each for each in journal.rules if each.concerns(subject)]
    rules = [_together(rule, tried) for rule in bound]
    ids = {each.rule.id for each in bound}
    results = [*_deciding(journal.cases, ids), *(each for kit in tried for each in kit.cases)]
    interrupted = any(each.interrupted for each in (journal, *tried))
    card = with_new_title(journal.certificate, rules, results, subject, interrupted=interrupted)
    reasons = tuple(dict.fromkeys(f"{each.reason[0].upper()}{each.reason[1:]}." for each in judged if each.reason))
    title = card.title
    broken = any(each.broken for each in judged)
    untried = not tried and not tiers_that_ran(results) and not card.unfinished
    if title is not Title.REFUSED and (broken or untried or not bound):
        title = Title.INCONCLUSIVE if broken else Title.PARTIAL
    if reasons and title is Title.CERTIFIED:
        title = Title.PARTIAL
    binding = [each for each in rules if is_binding(each, subject)]
    parts = tuple(map(_part, judged))
    return SubjectReport(
        subject=subject,
        title=title,
        missing=(*reasons, *card.missing),
        rules=len(binding),
        decided=sum(each.status in (Status.PASS, Status.FAIL, Status.NOT_APPLICABLE) for each in binding),
        parts=parts,
        errors=sum(each.errors for each in parts),
        tiers=card.tiers,
    )


def _deciding(results: Iterable[CaseResult], rules: set[str]) -> list[CaseResult]:
    return [each for each in results if rules & each.rules.keys()]


def _together(rule: RuleResult, kits: Sequence[Journal]) -> RuleResult:
    """The rule with the worst of what was decided about it."""
    said = [each for kit in kits for each in kit.rules if each.rule.id == rule.rule.id]
    found = [(each.status, each.reason) for each in (rule, *said) if each.status is not Status.UNTESTED]
    if not found:
        return rule
    status, reason = worst_of(found)
    return msgspec.structs.replace(rule, status=status, reason=reason)


def _part(judged: JudgedPart) -> PartReport:
    part, journal = judged.part, judged.journal
    if journal is None:
        title = Title.INCONCLUSIVE if judged.broken else Title.PARTIAL
        return PartReport(part.contract, part.factory, title, (f"{judged.reason}.",), errors=int(judged.broken))
    card = journal.certificate
    ran = sum(each.runs_demanded for each in journal.cases)
    errors = sum(each.status is Status.ERROR for each in journal.cases)
    return PartReport(part.contract, part.factory, card.title, card.missing, ran, judged.report, card.tiers, errors)
