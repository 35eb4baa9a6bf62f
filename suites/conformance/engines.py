"""Engines that read their input from a log: what is left of it after kills, pauses and rebalances (RULES E2E).

Each fault is placed by what the engine has persisted, in lives that began from it, so that it makes no difference how
often an engine persists, or how long it takes to start.
"""

from __future__ import annotations

from typing import Any

from holdfast.faults.membership import leave
from holdfast.faults.process import kill, pause
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.case import Tier
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Bounds, FaultSpec, Plan, Topology, WorkloadSpec
from holdfast.harness.model.window import Window
from holdfast.suites.conformance.plans import WORKERS, case, decides, with_needs

FIRST, SECOND = WORKERS[0], WORKERS[1]
NEEDS = frozenset({Capability.READS_LOG})
WRONG = "system:holdfast.suites.certify.scaffolds.system.wrong:WrongEngine"


def engines(*faults: FaultSpec, workers: int = 1, system: str = "") -> Plan:
    """A keyed sum of 4,000 records; they come in as fast as the engine persists what they do."""
    return Plan(
        system=system or "holdfast.suites.certify.scaffolds.system.right:Engine",
        job=KEYED_SUM,
        topology=Topology(parallelism=workers),
        workload=WorkloadSpec(
            "synthetic",
            {"records": 4_000, "keys": 8, "partitions": 2, "preloaded_percent": 5, "records_per_second": 500},
        ),
        faults=faults,
        bounds=Bounds(safety_ms=90_000, liveness_ms=90_000, settle_ms=500),
    )


def killed(restored: int, **when: Any) -> FaultSpec:
    """A kill once so many lives have begun from what was persisted, and something more is."""
    return kill(FIRST, after_restored=restored, after_acknowledged=2, **when)


BEHIND_ROWS = "rows_visible"
"""Rows of a wrong engine may be ahead of its positions."""
KILLED = engines(killed(0), killed(1, at_event=BEHIND_ROWS), killed(2, at_event=BEHIND_ROWS))

CASES = with_needs(
    case("engines/killed", "Does every record count once in the output of an engine that is killed?", KILLED,
         decides("E2E-02", "EXACT/row-wrong", "EXACT/input-missing", wrong=WRONG),
         decides("REC-03", "EXACT/row-wrong", "EXACT/input-missing", wrong=WRONG), windows=(Window.RESTORED_STATE,),
         runs=2, tiers=(Tier.PROCESS,), needs=NEEDS, mutant_plan=KILLED,
         method="SIGKILL hits its first process once it has persisted something, and in later lives when rows appear.",
         passes="Every row is what the oracle's model holds at its counts, and the last rows hold the whole input."),
    case("engines/paused", "Does every record count once in the output of an engine whose process stands still?",
         engines(pause(FIRST, 1_500, after_acknowledged=2), killed(0),
                 pause(FIRST, 1_500, after_restored=1, after_acknowledged=2)),
         windows=(Window.RESTORED_STATE,), tiers=(Tier.PROCESS,), needs=NEEDS,
         method="SIGSTOP for a while, before and after a kill.", passes="As for engines/killed."),
    case("engines/rebalanced", "Does every record count once where workers leave and join?",
         engines(leave(SECOND, 2_000, after_acknowledged=2), kill(FIRST, after_restored=1, after_acknowledged=2),
                 leave(SECOND, 2_000, after_restored=2, after_acknowledged=2), workers=2),
         windows=(Window.RESTORED_STATE,), tiers=(Tier.PROCESS,), needs=NEEDS,
         method="The second of two workers leaves in good order and joins again, twice; meanwhile the first is killed.",
         passes="As for engines/killed."),
)  # fmt: skip
