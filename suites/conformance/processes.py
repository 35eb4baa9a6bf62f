"""Real processes on real data: the flights of 2013, with kills from outside (RULES E2E, REC, TPC)."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.faults.process import kill
from holdfast.harness.model.case import Tier
from holdfast.harness.model.plan import Bounds, FaultSpec, Plan, WorkloadSpec
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import CHECKPOINTING, EXACT_SUMS, WORKERS, case, decides, gate, plan, with_needs

OPTIONS = {
    f"{CHECKPOINTING}.interval": "200 ms",
    f"{CHECKPOINTING}.timeout": "20 s",
    f"{plans.RESTART}.fixed-delay.delay": "100 ms",
    "source.max-batch-records": "4096",
}
BOUNDS = Bounds(safety_ms=20_000, liveness_ms=30_000, settle_ms=500)


def flights(*kills: FaultSpec, key: str = "carrier", bounds: Bounds = BOUNDS) -> Plan:
    """Delays summed by key while the flights come in for two seconds; a kill counts only while some are unread."""
    faults = [replace(each, parameters={**each.parameters, "unread": 1}) for each in kills]
    workload = WorkloadSpec("flights", {"key": key, "records_per_second": 60_000})
    return plan(*faults, workload=workload, options=OPTIONS, bounds=bounds)


CRASHES = (
    flights(kill(WORKERS[0], after_checkpoint=2)),
    flights(kill(COORDINATOR, after_checkpoint=2)),
    flights(kill(WORKERS[1], after_checkpoint=1), kill(WORKERS[0], after_checkpoint=4)),
    flights(kill(WORKERS[0], after_checkpoint=2, gate=gate("commit", WORKERS[0]))),
    flights(kill(WORKERS[1], after_checkpoint=2, gate=gate("acknowledge", WORKERS[1], "sum")), key="tailnum"),
    flights(kill(COORDINATOR, after_checkpoint=2, gate=gate("notify", COORDINATOR)), key="tailnum"),
)
ON_THE_SIMULATOR = plan(kill(WORKERS[0], after_checkpoint=1, at_event="rows_visible"))
"""What shows the mutants of these cases without real processes."""

PASSES = (
    "Each committed row is what the oracle's model holds at its counts, the last ones hold all flights, and what was "
    "visible once stays."
)
DECIDED = (
    decides("E2E-02", *EXACT_SUMS, wrong="source-repeats-one"),
    decides("E2E-03", "STABLE/row-changed", "STABLE/row-vanished", wrong="takes-back-committed"),
    decides("REC-03", *EXACT_SUMS, wrong="source-repeats-one"),
    decides("REC-01", "COORD/restored-not-latest", wrong="starts-empty"),
    decides("REC-02", "RESTORE/position-differs", wrong="source-repeats-one"),
)
"""What kills among the flights decide, wherever the processes run."""

CASES = with_needs(
    case("processes/flights", "Does every flight count once when processes are really killed?", CRASHES, *DECIDED,
         windows=plans.RESTORED, tiers=(Tier.PROCESS,), mutant_plan=ON_THE_SIMULATOR,
         method="Arrival delays are summed by carrier and by aeroplane on two workers; SIGKILL hits a worker or the "
                "coordinator after a completed checkpoint, while flights still come in.",
         passes=PASSES),
)  # fmt: skip
