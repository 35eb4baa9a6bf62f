"""Which cases of a certification run on which tiers, and in which order."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.harness.engine.cases.case import is_control, system_under_test, why_not_applicable
from holdfast.harness.engine.cases.case_status import case_not_run
from holdfast.harness.engine.cases.swarm_case import SWARM_ID
from holdfast.harness.engine.certification.certificate import tiers_that_ran
from holdfast.harness.engine.certification.request import Request
from holdfast.harness.engine.certification.selection import DRAWN_PLANS, Pair, examples, left_out, select
from holdfast.harness.engine.errors import ForeignError, NotApplicable, UsageError
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.foreign import foreign, in_words, raised_by
from holdfast.harness.engine.site.machine import lacking
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.journal import CaseResult, Status
from holdfast.harness.model.title import LeftOut, Scope
from holdfast.harness.spi.system import System

SEEDS = 1_000_000
"""Draw seeds that belong to one seed of a certification."""


def demanded(case: Case, tier: Tier, scope: Scope) -> int:
    """How many runs of a case must count, unless the user says otherwise."""
    few = scope is Scope.QUICK and case.id == SWARM_ID and tier is Tier.SIM
    return min(case.runs, DRAWN_PLANS) if few else case.runs


class Agenda:
    """What a request asks for, as far as it applies here.

    Args:
        request: what is certified.
        cases: that were chosen.

    Attributes:
        system: under test.
        tools: registered faults, workloads and oracles.
        first_seed: draw seed of run 0.
    """

    def __init__(self, request: Request, cases: Iterable[Case]) -> None:
        self.request = request
        self.system = registry.system(request.system)
        self.tools = registry.toolbox()
        self.first_seed = request.seed * SEEDS + 1
        self._cases = tuple(cases)
        self._left_out: list[Pair] = []

    def first(self) -> list[Pair]:
        """Those that run, and those that cannot, which have a reason. Others are left out."""
        agenda = self._ordered()
        if self.request.scope is not Scope.QUICK:
            return agenda
        able = self._able(agenda)
        chosen = {(case.id, tier) for case, tier in select(able, registry.case_costs(), self.first_seed)}
        self._left_out = [(case, tier) for case, tier in able if (case.id, tier) not in chosen]
        rest = {(case.id, tier) for case, tier in self._left_out}
        return [(case, tier) for case, tier in agenda if (case.id, tier) not in rest]

    def _able(self, agenda: Iterable[Pair]) -> list[Pair]:
        return [pair for pair in agenda if not self.why_no_tier(pair[1]) and self.applies(*pair)]

    def undecided(self, results: Iterable[CaseResult], skipped: Iterable[Tier]) -> list[Pair]:
        """Cases that were left out and decide a rule that none of the chosen ones decides: these did not apply after
        all, such as one whose fault finds nothing to strike.

        Args:
            results: of those that are over.
            skipped: tiers on which nothing begins any more.
        """
        undecided = (Status.UNTESTED, Status.NOT_APPLICABLE)
        decided = {rule for each in results for rule, status in each.rules.items() if status not in undecided}
        wanted = [
            (case, tier)
            for case, tier in self._left_out
            if tier not in skipped and any(each.rule not in decided for each in case.decides)
        ]
        self._left_out = [pair for pair in self._left_out if pair not in wanted]
        return wanted

    def examples(self, chosen: Iterable[Pair]) -> frozenset[tuple[str, Tier]]:
        """Of these, the case and tier of which a passing run is kept whole."""
        return examples(self._able(chosen), registry.case_costs())

    def left_out(self) -> tuple[LeftOut, ...]:
        """What a thorough certificate would run besides."""
        return left_out(self._left_out, registry.case_costs())

    def _ordered(self) -> list[Pair]:
        """Rehearsals first, then plans written by hand, the simulator before real tiers, and drawn plans with what time
        is left. Of a tier, what tells of the system before what tells of the harness, and short cases before long."""
        order = list(Tier)

        def key(pair: Pair) -> tuple[object, ...]:
            case, tier = pair
            return not case.rehearsal, self.is_drawn(case), order.index(tier), is_control(case), case.runs

        return sorted(((case, tier) for case in self._cases for tier in case.tiers), key=key)

    def is_drawn(self, case: Case) -> bool:
        return bool(case.plan_for(self.first_seed).draw_seed)

    def demanded(self, case: Case, tier: Tier) -> int:
        """How many runs must count."""
        if self.request.runs is not None and self.is_drawn(case):
            return self.request.runs
        return demanded(case, tier, self.request.scope)

    def under_test(self, case: Case, tier: Tier) -> System | CaseResult:
        """What a case runs on; or its result, if it does not run."""
        if reason := self.why_no_tier(tier):
            return case_not_run(case, tier, Status.UNTESTED, reason)
        return self._suited(case, tier)

    def applies(self, case: Case, tier: Tier) -> bool:
        """Whether a case can be run there, on the system under test; one in error would be run, and show it."""
        found = self._suited(case, tier)
        return not isinstance(found, CaseResult) or found.status is not Status.NOT_APPLICABLE

    def _suited(self, case: Case, tier: Tier) -> System | CaseResult:
        """As under_test, whether this machine has the tier or not."""
        whose = f"system {self.request.system!r}"
        try:
            with foreign(whose):
                under_test = system_under_test(case, self.system, self.first_seed)
                reason = why_not_applicable(case, under_test, tier, self.tools)
        except NotApplicable as error:
            return case_not_run(case, tier, Status.NOT_APPLICABLE, str(error))
        except UsageError as error:
            return case_not_run(case, tier, Status.ERROR, str(error))
        except Exception as error:  # The adapter broke; the other cases still say something.
            if sentence := raised_by(registry.strangers_of(self.system), error):
                return case_not_run(case, tier, Status.FAIL, f"system {sentence}")
            said = str(error) if isinstance(error, ForeignError) else f"{whose} raised {in_words(error)}"
            return case_not_run(case, tier, Status.ERROR, said)
        return case_not_run(case, tier, Status.NOT_APPLICABLE, reason) if reason else under_test

    def not_chosen(self, results: Iterable[CaseResult]) -> frozenset[str]:
        """Cases that the user did not choose, though they apply on a tier that ran."""
        results = tuple(results)
        ran = tiers_that_ran(results)
        here = {case.id for case in self._cases}
        touched = {rule for result in results for rule in result.rules}
        return frozenset(
            case.id
            for case in registry.cases()
            if case.id not in here
            and any(decision.rule in touched for decision in case.decides)
            and any(self.applies(case, tier) for tier in case.tiers if tier in ran)
        )

    def why_no_tier(self, tier: Tier) -> str:
        """Why nothing runs on a tier, without a full stop; empty: it runs."""
        if self.request.tiers and tier not in self.request.tiers:
            return f"tier {tier} was not chosen"
        if reason := lacking(tier):
            return f"tier {tier} {reason}"
        return ""
