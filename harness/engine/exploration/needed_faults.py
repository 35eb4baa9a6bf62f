"""What of a refuted plan needs its faults: it is run again without any, and with each alone. For the simulator.

It stays refuted, whatever comes of that: a failure that needs no fault is one as well.
"""

from __future__ import annotations

import msgspec

from holdfast.harness.engine.executor.run import Run, without_faults
from holdfast.harness.engine.exploration.shrink import attempted
from holdfast.harness.engine.plans.words import target_in_words
from holdfast.harness.engine.site.registry import Toolbox
from holdfast.harness.model.case import Tier
from holdfast.harness.model.plan import FaultSpec, Plan
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.spi.system import System

MOST_FAULTS = 6
"""Of a plan, that are tried alone."""
MOST_PLANS = 10
"""That one report explains so."""


def needed_faults(run: Run, system: System, tools: Toolbox) -> str:
    """Which faults a refutation needs, in words; empty: nothing was refuted, the plan has no fault, or the run was on
    no simulator.

    Args:
        run: that was judged.
        system: the system under test.
        tools: what it ran with.
    """
    plan = run.history.plan
    if run.tier is not Tier.SIM or run.outcome is not Outcome.FAIL or not plan.faults:
        return ""
    refuted = _refuted(run)

    def shows(candidate: Plan) -> bool:
        found = attempted(candidate, system, tools)
        return found is not None and found.outcome is Outcome.FAIL and not refuted.isdisjoint(_refuted(found))

    if shows(without_faults(plan)):
        return "refuted without any fault"
    if len(plan.faults) == 1:
        return f"needs {_words(plan.faults[0])}"
    alone = [spec for spec in plan.faults[:MOST_FAULTS] if shows(msgspec.structs.replace(plan, faults=(spec,)))]
    if alone:
        words = list(dict.fromkeys(map(_words, alone)))
        return f"needs one of: {', '.join(words)}" if len(words) > 1 else f"needs {words[0]}"
    if len(plan.faults) == 2:
        return f"needs both: {' and '.join(map(_words, plan.faults))}"
    return f"needs several of its {len(plan.faults)} faults"


def _refuted(run: Run) -> set[tuple[str, str]]:
    return {(verdict.oracle, anomaly.clause) for verdict in run.verdicts for anomaly in verdict.anomalies}


def _words(spec: FaultSpec) -> str:
    return f"{spec.kind} of {target_in_words(spec.target)}"
