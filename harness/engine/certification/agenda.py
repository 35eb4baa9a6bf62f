"""Which cases of a certification run on which tiers, and in which order.

A quick certificate runs the cheapest cases that decide every rule. Each case serves needs, and the chosen ones serve
together what all cases serve that apply here:

- each clause by which a rule is decided, with the rule; each window that a case of the rule must hit; and each wrong
  variant that a decision names to show that it can fail. The first tier that is there serves what it can, and each
  further tier only what no tier before it can;
- on each tier, each area of rules, each kind of fault and one negative control: what stands between the system and a
  fault is another code on each tier;
- a case that decides no rule, such as drawn plans, on the first of its tiers that is there; and each rehearsal.

A need with one case keeps this case, however expensive. Among several, those are chosen that cost least for each need
that they serve (greedy weighted set cover), and what the others serve as well is dropped again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from holdfast.harness.engine.cases.case import is_control, system_under_test, why_not_applicable
from holdfast.harness.engine.cases.case_status import case_not_run
from holdfast.harness.engine.cases.swarm_case import SWARM_ID
from holdfast.harness.engine.certification.certificate import tiers_that_ran
from holdfast.harness.engine.certification.request import Request
from holdfast.harness.engine.errors import ForeignError, NotApplicable, UsageError
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.foreign import foreign, in_words, raised_by
from holdfast.harness.engine.site.machine import lacking
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.certificate import LeftOut, Scope
from holdfast.harness.model.journal import CaseResult, Status
from holdfast.harness.model.rule import Subject
from holdfast.harness.spi.system import System

DRAWN_PLANS = 100
"""Drawn plans that must count on the simulator in a quick certificate."""
UNKNOWN_RUN_S = {Tier.SIM: 0.1, Tier.PROCESS: 2.0, Tier.SPARK: 15.0, Tier.CONTAINERS: 30.0}
"""What a run of a case without a recorded cost is taken to cost."""
LEAST_S = 0.01
"""What a case costs at least: beside its runs something is done once for it."""
Pair = tuple[Case, Tier]
Need = tuple[str, ...]
Costs = Mapping[tuple[str, Tier], float]
"""By case and tier, how many seconds all runs of the case take one after the other, alone on an idle machine."""


def cost_s(costs: Costs, case: Case, tier: Tier) -> float:
    """What a case costs on a tier; one without a recorded cost, UNKNOWN_RUN_S for each run.

    Args:
        costs: that are recorded.
        case, tier: which.
    """
    recorded = costs.get((case.id, tier))
    return case.runs * UNKNOWN_RUN_S[tier] if recorded is None else recorded


def select(pairs: Sequence[Pair], costs: Costs, first_seed: int = 1) -> list[Pair]:
    """The chosen ones, in the order of `pairs`.

    Args:
        pairs: cases with a tier, all that apply to the system on the tiers that are there.
        costs: that are recorded.
        first_seed: from which plans are drawn.
    """
    chosen: set[tuple[str, Tier]] = set()
    served: set[Need] = set()
    for tier in Tier:
        here = {case.id: case for case, on in pairs if on is tier}
        needs = {name: _needs(case, tier, first_seed) for name, case in here.items()}
        cheapest = _cover(needs, served, {name: cost_s(costs, case, tier) for name, case in here.items()})
        chosen |= {(name, tier) for name in cheapest}
        served.update(*needs.values())
    return [(case, tier) for case, tier in pairs if case.rehearsal or (case.id, tier) in chosen]


def examples(pairs: Iterable[Pair], costs: Costs) -> frozenset[tuple[str, Tier]]:
    """For each area of rules and each tier the case that costs least: of it a run that passes is kept to be looked at.

    Args:
        pairs: cases with a tier, all that run.
        costs: that are recorded.
    """
    found: dict[tuple[str, Tier], tuple[float, str]] = {}
    for case, tier in pairs:
        for area in {decision.rule.partition("-")[0] for decision in case.decides}:
            candidate = cost_s(costs, case, tier), case.id
            found[area, tier] = min(found.get((area, tier), candidate), candidate)
    return frozenset((name, tier) for (_, tier), (_, name) in found.items())


def left_out(rest: Iterable[Pair], costs: Costs) -> tuple[LeftOut, ...]:
    """The cases that were not chosen, by tier.

    Args:
        rest: cases with a tier.
        costs: that are recorded.
    """
    by_tier: dict[Tier, list[Case]] = {tier: [] for tier in Tier}
    for case, tier in rest:
        by_tier[tier].append(case)
    return tuple(
        LeftOut(tier, len(cases), sum(cost_s(costs, case, tier) for case in cases))
        for tier, cases in by_tier.items()
        if cases
    )


def _needs(case: Case, tier: Tier, first_seed: int) -> frozenset[Need]:
    """What a case serves."""
    if is_control(case):
        return frozenset({("control", tier)})
    if not case.decides:
        return frozenset({("case", case.id)})
    needs: set[Need] = set()
    for decision in case.decides:
        needs.add(("area", tier, decision.rule.partition("-")[0]))
        needs.update(("clause", decision.rule, decision.oracle, clause) for clause in decision.clauses)
        needs.update(("window", decision.rule, window) for window in (*case.windows, *decision.windows))
        # On a plan of its own the variant is refuted by no certificate; a hand-made history is run by none.
        if decision.wrong_system and case.mutant_plan is None:
            needs.add(("variant", decision.rule, decision.mutant))
    plans = (case.plan_for(first_seed + number) for number in range(case.runs))
    needs.update(("fault", tier, fault.kind) for plan in plans for fault in plan.faults)
    return frozenset(needs)


def _cover(needs: Mapping[str, frozenset[Need]], served: set[Need], cost: Mapping[str, float]) -> set[str]:
    """Names that serve together what all of them serve and is not yet served, at little cost."""
    wanted = set().union(*needs.values()) - served
    chosen: list[str] = []
    while wanted:
        best = max(sorted(needs), key=lambda name: len(needs[name] & wanted) / max(cost[name], LEAST_S))
        chosen.append(best)
        wanted -= needs[best]
    for name in sorted(chosen, key=cost.__getitem__, reverse=True):
        others = served.union(*(needs[other] for other in chosen if other != name))
        if needs[name] <= others:
            chosen.remove(name)
    return set(chosen)


def owed_by(subject: str, cases: Iterable[Case]) -> tuple[Case, ...]:
    """The cases that a certificate of a subject runs unless rules or areas are named. A pipeline of a team owes its own
    rules and no others: of it run the cases of these, rehearsals and drawn plans. Whatever else is certified does not
    owe these.

    Args:
        subject: of the system under test.
        cases: that there are.
    """
    of_pipelines = {rule.id for rule in registry.rules() if rule.subjects == (Subject.PIPELINE,)}
    if subject == Subject.PIPELINE:
        return tuple(
            case
            for case in cases
            if case.rehearsal or case.id == SWARM_ID or any(each.rule in of_pipelines for each in case.decides)
        )
    return tuple(
        case for case in cases if not case.decides or any(each.rule not in of_pipelines for each in case.decides)
    )


SEEDS = 1_000_000
"""Draw seeds that belong to one seed of a certification."""


def required_runs(case: Case, tier: Tier, scope: Scope) -> int:
    """How many runs of a case must count, unless the user sets that."""
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
        """The cases that run, and those that cannot, with a reason. Others are left out."""
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
        """The case and tier, out of these, of which a passing run is kept complete."""
        return examples(self._able(chosen), registry.case_costs())

    def left_out(self) -> tuple[LeftOut, ...]:
        """What a thorough certificate would run besides."""
        return left_out(self._left_out, registry.case_costs())

    def _ordered(self) -> list[Pair]:
        """Rehearsals first, then plans written by hand, the simulator before real tiers, and drawn plans with what time
        is left. Of a tier, cases that judge the system before those that judge the harness, and short ones first."""
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
        return required_runs(case, tier, self.request.scope)

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
