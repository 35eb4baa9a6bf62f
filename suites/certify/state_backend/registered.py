"""The kit as the command line finds it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from holdfast.harness.model.rule import Subject
from holdfast.harness.spi.kit import KitCheck
from holdfast.suites.certify.plug import always, chosen, listed, shown
from holdfast.suites.certify.state_backend.kit import CHECKS, certify


class StateBackendKit:
    """Keyed state backends."""

    subject = Subject.STATE_BACKEND
    rules = frozenset(check.rule for check in CHECKS)
    checks = listed(CHECKS)
    floor = always(
        "ASY-06/closed",
        "INC-01/program",
        "INC-02/program",
        "INC-03/program",
        "REC-09/program",
        "RSC-01/scaling",
        "SBK-01/program",
        "SBK-02/program",
        "SBK-03/program",
        "SBK-04/incompatible",
        "SBK-05/program",
        "SBK-09/description",
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
            raise ValueError("--location and --option are not for state backends: leave them out.")
        return map(shown, certify(factory, checks=chosen(CHECKS, checks), seed=seed))

    def plugged(self, factory: str, location: str, options: Mapping[str, str]) -> str:
        if ":" not in factory:
            raise ValueError(f"state backend {factory!r} is one of ours: certify reference, or name module:factory.")
        return f"reference+state-backend={factory}"
