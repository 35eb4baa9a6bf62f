"""Which cases a quick certificate runs: the cheapest that decide every rule.

Each case serves needs, and the chosen ones serve together what all cases serve that apply here:

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

from holdfast.harness.engine.cases.case import is_control
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.title import LeftOut

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
    """What was not chosen, by tier.

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
        needs.update(("window", decision.rule, window) for window in case.windows)
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
