"""What of a refuted plan needs its faults: it is run again without any, and with each alone. For the simulator.

It stays refuted, whatever comes of that: a failure that needs no fault is one as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from holdfast.harness.engine.executor.run import Run, without_faults
from holdfast.harness.engine.exploration.shrink import attempted
from holdfast.harness.engine.plans.words import fault_in_brief, schedule_in_words
from holdfast.harness.engine.site.registry import Toolbox
from holdfast.harness.engine.views.finding import NOT_TRIED, Needed, first_anomaly
from holdfast.harness.model.case import Tier
from holdfast.harness.model.plan import FaultSpec, Plan
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.spi.system import System

MOST_FAULTS = 6
"""Of a plan, that are tried alone."""
MOST_PLANS = 10
"""That one report explains so."""


def needed_faults(run: Run, system: System, tools: Toolbox) -> Needed:
    """Which faults the cause of a refutation needs. Nobody tries where nothing was refuted, the plan has no fault, its
    expected end needs them, or the run was on no simulator.

    Args:
        run: that was judged.
        system: the system under test.
        tools: what it ran with.
    """
    plan = run.history.plan
    if run.tier is not Tier.SIM or run.outcome is not Outcome.FAIL or not plan.faults:
        return NOT_TRIED
    bare = without_faults(plan)
    if bare.expected_end is not plan.expected_end:
        return NOT_TRIED
    cause = first_anomaly(run.history, run.verdicts)

    def shows(candidate: Plan) -> bool:
        found = attempted(candidate, system, tools)
        return found is not None and cause is not None and (cause[0], cause[1].clause) in _refuted(found)

    if shows(bare):
        return Needed("needs no fault", frozenset())
    words = _told_apart(plan.faults)
    if len(plan.faults) == 1:
        return Needed(f"needs {words[0]}", frozenset({0}))
    alone = [
        index
        for index, spec in enumerate(plan.faults[:MOST_FAULTS])
        if shows(msgspec.structs.replace(plan, faults=(spec,)))
    ]
    if alone:
        each = list(dict.fromkeys(words[index] for index in alone))
        sentence = f"needs one of: {', '.join(each)}" if len(each) > 1 else f"needs {each[0]}"
        return Needed(sentence, frozenset(alone))
    everything = frozenset(range(len(plan.faults)))
    if len(plan.faults) == 2:
        first, second = words
        sentence = f"{first} and {second}" if first != second else f"{first}, twice"
        return Needed(f"needs both: {sentence}", everything)
    return Needed(f"needs more than one of its {len(plan.faults)} faults", everything)


def _refuted(run: Run) -> set[tuple[str, str]]:
    return {(verdict.oracle, anomaly.clause) for verdict in run.verdicts for anomaly in verdict.anomalies}


def _told_apart(faults: Sequence[FaultSpec]) -> list[str]:
    """Each in words; those that read alike, with their moments."""
    words = list(map(fault_in_brief, faults))
    times = Counter(words)
    return [
        each + (schedule_in_words(spec.schedule) if times[each] > 1 else "")
        for each, spec in zip(words, faults, strict=True)
    ]
