"""Certification: every case that applies, on every tier that runs, and one Journal of it all."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import monotonic  # noqa: TID251 - budget and duration of the whole; no run depends on it
from typing import Protocol

import msgspec

from holdfast.harness.engine import registry
from holdfast.harness.engine.campaign import Answer, Question, ask_until
from holdfast.harness.engine.cases import accused_of, chosen, is_control, why_not_applicable
from holdfast.harness.engine.certificate import certificate, rule_results, tiers_that_ran
from holdfast.harness.engine.errors import NotApplicable, UsageError
from holdfast.harness.engine.interruption import Interruption
from holdfast.harness.engine.keeper import Keeper
from holdfast.harness.engine.machine import lacking
from holdfast.harness.engine.standing import case_not_run, case_result
from holdfast.harness.engine.swarm import cases_for
from holdfast.harness.engine.tally import Tally
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.journal import CaseResult, Journal, RunResult, Status, TierReport, Title
from holdfast.harness.model.verdict import Outcome

SEEDS = 1_000_000
"""Draw seeds that belong to one seed of a certification."""
MANY = 10_000_000
"""As many drawn plans as the budget allows."""
MOST_SHRUNK = 3
"""Failing cases whose plan is shrunk."""
_LIBRARIES = ("msgspec", "numpy", "pyarrow")


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What a user asked for.

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
        jobs: worker processes for drawn plans on the simulator.
    """

    command: str
    system: str
    folder: Path
    seed: int = 0
    rules: frozenset[str] = frozenset()
    areas: frozenset[str] = frozenset()
    tiers: frozenset[Tier] = frozenset()
    required: frozenset[Tier] = frozenset()
    runs: int | None = None
    budget_s: float | None = None
    jobs: int = 1


class Observer(Protocol):
    """Told what happens, as it happens."""

    def begin(self, case: str, tier: Tier, demanded: int) -> None:
        """A case begins."""

    def ran(self, result: RunResult, kept: RunResult | None) -> None:
        """A run is over; `kept` if it was stored."""

    def shrunk(self, result: RunResult, plan: Path) -> None:
        """A smaller plan shows what this run showed; it was stored under this path."""

    def end(self, result: CaseResult) -> None:
        """A case is over, or was skipped."""


class Certification:
    """One invocation of certify.

    Raises:
        UsageError: the request names what does not exist, or a tier that this machine lacks.
    """

    def __init__(self, request: Request, observer: Observer, interruption: Interruption) -> None:
        _check_names(request)
        self._request = request
        self._observer = observer
        self._interruption = interruption
        self._started = datetime.now(UTC)  # noqa: TID251 - for the report alone
        self._start_s = monotonic()
        self._system = registry.system(request.system)
        self._tools = registry.toolbox()
        self._cases = chosen(cases_for(self._system), request.rules, request.areas)
        self._keeper = Keeper(request.folder, self._tools.faults)
        self._tallies: dict[tuple[str, str], Tally] = {}
        self._results: list[CaseResult] = []
        self._runs: list[RunResult] = []
        self._shrunk = 0

    def run(self) -> Journal:
        """Ask every case on every tier; the journal of what was done, also after an interruption."""
        for case, tier in self._agenda():
            result = self._one(case, tier)
            self._results.append(result)
            self._observer.end(result)
        return self._journal()

    @property
    def _first_seed(self) -> int:
        return self._request.seed * SEEDS + 1

    def _agenda(self) -> list[tuple[Case, Tier]]:
        """Plans written by hand first, the simulator before real tiers, and drawn plans with what time is left."""
        order = list(Tier)
        pairs = [(case, tier) for case in self._cases for tier in case.tiers]
        return sorted(pairs, key=lambda pair: (self._is_drawn(pair[0]), order.index(pair[1])))

    def _is_drawn(self, case: Case) -> bool:
        return bool(case.plan_for(self._first_seed).draw_seed)

    def _one(self, case: Case, tier: Tier) -> CaseResult:
        if reason := self._why_skipped(tier):
            return case_not_run(case, tier, Status.UNTESTED, reason)
        try:
            accused = accused_of(case, self._system, self._first_seed)
            reason = why_not_applicable(case, accused, tier, self._tools)
        except NotApplicable as error:
            return case_not_run(case, tier, Status.NOT_APPLICABLE, str(error))
        except UsageError as error:
            return case_not_run(case, tier, Status.ERROR, str(error))
        if reason:
            return case_not_run(case, tier, Status.NOT_APPLICABLE, reason)
        demanded = self._request.runs if self._request.runs is not None and self._is_drawn(case) else case.runs
        question = Question(
            case, accused, tier, self._tools, self._first_seed, self._keeper.runs, self._interruption.reason
        )
        tally = self._ask(question, demanded)
        evidence = accused.evidence()
        return case_result(case, tier, demanded, tally, self._tools.oracles, evidence, self._interruption.reason())

    def _ask(self, question: Question, demanded: int) -> Tally:
        case, request = question.case, self._request
        tally = Tally()
        if not is_control(case):  # What a wrong system claimed and did is not the accused's.
            self._tallies[case.id, question.tier] = tally
        goal = MANY if request.budget_s is not None and self._is_drawn(case) else demanded
        self._observer.begin(case.id, question.tier, demanded)
        answers = ask_until(question, goal, request.jobs if question.tier is Tier.SIM else 1)
        while (answer := self._next(answers)) is not None:
            tally.add(answer.result)
            kept = self._keeper.keep(answer, question)
            if kept is not None:
                self._runs.append(kept)
            self._observer.ran(answer.result, None if is_control(case) else kept)  # That one fails is as it should be.
            if self._late():
                break
        self._shrink_first_failure(question)
        return tally

    def _next(self, answers: Iterator[Answer]) -> Answer | None:
        """The next answer, if there is one and it is not broken off."""
        try:
            with self._interruption.breakable():
                return next(answers, None)
        except KeyboardInterrupt:
            return None

    def _shrink_first_failure(self, question: Question) -> None:
        """Of a case on the simulator, a few times: explaining must not take longer than testing."""
        failure = next((each for each in self._runs if _is_failure(each, question)), None)
        if failure is None or is_control(question.case) or self._interruption.signal or self._shrunk >= MOST_SHRUNK:
            return
        self._shrunk += 1
        small = self._keeper.shrink(failure, question.system, question.tools)
        if small is not None:
            self._observer.shrunk(failure, small)

    def _late(self) -> bool:
        budget_s = self._request.budget_s
        return budget_s is not None and monotonic() - self._start_s >= budget_s

    def _why_skipped(self, tier: Tier) -> str:
        if self._request.tiers and tier not in self._request.tiers:
            return f"tier {tier} was not asked for"
        if reason := lacking(tier):
            return f"tier {tier} {reason}"
        if self._late():
            return f"the budget of {self._request.budget_s:.0f} s was used up"
        return self._interruption.reason()

    def _journal(self) -> Journal:
        system, request = self._system, self._request
        subject = system.subject
        rules = rule_results(
            registry.rules(),
            registry.cases(),
            self._results,
            self._tallies,
            subject,
            strict=system.strict,
            left_out=self._left_out(),
        )
        return Journal(
            command=request.command,
            system=system.name,
            subject=subject,
            profile=system.profile,
            claims="; ".join(sorted({claim for tally in self._tallies.values() for claim in tally.claims})),
            evidence={kind: evidence.value for kind, evidence in sorted(system.evidence().items())},
            started=self._started.isoformat(timespec="seconds"),
            duration_s=monotonic() - self._start_s,
            interrupted=self._interruption.signal,
            versions=_versions(),
            seed=request.seed,
            plans_digest=_digest_over(tally.plans.hexdigest() for tally in self._tallies.values()),
            history_digest=self._keeper.histories.hexdigest(),
            tiers=tuple(self._tier_report(tier) for tier in Tier),
            cases=tuple(self._results),
            rules=rules,
            runs=tuple(self._runs),
            certificate=certificate(rules, self._results, self._tallies.values(), subject, system.supplied_by_author),
        )

    def _left_out(self) -> frozenset[str]:
        """Cases that were not chosen, though they would have been asked on a tier that ran."""
        ran = tiers_that_ran(self._results)
        asked = {case.id for case in self._cases}
        touched = {rule for result in self._results for rule in result.rules}
        return frozenset(
            case.id
            for case in registry.cases()
            if case.id not in asked
            and any(decision.rule in touched for decision in case.decides)
            and any(self._applies(case, tier) for tier in case.tiers if tier in ran)
        )

    def _applies(self, case: Case, tier: Tier) -> bool:
        try:
            accused = accused_of(case, self._system, self._first_seed)
            return not why_not_applicable(case, accused, tier, self._tools)
        except NotApplicable:
            return False
        except UsageError:
            return True  # Asked, it would be in error.

    def _tier_report(self, tier: Tier) -> TierReport:
        runs = sum(tally.runs for (_, name), tally in self._tallies.items() if name == tier)
        if runs:
            return TierReport(tier, ran=True, reason="", runs=runs)
        if tier not in self._system.tiers:
            return TierReport(tier, ran=False, reason=f"{self._system.name} does not run there")
        return TierReport(tier, ran=False, reason=self._why_skipped(tier) or "no case asks for it")


def _is_failure(result: RunResult, question: Question) -> bool:
    return (result.case, result.tier) == (question.case.id, Tier.SIM) and result.outcome is Outcome.FAIL


def exit_code(journal: Journal, *, require_certified: bool = False) -> int:
    """0 certified or partial, 1 violated, 2 inconclusive (also where nothing ran), 4 harness error."""
    statuses = {result.status for result in journal.cases} | {result.status for result in journal.rules}
    if Status.FAIL in statuses:
        return 1
    if Status.ERROR in statuses:
        return 4
    if journal.certificate.title is Title.REFUSED or not any(tier.ran for tier in journal.tiers):
        return 2
    return 2 if require_certified and journal.certificate.title is not Title.CERTIFIED else 0


def _check_names(request: Request) -> None:
    known = {rule.id for rule in registry.rules()}
    for rule in request.rules - known:
        raise registry.unknown("rule", rule, known)
    areas = {rule.partition("-")[0] for rule in known}
    for area in request.areas - areas:
        raise registry.unknown("area", area, areas)
    for tier in request.required | request.tiers:
        if reason := lacking(tier):
            raise UsageError(f"tier {tier} was asked for, but it {reason}.")


def _digest_over(digests: Iterable[str]) -> str:
    return hashlib.sha256("".join(digests).encode()).hexdigest()


def _versions() -> dict[str, str]:
    return {
        "holdfast": _version("holdfast"),
        "python": platform.python_version(),
        **{name: _version(name) for name in _LIBRARIES},
        "platform": platform.platform(),
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
