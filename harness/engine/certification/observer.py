"""Who watches a certification."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.journal import CaseResult, RunResult
from holdfast.harness.spi.kit import KitCheck


class Observer(Protocol):
    """Is notified of each step of a certification."""

    def expect(self, cases: Sequence[tuple[Case, Tier]]) -> None:
        """These cases are to be run."""

    def begin(self, case: str, tier: Tier, demanded: int) -> None:
        """A case begins."""

    def ran(self, result: RunResult, kept: RunResult | None) -> None:
        """A run is over; `kept` if it was stored."""

    def shrinking(self, result: RunResult) -> None:
        """A smaller plan is searched that leads to the same finding as this run."""

    def shrunk(self, result: RunResult, small: RunResult) -> None:
        """A run of a smaller plan leads to the same finding as this run, and was stored."""

    def end(self, result: CaseResult) -> None:
        """A case is over, or was skipped."""

    def expect_checks(self, kit: str, checks: Sequence[KitCheck], alone_s: float) -> None:
        """A kit is to run these, in this order; about how many seconds they take on an idle machine."""

    def end_check(self, kit: str, check: KitCheck) -> None:
        """A check is over."""
