"""The kit as the command line finds it."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.harness.model.rule import Subject
from holdfast.harness.spi.kit import KitCheck
from holdfast.suites.certify.state_backend.kit import CHECKS, certify
from holdfast.suites.certify.state_backend.verdict import CheckVerdict


class StateBackendKit:
    """Keyed state backends."""

    subject = Subject.STATE_BACKEND
    rules = frozenset(check.rule for check in CHECKS)
    checks = len(CHECKS)

    def certify(self, factory: str, rules: frozenset[str], seed: int = 0) -> Iterator[KitCheck]:
        chosen = [check for check in CHECKS if not rules or check.rule in rules]
        return map(_shown, certify(factory, checks=chosen, seed=seed))


def _shown(verdict: CheckVerdict) -> KitCheck:
    check = verdict.check
    return KitCheck(check.id, check.purpose, verdict.rule, verdict.status, verdict.reason, tuple(verdict.witness))
