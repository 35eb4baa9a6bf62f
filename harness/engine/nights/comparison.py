"""How two nights, or two certificates, differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from holdfast.harness.model.certificate import Title
from holdfast.harness.model.night import NightFinding, SystemNight
from holdfast.harness.model.status import Status


class ChangedRule(msgspec.Struct, frozen=True):
    """A rule of which the status changed."""

    rule: str
    before: Status
    after: Status


class ChangedPart(msgspec.Struct, frozen=True):
    """A part that comes to something else; UNTESTED: also one that is not there."""

    part: str
    before: Status
    after: Status


class SystemComparison(msgspec.Struct, frozen=True, kw_only=True):
    """One system in both.

    Attributes:
        system, before_system: as the newer and the older one name it.
        rules: of which the status changed.
        parts: of which the title changed.
        title: before and now.
        new, still: labels of findings that only the newer one has, or both.
        gone: labels of findings that only the older one has, and that the newer one decided anew.
        not_covered: those of which the newer one decided no case in which they were found.
        newly_refuted: labels of new findings that no waiver sets aside, and rules and parts that were not FAIL and are.
            The title, where nothing else shows it.
        windows_lost: windows that the older one hit and the newer one did not.
        faults_lost: attacks that landed in the older one and not in the newer one.
        rules_lost: rules that were decided and are not decided any more.
        inconclusive: share of inconclusive runs before and now.
    """

    system: str
    before_system: str
    rules: tuple[ChangedRule, ...]
    parts: tuple[ChangedPart, ...]
    title: tuple[Title, Title]
    new: tuple[str, ...]
    gone: tuple[str, ...]
    not_covered: tuple[str, ...]
    still: tuple[str, ...]
    newly_refuted: tuple[str, ...]
    windows_lost: tuple[str, ...]
    faults_lost: tuple[str, ...]
    rules_lost: tuple[str, ...]
    inconclusive: tuple[float, float]


class Comparison(msgspec.Struct, frozen=True):
    """Both as a whole.

    Attributes:
        systems: that both have.
        only_before, only_after: systems that one of them has.
    """

    systems: tuple[SystemComparison, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]

    @property
    def worse(self) -> bool:
        """Whether anything is newly refuted."""
        return any(each.newly_refuted for each in self.systems)


_DECIDED = frozenset({Status.PASS, Status.FAIL, Status.WAIVED})


def compare(before: Sequence[SystemNight], after: Sequence[SystemNight]) -> Comparison:
    """What changed. Two certificates of one system each are compared whatever their systems are called."""
    if len(before) == len(after) == 1:
        return Comparison((_compared(before[0], after[0]),), (), ())
    old = {each.system: each for each in before}
    new = {each.system: each for each in after}
    return Comparison(
        tuple(_compared(old[name], each) for name, each in new.items() if name in old),
        tuple(name for name in old if name not in new),
        tuple(name for name in new if name not in old),
    )


def _compared(before: SystemNight, after: SystemNight) -> SystemComparison:
    old, new = _by_label(before), _by_label(after)
    changed = tuple(
        ChangedRule(rule, before.rules[rule], status)
        for rule, status in after.rules.items()
        if before.rules.get(rule, status) is not status
    )
    # A finding whose waiver expired was refuted before as well, and fails the night only now.
    refuted = [label for label, each in new.items() if each.counts and not (label in old and old[label].counts)]
    covered = {rule for each in (*before.findings, *after.findings) for rule in each.rules}
    refuted += [each.rule for each in changed if each.after is Status.FAIL and each.rule not in covered]
    parts = tuple(_changed_parts(before, after))
    refuted += [each.part for each in parts if each.after is Status.FAIL]
    if not refuted and after.title is Title.REFUSED and before.title is not Title.REFUSED:
        refuted.append(f"the title is {after.title}")
    return SystemComparison(
        system=after.system,
        before_system=before.system,
        rules=changed,
        parts=parts,
        title=(before.title, after.title),
        new=tuple(label for label in new if label not in old),
        gone=tuple(label for label, each in old.items() if label not in new and _covers(after, each)),
        not_covered=tuple(label for label, each in old.items() if label not in new and not _covers(after, each)),
        still=tuple(label for label in new if label in old),
        newly_refuted=tuple(refuted),
        windows_lost=_lost(before.windows_hit, after.windows_hit),
        faults_lost=_lost(before.faults_landed, after.faults_landed),
        rules_lost=tuple(each.rule for each in changed if each.before in _DECIDED and each.after not in _DECIDED),
        inconclusive=(_share(before), _share(after)),
    )


def _changed_parts(before: SystemNight, after: SystemNight) -> Iterator[ChangedPart]:
    for name in dict.fromkeys((*after.parts, *before.parts)):
        old, new = before.parts.get(name, Status.UNTESTED), after.parts.get(name, Status.UNTESTED)
        if old is not new:
            yield ChangedPart(name, old, new)


def _covers(night: SystemNight, finding: NightFinding) -> bool:
    """Whether a case was decided in which a finding was found, as far as a record shows; else one of its rules."""
    if night.cases and finding.cases:
        return not set(night.cases).isdisjoint(finding.cases)
    return not finding.rules or any(night.rules.get(rule) in _DECIDED for rule in finding.rules)


def _by_label(night: SystemNight) -> dict[str, NightFinding]:
    return {each.signature.label: each for each in night.findings}


def _lost(before: dict[str, int], after: dict[str, int]) -> tuple[str, ...]:
    return tuple(name for name, times in before.items() if times and not after.get(name))


def _share(night: SystemNight) -> float:
    return night.inconclusive_runs / night.total_runs if night.total_runs else 0.0
