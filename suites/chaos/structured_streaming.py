"""Spark Structured Streaming on a cluster: Kafka in, checkpoints and output on an object store, or Kafka out."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.fixtures.systems.structured_streaming.options import WITHOUT_EMPTY_BATCHES
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.case import Case, Tier, Window
from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import FORWARD, KEYED_SUM
from holdfast.harness.model.plan import Bounds, FaultSpec, Gate, Plan, Schedule, WorkloadSpec
from holdfast.harness.model.target import COORDINATOR, STORAGE, Target
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.conformance.plans import CHECKPOINTING, WORKERS, with_needs

APPENDS, CLAIMS_TOO_MUCH = "appends-in-foreach-batch", "claims-too-much-of-kafka"
IN_ROCKSDB = {"state.backend.type": "rocksdb", f"{CHECKPOINTING}.incremental": "true"}
INTO_KAFKA = {"sink.connector": "kafka"}
REPLAYED = FaultSpec("replay", COORDINATOR, Schedule(after_checkpoint=1))
"""At once, because then there is input in the batch, however slow the machine is."""
STORE_CUT_OFF = FaultSpec("cut", STORAGE, Schedule(after_checkpoint=2, at_event="checkpoint_triggered"), 2_000)


BEFORE_THE_COMMIT = FaultSpec("kill", COORDINATOR, Schedule(after_checkpoint=1, gate=Gate("write-commit", COORDINATOR)),
                              parameters={"unfinished": 1})  # fmt: skip


def _killed(target: Target, after_checkpoint: int) -> FaultSpec:
    """While a micro-batch is under way: its offsets are in the store, its commit is not."""
    schedule = Schedule(after_checkpoint=after_checkpoint, at_event="checkpoint_triggered")
    return FaultSpec("kill", target, schedule, parameters={"unfinished": 1})


def _plan(*faults: FaultSpec, job: Job = FORWARD, options: Mapping[str, str] = {}, variant: str = "") -> Plan:
    """Records that arrive over some micro-batches of a second."""
    return Plan(
        system=f"spark+{variant}" if variant else "spark",
        job=job,
        workload=WorkloadSpec(
            "synthetic",
            {"records": 1_500, "keys": 8, "partitions": 2, "preloaded_percent": 10, "records_per_second": 120},
        ),
        options={f"{CHECKPOINTING}.interval": "1 s", **options},
        faults=faults,
        bounds=Bounds(safety_ms=120_000, liveness_ms=120_000, settle_ms=1_000),
    )


def _case(name: str, purpose: str, method: str, passes: str, plan: Plan, windows: tuple[Window, ...] = ()) -> Case:
    return Case(id=f"chaos/spark-{name}", purpose=purpose, method=method, passes=passes, decides=(), plan=plan,
                windows=windows, tiers=(Tier.CONTAINERS,), needs=frozenset({Capability.MICRO_BATCHES}))  # fmt: skip


def _control(name: str, purpose: str, method: str, plan: Plan) -> Case:
    return Case(id=f"chaos/spark-{name}-control", purpose=purpose, method=method,
                passes="Records of the replayed micro-batch are there twice, and named.", decides=(), plan=plan,
                expected=Outcome.FAIL, refutes=frozenset({"EXACT/row-repeated"}), tiers=(Tier.CONTAINERS,),
                needs=frozenset({Capability.MICRO_BATCHES}))  # fmt: skip


CASES = with_needs(
    _case("file-sink", "Is every record once in the files on an object store that Spark's file sink has committed?",
          "A micro-batch is replayed, the link to the store is cut for two seconds, an executor dies in a micro-batch.",
          "Every identity is there once, and nothing comes after the settle window.",
          _plan(REPLAYED, STORE_CUT_OFF, _killed(WORKERS[0], after_checkpoint=3), options=WITHOUT_EMPTY_BATCHES)),
    _control("file-sink", "Is foreachBatch that appends, whichever batch it is given, found out on an object store?",
             "A micro-batch is replayed; the pipeline writes each call under a fresh name.",
             _plan(REPLAYED, variant=APPENDS)),
    _case("foreach-batch",
          "Does every record count once in sums whose driver dies between the offsets of a batch and its commit?",
          "A relay in front of the store holds back the commit of a micro-batch, whose offsets are in the store and "
          "whose output is written; the driver is killed there. State is kept in RocksDB.",
          "Each row is what the oracle's model holds at its counts, which rise, and the last ones hold all input.",
          _plan(BEFORE_THE_COMMIT, job=KEYED_SUM, options=IN_ROCKSDB), (Window.RESTORED_STATE,)),
    _case("kafka-sink", "Is nothing lost, and everything that is there twice a repeat, in Spark's Kafka sink?",
          "A micro-batch is replayed: at-least-once is all that the sink claims.",
          "Every record is there; repeats are reported as notes.", _plan(REPLAYED, options=INTO_KAFKA)),
    _control("kafka-sink", "Is the claim of exactly-once refuted for Spark's Kafka sink?",
             "The same replay under a claim that the sink cannot keep.",
             _plan(REPLAYED, options=INTO_KAFKA, variant=CLAIMS_TOO_MUCH)),
)  # fmt: skip
