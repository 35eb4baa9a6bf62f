"""What a kit says, check by check and rule by rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from holdfast.harness.model.status import STATUS_RANK, Status
from holdfast.suites.certify.check import Check

WITNESS_STEPS = 12
"""How many of the last steps a witness shows; a check repeats all of them whenever it is run."""


class CheckVerdict(NamedTuple):
    """What one check says.

    Attributes:
        check: which.
        status: PASS, FAIL, INCONCLUSIVE, NOT_APPLICABLE, or ERROR where the kit itself broke.
        rule: that is broken, or that the check decides.
        reason: one sentence where it is not PASS.
        witness: of a failure, the steps that lead to it.
        figures: what it measured, sentences.
    """

    check: Check[Any]
    status: Status
    rule: str
    reason: str = ""
    witness: Sequence[str] = ()
    figures: Sequence[str] = ()

    @property
    def text(self) -> str:
        """Its lines for people."""
        head = f"{self.status} {self.check.id}: {self.reason or self.check.purpose}"
        return "\n".join([head, *(f"    {step}" for step in self.witness)])


class RuleVerdict(NamedTuple):
    """What all checks of a rule say together: the worst of them."""

    rule: str
    status: Status
    reason: str


def rule_verdicts(verdicts: Iterable[CheckVerdict]) -> tuple[RuleVerdict, ...]:
    """By rule, ascending."""
    by_rule: dict[str, list[CheckVerdict]] = {}
    for verdict in verdicts:
        by_rule.setdefault(verdict.rule, []).append(verdict)
        if verdict.rule != verdict.check.rule:  # It broke off at another rule than its own, which stays open.
            open_one = verdict._replace(
                status=Status.INCONCLUSIVE,
                rule=verdict.check.rule,
                reason=f"it broke off where {verdict.rule} is broken",
            )
            by_rule.setdefault(verdict.check.rule, []).append(open_one)
    return tuple(_of_rule(rule, found) for rule, found in sorted(by_rule.items()))


def _of_rule(rule: str, found: Sequence[CheckVerdict]) -> RuleVerdict:
    applicable = [each for each in found if each.status is not Status.NOT_APPLICABLE]
    if not applicable:
        return RuleVerdict(rule, Status.NOT_APPLICABLE, found[0].reason)
    worst = max(applicable, key=lambda each: STATUS_RANK[each.status])
    reason = "" if worst.status is Status.PASS else f"{worst.check.id}: {worst.reason}"
    return RuleVerdict(rule, worst.status, reason)
