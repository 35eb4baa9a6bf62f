"""Programs that acknowledge their input and keep a table: what is left of it after kills (RULES E2E)."""

from __future__ import annotations

from holdfast.harness.model.capability import Capability
from holdfast.harness.model.case import Case, Decision, Tier
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Bounds, FaultSpec, Plan, Schedule, Topology, WorkloadSpec
from holdfast.suites.conformance.plans import WORKERS, with_needs

KEYS = 8
KILLS = tuple(FaultSpec("kill", WORKERS[0], Schedule(after_rows=versions * KEYS)) for versions in (2, 4, 6))
"""After so many rows: the table was written out again, and input is still coming in."""
PLAN = Plan(
    system="acknowledges-first",
    job=KEYED_SUM,
    topology=Topology(parallelism=1),
    workload=WorkloadSpec(
        "synthetic",
        {"records": 6_000, "keys": KEYS, "partitions": 2, "preloaded_percent": 10, "records_per_second": 1_000},
    ),
    faults=KILLS,
    bounds=Bounds(safety_ms=20_000, liveness_ms=30_000, settle_ms=500),
)

CASES = with_needs(
    Case(
        id="programs/killed",
        purpose="Does every record count once in a table whose writer is killed?",
        method="The feeder sends again what was not acknowledged; SIGKILL hits the program three times as rows appear.",
        passes="Every row is what the oracle's model holds at its counts, and the last rows hold the whole input.",
        decides=(
            Decision("E2E-02", "EXACT", ("row-wrong", "input-missing"), "system:acknowledges-first"),
            Decision("REC-03", "EXACT", ("row-wrong", "input-missing"), "system:acknowledges-first"),
        ),
        plan=PLAN,
        tiers=(Tier.PROCESS,),
        needs=frozenset({Capability.ACKNOWLEDGES_INPUT}),
    ),
)
