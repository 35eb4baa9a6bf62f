"""The titles of a system's parts: of all that are of one kind together, over what their kits say and what runs show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import NamedTuple

import msgspec

from holdfast.harness.engine.cases.case_status import worst_of
from holdfast.harness.engine.certification.certificate import is_binding, restated, tiers_that_ran
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.answers import answer_of
from holdfast.harness.model.journal import (
    CaseResult,
    Journal,
    PartReport,
    RuleResult,
    Status,
    SubjectReport,
    Title,
)
from holdfast.harness.spi.system import MadeOfParts, Part, System


class JudgedPart(NamedTuple):
    """A part, and what its kit says.

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
    """Those that kits can judge."""
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
    card = restated(journal.certificate, rules, results, subject, interrupted=interrupted)
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
