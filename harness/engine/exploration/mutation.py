"""The harness on trial: whether it kills a mutant, by the oracles that are named for it and on a fair plan."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from holdfast.harness.engine.executor.run import Run, run_plan, without_faults
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.registry import Toolbox
from holdfast.harness.engine.swarm.draw import draw_plan
from holdfast.harness.engine.swarm.mix import mix_for
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.verdict import Outcome, Verdict
from holdfast.harness.spi.mutant import Mutant
from holdfast.harness.spi.system import System

SWARM_LIMIT = 5_000
DELIVERY = ("EXACT", "NOLOSS")
"""What a mutant's committed output must satisfy while nothing is broken."""
OF_WINDOWS = "WINDOW"
"""The same where that output is windows."""


class Trial(msgspec.Struct, frozen=True):
    """What became of one mutant.

    Attributes:
        mutant: its name.
        directed: the anomaly on its own plan, as `ORACLE/clause: message`; empty if there was none.
        swarm: the same on a drawn plan.
        seed: draw seed of that plan, or how many were tried.
        objections: why a kill does not count, one sentence each.
    """

    mutant: str
    directed: str
    swarm: str
    seed: int
    objections: tuple[str, ...]

    @property
    def killed(self) -> bool:
        return bool(self.directed and self.swarm) and not self.objections


def try_mutant(
    mutant: Mutant,
    tools: Toolbox,
    interrupted: Callable[[], str],
    progress: Callable[[int, int], None] = lambda seed, limit: None,
) -> Trial:
    """Try to kill a mutant, once by its own plan and once from the swarm.

    Args:
        mutant: the wrong system, with its plan and oracles.
        tools: registered faults, workloads and oracles.
        interrupted: the reason to stop, or an empty text.
        progress: called with the draw seed that is tried, and the limit.
    """
    wrong = registry.system(mutant.system)
    right = registry.system(mutant.system.partition("+")[0])
    deciding = msgspec.structs.replace(tools, oracles=tuple(o for o in tools.oracles if o.name in mutant.oracles))
    directed = _kill(run_plan(_on(wrong, mutant.plan), wrong, deciding))
    objections = objections_to_system(wrong, mutant.quiet or mutant.plan, tools)
    objections += _objections_to_plan(mutant.plan, right, tools)
    limit = min(mutant.swarm_seeds, SWARM_LIMIT)
    mix = mix_for(right)
    swarm, seed = "", 0
    while not swarm and seed < limit and not interrupted():
        seed += 1
        progress(seed, limit)
        plan = draw_plan(seed, mix)
        swarm = _kill(run_plan(_on(wrong, plan), wrong, deciding))
        if swarm and _objections_to_plan(plan, right, tools):
            swarm = ""  # An unfair plan: the unmutated system does not pass it either.
    return Trial(mutant.name, directed, swarm, seed, tuple(objections))


def _on(system: System, plan: Plan) -> Plan:
    return msgspec.structs.replace(plan, system=system.name)


def _kill(run: Run) -> str:
    """The first anomaly that is named."""
    for verdict in run.verdicts:
        if verdict.anomalies:
            anomaly = verdict.anomalies[0]
            return f"{verdict.oracle}/{anomaly.clause}: {anomaly.message}"
    return ""


def _objections_to_plan(plan: Plan, right: System, tools: Toolbox) -> list[str]:
    run = run_plan(_on(right, plan), right, tools)
    if run.outcome is Outcome.PASS:
        return []
    return [f"{right.name} does not pass this plan either: {run.outcome.value} {run.reason or _first_clause(run)}"]


def objections_to_system(wrong: System, plan: Plan, tools: Toolbox) -> list[str]:
    """Why a wrong system is not known to be right while nothing is broken, one sentence each.

    Args:
        wrong: the mutant's system.
        plan: where nothing exposes it, or its own; it is run without faults.
        tools: registered faults, workloads and oracles.
    """
    run = run_plan(_on(wrong, without_faults(plan)), wrong, tools)
    if run.history.end.problem:
        return [f"without faults {wrong.name} could not be judged: {run.history.end.problem}"]
    judges = (*DELIVERY, OF_WINDOWS)
    verdicts = [each for each in run.verdicts if each.oracle in judges and not each.had_nothing_to_decide]
    if not verdicts:
        return [f"without faults nothing judged what {wrong.name} committed"]
    return [_not_passed(wrong, verdict) for verdict in verdicts if verdict.outcome is not Outcome.PASS]


def _not_passed(wrong: System, verdict: Verdict) -> str:
    if verdict.outcome is Outcome.FAIL:
        return f"without faults {verdict.oracle} does not pass on {wrong.name}, so it is a plain bug"
    return f"without faults {verdict.oracle} could not decide whether {wrong.name} is right: {verdict.reason}"


def _first_clause(run: Run) -> str:
    return next((f"{verdict.oracle}/{anomaly.clause}" for verdict in run.verdicts for anomaly in verdict.anomalies), "")
