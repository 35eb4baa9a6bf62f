"""Spark executors: the workers are tasks of a barrier stage, and executors, Python workers and the driver program are
really killed (RULES E2E, REC, BAR, RST)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from holdfast.faults.network import slow
from holdfast.faults.process import kill
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.plan import Bounds, ExpectedEnd, FaultSpec, Plan
from holdfast.harness.model.target import COORDINATOR, Target
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import LATE_CHANNELS, RESTART, WORKERS, case, decides, gate, plan, with_needs
from holdfast.suites.conformance.processes import DECIDED, ON_THE_SIMULATOR, OPTIONS, PASSES, flights
from holdfast.suites.conformance.restart import FIXED_DELAY_ENDS

SPARK = (Tier.SPARK,)
EXECUTOR, PYTHON_WORKER = "executor", "python-worker"
BOUNDS = Bounds(safety_ms=40_000, liveness_ms=150_000, settle_ms=500)
"""A driver program that is killed has as long to come up again as the first one had, 90 s, and then a minute."""
RECORDS = {"records": 2_000, "records_per_second": 500, "preloaded_percent": 10}


def part(name: str, target: Target, **when: Any) -> FaultSpec:
    """SIGKILL of one process of a worker."""
    return replace(kill(target, **when), parameters={"part": name})


def _flights(killed: FaultSpec, key: str = "carrier") -> Plan:
    """The flights, with the patience that Java machines ask for."""
    return flights(killed, key=key, bounds=BOUNDS)


def _small(*faults: FaultSpec, options: Mapping[str, str] = {}, **fields: Any) -> Plan:
    """A keyed sum of 2,000 records that come in for two seconds."""
    return plan(*faults, options={**OPTIONS, **options}, records=RECORDS, bounds=BOUNDS, **fields)


CRASHES = (_flights(part(EXECUTOR, WORKERS[0], after_checkpoint=2)), _flights(kill(COORDINATOR, after_checkpoint=2)))
FINER_CRASHES = (
    _flights(part(PYTHON_WORKER, WORKERS[1], after_checkpoint=2)),
    _flights(part(EXECUTOR, WORKERS[0], after_checkpoint=2, gate=gate("commit", WORKERS[0]))),
    _flights(part(EXECUTOR, WORKERS[1], after_checkpoint=2, gate=gate("acknowledge", WORKERS[1], "sum")), "tailnum"),
)
LATE = _small(slow(LATE_CHANNELS[0], 60, 1_500), options={"source.max-batch-records": "20"})
TWO_RESTARTS = {f"{RESTART}.fixed-delay.attempts": "2", f"{RESTART}.fixed-delay.delay": "300 ms"}

FLIGHTS = Case(id="spark/flights",
               purpose="Does every flight count once when executors and the driver program of Spark are really killed?",
               method="Arrival delays are summed by carrier and by aeroplane on two executors; SIGKILL hits an "
                      "executor or the driver program after a completed checkpoint, while flights still come in.",
               passes=PASSES, decides=DECIDED, windows=plans.RESTORED, plan=CRASHES, tiers=SPARK,
               mutant_plan=ON_THE_SIMULATOR)  # fmt: skip

CASES = with_needs(
    FLIGHTS,
    replace(FLIGHTS, id="spark/flights-in-steps",
            purpose="Does every flight count once when a process of Spark is killed in the middle of a step?",
            method="As spark/flights; SIGKILL hits a Python worker, or an executor that is about to commit its output "
                   "or to acknowledge a checkpoint.",
            plan=FINER_CRASHES, runs=len(FINER_CRASHES)),
    case("spark/late-channel", "Is the cut consistent when a channel between two executors is late?", LATE,
         decides("BAR-03", "CUT/processed-while-blocked", wrong="A3"),
         decides("BAR-05", "CUT/state-extra", "CUT/state-missing", wrong="A3"), tiers=SPARK,
         mutant_plan=plan(slow(LATE_CHANNELS[0], 15)),
         method="What one executor sends to the other is 60 ms late for a second and a half, barriers included.",
         passes="Nothing behind a barrier is processed before the barrier is there on every input, and each checkpoint "
                "holds the effect of exactly the records before its barriers."),
    case("spark/fixed-delay",
         "Does Spark resubmit the stage as often, and after such delays, as the restart strategy demands?",
         _small(*(part(EXECUTOR, WORKERS[number % 2], after_checkpoint=2 * number + 1) for number in range(3)),
                options=TWO_RESTARTS, expected_end=ExpectedEnd.FAILED),
         decides("RST-03", "COUNT/failed-too-early", wrong="restarts-once-less"),
         decides("RST-03", "COUNT/delay-too-short", wrong="restarts-at-once"),
         decides("RST-03", "COUNT/restarted-beyond-policy", wrong="restarts-once-more"), tiers=SPARK,
         mutant_plan=FIXED_DELAY_ENDS,
         method="A fixed delay allows two restarts after 300 ms each; three executors are killed.",
         passes="The stage is submitted again twice, 300 ms after its failure at least, and the third failure is "
                "final."),
)  # fmt: skip
