"""What a user wants to be certified, and who watches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Protocol

import msgspec

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import entry_points, registry
from holdfast.harness.engine.site.machine import lacking
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.certificate import Scope
from holdfast.harness.model.journal import CaseResult, RunResult
from holdfast.harness.spi.kit import KitCheck

MOST_SEED, MOST_RUNS, MOST_JOBS = 10**12, 10**9, 10**6
"""A million draw seeds belong to a seed, and each is a number of 64 bits."""
Seed = Annotated[int, msgspec.Meta(ge=0)]


class Request(msgspec.Struct, frozen=True, kw_only=True, tag="system"):
    """One invocation of `certify`. Its bounds are those of the command line: a request may come from a file.

    Attributes:
        command: as typed.
        system: name, with variant.
        folder: of the report, new.
        seed: draws begin at a million times this, plus one.
        rules, areas: only cases that decide one of these; none: all.
        tiers: only these; none: all.
        required: tiers that must be there.
        runs: how many drawn plans must count; None: as many as a case demands.
        budget_s: when to stop beginning anything; None: when everything is done. Drawn plans go on until then.
        drawn_everywhere: plans are drawn on each tier that is chosen, and not only on the first of the system.
        thorough: every case that applies runs, and not the cheapest that decide every rule; one that decides a rule or
            area that is named runs in any case.
        keep_all: of runs that passed, not only one for each area and tier is stored.
        jobs: processes that compute at a time, beside others that wait for real time; 1: all cases one after the
            other in this process.
    """

    command: str
    system: str
    folder: Path
    seed: Seed = 0
    rules: frozenset[str] = frozenset()
    areas: frozenset[str] = frozenset()
    tiers: frozenset[Tier] = frozenset()
    required: frozenset[Tier] = frozenset()
    runs: Annotated[int, msgspec.Meta(ge=1)] | None = None
    budget_s: Annotated[float, msgspec.Meta(ge=0)] | None = None
    drawn_everywhere: bool = False
    thorough: bool = False
    keep_all: bool = False
    jobs: Annotated[int, msgspec.Meta(ge=1)] = 1

    @property
    def narrowed(self) -> bool:
        """Whether rules or areas are chosen."""
        return bool(self.rules or self.areas)

    @property
    def scope(self) -> Scope:
        """Which of the cases that apply run."""
        if self.narrowed:
            return Scope.NARROWED
        return Scope.THOROUGH if self.thorough else Scope.QUICK


def check_request(request: Request) -> None:
    """Refuse what can never be answered here.

    Raises:
        UsageError: it names a rule or an area that does not exist, a tier that this machine lacks, or a number that
            is too large.
    """
    require_numbers(seed=(request.seed, MOST_SEED), runs=(request.runs, MOST_RUNS), jobs=(request.jobs, MOST_JOBS))
    known = {rule.id for rule in registry.rules()}
    for rule in request.rules - known:
        raise entry_points.unknown("rule", rule, known)
    areas = {rule.partition("-")[0] for rule in known}
    for area in request.areas - areas:
        raise entry_points.unknown("area", area, areas)
    for tier in request.required | request.tiers:
        if reason := lacking(tier):
            raise UsageError(f"tier {tier} was chosen, but it {reason}.")


def require_numbers(**given: tuple[int | None, int]) -> None:
    """Refuse numbers that are too large.

    Args:
        given: by name of the option, its value and the largest one.

    Raises:
        UsageError: one is larger.
    """
    for name, (value, most) in given.items():
        if value is not None and value > most:
            raise UsageError(f"--{name} is {value}; allowed is a whole number up to {most}.")


class Observer(Protocol):
    """Is notified of each step of a certification."""

    def expect(self, cases: Sequence[tuple[Case, Tier]], widths: Mapping[Tier, int]) -> None:
        """Take the cases that are to run, and by tier how many run at a time; one where a tier is not named."""

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
