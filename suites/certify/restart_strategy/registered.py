"""The kit as the command line finds it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from holdfast.harness.model.rule import Subject
from holdfast.harness.spi.kit import KitCheck
from holdfast.suites.certify.plug import always, chosen, listed, shown
from holdfast.suites.certify.restart_strategy.kit import CHECKS, certify


class RestartStrategyKit:
    """Restart strategies."""

    subject = Subject.RESTART_STRATEGY
    rules = frozenset(check.rule for check in CHECKS)
    checks = listed(CHECKS)
    floor = always(
        "RST-07/unrecoverable",
        "RST-07/description",
        "RST-07/repeatable",
        "RST-07/moment",
        "RST-07/apart",
        "RST-07/far-moments",
    )

    def certify(
        self,
        factory: str,
        checks: Set[str],
        seed: int = 0,
        location: str = "",
        options: Mapping[str, str] | None = None,
    ) -> Iterator[KitCheck]:
        if location or options:
            raise ValueError("--location and --option are not for restart strategies: leave them out.")
        return map(shown, certify(factory, checks=chosen(CHECKS, checks), seed=seed))
