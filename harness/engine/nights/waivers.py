"""Waivers: findings that somebody set aside until a day, with a reason. They are listed, and do not fail the night."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date

import msgspec

from holdfast.harness.engine.certification.certificate import with_new_title
from holdfast.harness.model.finding import Finding, Signature, signature_of
from holdfast.harness.model.journal import CaseResult, Journal, RuleResult
from holdfast.harness.model.night import WaivedUntil
from holdfast.harness.model.status import Status

Names = Callable[[Finding], tuple[str, ...]]


class Waiver(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the settings.

    Attributes:
        signature: of a finding, with or without its system; or
        rule: id of the only rule that a finding refutes.
        system: only findings on it; empty: on each.
        reason: why it is set aside.
        expires: the last day on which it is in force.
    """

    signature: str = ""
    rule: str = ""
    system: str = ""
    reason: str
    expires: date

    def sets_aside(self, signature: Signature, rules: Iterable[str]) -> bool:
        """Whether the waiver applies to a finding that refutes these rules."""
        if self.system and self.system != signature.system:
            return False
        if self.rule:
            return set(rules) == {self.rule}
        return self.signature in (str(signature), signature.label)

    def until(self, today: date) -> WaivedUntil:
        """The waiver as the record of a night shows it."""
        return WaivedUntil(self.reason, self.expires.isoformat(), self.expires < today)


def waived_findings(journal: Journal, waivers: Sequence[Waiver], today: date) -> Mapping[Signature, WaivedUntil]:
    """Refuted findings that a waiver means, expired or not; of several waivers the one that lasts longest."""
    found: dict[Signature, WaivedUntil] = {}
    for finding in journal.findings:
        signature = signature_of(finding, journal.system)
        meant = [each for each in waivers if each.sets_aside(signature, finding.rules)]
        if finding.status is Status.FAIL and meant:
            found[signature] = max(meant, key=lambda each: each.expires).until(today)
    return found


def with_waivers(journal: Journal, waived: Mapping[Signature, WaivedUntil]) -> Journal:
    """The journal with WAIVED in place of FAIL, as far as waivers in force reach.

    A rule or a case is waived if every finding that refutes it is.
    """
    in_force = {signature: each for signature, each in waived.items() if not each.expired}
    if not in_force:
        return journal
    aside = [each for each in journal.findings if signature_of(each, journal.system) in in_force]
    failing = [each for each in journal.findings if each.status is Status.FAIL and each not in aside]
    findings = tuple(_set_aside(each, journal.system, in_force) if each in aside else each for each in journal.findings)
    gone = _covered(lambda each: each.rules, aside, failing)
    cases = tuple(_case(each, _covered(lambda finding: finding.cases, aside, failing), gone) for each in journal.cases)
    rules = tuple(_rule(each, gone) for each in journal.rules)
    return msgspec.structs.replace(
        journal,
        findings=findings,
        cases=cases,
        rules=rules,
        certificate=with_new_title(journal.certificate, rules, cases, journal.subject),
    )


def expired_in_words(waivers: Iterable[Waiver], today: date) -> tuple[str, ...]:
    """Each waiver that is not in force any more, one sentence."""
    return tuple(
        f"The waiver of {each.rule or each.signature} expired on {each.expires.isoformat()} ({each.reason}): renew or "
        "remove it."
        for each in waivers
        if each.expires < today
    )


def _set_aside(finding: Finding, system: str, in_force: Mapping[Signature, WaivedUntil]) -> Finding:
    waived = in_force[signature_of(finding, system)]
    why = f"waived until {waived.expires}: {waived.reason}. {finding.why}"
    return msgspec.structs.replace(finding, status=Status.WAIVED, why=why)


def _covered(names: Names, aside: Sequence[Finding], failing: Sequence[Finding]) -> frozenset[str]:
    """What only findings that are set aside name."""
    still = {name for each in failing for name in names(each)}
    return frozenset(name for each in aside for name in names(each)) - still


def _rule(result: RuleResult, gone: frozenset[str]) -> RuleResult:
    if result.status is not Status.FAIL or result.rule.id not in gone:
        return result
    return msgspec.structs.replace(result, status=Status.WAIVED, reason=f"waived: {result.reason}")


def _case(result: CaseResult, gone: frozenset[str], rules: frozenset[str]) -> CaseResult:
    statuses = {
        name: Status.WAIVED if status is Status.FAIL and name in rules else status
        for name, status in result.rules.items()
    }
    waived = result.status is Status.FAIL and f"{result.case} on {result.tier}" in gone
    return msgspec.structs.replace(
        result,
        rules=statuses,
        status=Status.WAIVED if waived else result.status,
        reason=f"waived: {result.reason}" if waived else result.reason,
    )
