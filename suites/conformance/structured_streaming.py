"""Spark Structured Streaming: what is left in its output after real kills, and after a batch that runs twice (RULES
E2E, REC, TPC).

Spark is started once and serves as many runs as possible; who kills its driver program waits for another.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from holdfast.faults.process import kill
from holdfast.faults.upgrade import upgrade
from holdfast.fixtures.systems.structured_streaming.options import WITHOUT_EMPTY_BATCHES
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.case import Case, Tier, Window
from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import FORWARD, KEYED_SUM, WINDOW_SUM
from holdfast.harness.model.plan import Bounds, FaultSpec, Plan, Schedule, WorkloadSpec
from holdfast.harness.model.target import COORDINATOR, Target
from holdfast.suites.conformance.plans import CHECKPOINTING, EXACT_SUMS, WORKERS, case, decides, plan, with_needs

NEEDS = frozenset({Capability.MICRO_BATCHES})
IN_ROCKSDB = {"state.backend.type": "rocksdb", f"{CHECKPOINTING}.incremental": "true"}
APPENDING = "spark+appends-in-foreach-batch"
ROLLED_BACK = "spark+puts-old-state-back"


def query_plan(
    *faults: FaultSpec,
    job: Job = KEYED_SUM,
    options: Mapping[str, str] = {},
    system: str = "spark",
    records: int = 1_200,
    arrival_ms: int = 3_000,
    event_step_ms: int = 10,
) -> Plan:
    """Records that arrive over so much time, and faults in between.

    Args:
        faults: in the order of the plan.
        job: that stands for the query.
        options: beside the interval between micro-batches.
        system: on trial.
        records: of all partitions.
        arrival_ms: over which they arrive.
        event_step_ms: by how much event time passes from one record to the next.
    """
    return Plan(
        system=system,
        job=job,
        workload=WorkloadSpec(
            "synthetic",
            {
                "records": records,
                "keys": 6,
                "partitions": 2,
                "preloaded_percent": 10,
                "records_per_second": records * 9_000 // (2 * 10 * arrival_ms),
                "event_step_ms": event_step_ms,
            },
        ),
        options={f"{CHECKPOINTING}.interval": "500 ms", **options},
        faults=faults,
        bounds=Bounds(safety_ms=90_000, liveness_ms=120_000, settle_ms=600),
    )


def killed_in_batch(target: Target) -> FaultSpec:
    """SIGKILL while a micro-batch is under way: its offsets are written, its commit is not."""
    return FaultSpec(
        "kill", target, Schedule(after_checkpoint=2, at_event="checkpoint_triggered"), parameters={"unfinished": 1}
    )


PYTHON_KILLED = FaultSpec("kill", WORKERS[0], Schedule(after_checkpoint=3), parameters={"part": "python-worker"})


REPLAYED = FaultSpec("replay", COORDINATOR, Schedule(after_checkpoint=1, at_event="checkpoint_triggered"))
"""In the second micro-batch: there is a checkpoint before it to go on from, and most of the input comes behind it,
however slow the machine is, because nothing arrives until the query stands again."""
REPLAYED_LATE = FaultSpec("replay", COORDINATOR, Schedule(after_checkpoint=3))
"""When there is state of more than one batch."""
REPLAYED_WITH_WINDOWS = replace(REPLAYED_LATE, parameters={"windows": 1})
"""Of a batch in which the watermark passes the end of a window: only there is something to emit twice."""
UPGRADED = upgrade("replay", after_checkpoint=1, at_event="checkpoint_triggered")
"""By a version that does the second micro-batch again. Other ways are drawn."""
ON_THE_SIMULATOR = plan(kill(WORKERS[0], after_checkpoint=1, at_event="rows_visible"))
"""What shows the mutants of the killing cases without Spark."""
STABLE = decides("E2E-03", "STABLE/row-changed", "STABLE/row-vanished", wrong="takes-back-committed")


def _replayed(system: str, job: Job = KEYED_SUM) -> Plan:
    """Half the time is enough: what is due by the restart arrives behind it. Else the last batch of a query with a
    watermark is one without input, and to replay that shows nothing."""
    return query_plan(REPLAYED, job=job, system=system, arrival_ms=1_500, options=WITHOUT_EMPTY_BATCHES)


def windows_plan(*faults: FaultSpec, options: Mapping[str, str] = {}) -> Plan:
    """Event time passes eight times as fast as time does: each file of input, of 150 ms or more, holds the end of a
    window, so that each batch with input lets the watermark pass one. Input lasts until a query whose executor died has
    taken three checkpoints on a busy machine."""
    return query_plan(*faults, job=WINDOW_SUM, options=options, records=3_600, arrival_ms=20_000, event_step_ms=100)


def _control(name: str, what: str, method: str, refutes: str, plan: Plan) -> Case:
    """A pipeline that is right until it is started again."""
    return case(f"structured-streaming/{name}", f"Negative control: is it found out that {what}?", plan,
                refutes=frozenset({refutes}), tiers=(Tier.SPARK,), needs=NEEDS, method=method,
                passes=f"{refutes} refutes it.")  # fmt: skip


CASES = with_needs(
    case("structured-streaming/sums",
         "Does every record count once in sums that foreachBatch writes, and in the state that they are kept in, when "
         "executor or driver are killed?",
         (query_plan(killed_in_batch(WORKERS[0])), query_plan(killed_in_batch(COORDINATOR), options=IN_ROCKSDB)),
         decides("E2E-02", *EXACT_SUMS, wrong="source-repeats-one"),
         decides("REC-03", *EXACT_SUMS, wrong="source-repeats-one"),
         decides("BAR-05", "STATE/state-extra", wrong="source-repeats-one"),
         decides("BAR-05", "STATE/state-missing", wrong="source-skips-one"),
         decides("BAR-05", "STATE/key-wrong", wrong="history:state/key-wrong/sums-of-two-keys-exchanged"), STABLE,
         windows=(Window.RESTORED_STATE,), tiers=(Tier.SPARK,), needs=NEEDS, mutant_plan=ON_THE_SIMULATOR,
         method="SIGKILL hits an executor, and the driver with its state in RocksDB, while a micro-batch is under way; "
                "after the run Spark's statestore source reads back what the checkpoints hold.",
         passes="Each row is what the oracle's model holds at its counts, which rise, and the last ones hold all "
                "input; the state of each micro-batch holds the records up to its offsets once, for every key."),
    case("structured-streaming/files",
         "Is every record once in the files that Spark's file sink has committed, when processes are killed?",
         (query_plan(PYTHON_KILLED, killed_in_batch(WORKERS[1]), job=FORWARD),
          query_plan(killed_in_batch(COORDINATOR), job=FORWARD)),
         decides("E2E-02", "EXACT/row-repeated", "EXACT/input-missing", wrong="source-repeats-one"), STABLE,
         windows=(Window.RESTORED_STATE,), tiers=(Tier.SPARK,), needs=NEEDS,
         mutant_plan=plan(kill(WORKERS[0], after_checkpoint=1, at_event="rows_visible"), job=FORWARD),
         method="SIGKILL hits the Python workers of an executor and then another executor, in another run the driver, "
                "while a micro-batch is under way; a file counts if the sink's own log names it.",
         passes="Every identity is there once, and nothing comes after the settle window."),
    *(case(f"structured-streaming/replayed-{what}", f"Does {sink} ignore a micro-batch that it has written already?",
           _replayed("spark", job), decides("TPC-08", "EXACT/row-repeated", wrong=f"system:{APPENDING}"),
           windows=(Window.RESTORED_STATE,), tiers=(Tier.SPARK,), needs=NEEDS,
           method="The query is stopped, its last commit-log entry is removed, and it is started again.",
           passes="The batch runs twice, and nothing of it is there twice.")
      for what, sink, job in (("sums", "foreachBatch", KEYED_SUM), ("files", "Spark's file sink", FORWARD))),
    case("structured-streaming/windows",
         "Is every event-time window written once, and whole, and kept until then, when an executor dies and a batch "
         "runs twice?",
         windows_plan(killed_in_batch(WORKERS[0]), REPLAYED_WITH_WINDOWS, options=IN_ROCKSDB),
         decides("REC-07", "WINDOW/window-repeated", "WINDOW/window-missing", wrong=f"system:{APPENDING}"),
         decides("REC-07", "WINDOW/window-wrong", wrong="history:window/window-wrong/record-of-the-next-window"),
         decides("BAR-05", "STATE/state-missing", "STATE/window-outlives", wrong=f"system:{ROLLED_BACK}"),
         decides("BAR-05", "STATE/state-extra", wrong="history:state/state-extra/a-window-behind-the-positions"),
         decides("BAR-05", "STATE/key-wrong", wrong="history:state/key-wrong/records-of-two-windows-exchanged"),
         decides("BAR-05", "STATE/watermark-ahead",
                 wrong="history:state/watermark-ahead/a-watermark-that-no-record-has-reached"),
         windows=(Window.RESTORED_STATE,), tiers=(Tier.SPARK,), needs=NEEDS,
         # In the other store, whose files the second wrong system can put back.
         mutant_plan=windows_plan(REPLAYED_WITH_WINDOWS),
         method="SIGKILL hits an executor while a micro-batch is under way, with windows in RocksDB; later the last "
                "commit is removed; after the run Spark's statestore source reads back what the checkpoints hold.",
         passes="Each window that the watermark has passed has one row, which is what the oracle's model holds; the "
                "state of each micro-batch holds the windows that its watermark has not passed, each with its records "
                "up to the offsets."),
    *(case(f"structured-streaming/upgraded-{what}",
           "Does the next version of a pipeline go on where the former one ended?",
           query_plan(UPGRADED, job=job, arrival_ms=1_500, options=WITHOUT_EMPTY_BATCHES),
           tiers=(Tier.SPARK, Tier.CONTAINERS), needs=NEEDS | {Capability.UPGRADE},
           method="A query is stopped with its driver program, its last commit-log entry is removed, and its next "
                  "version is started on the same checkpoint.",
           passes="The next version does the last micro-batch again, and the output is that of one query.")
      for what, job in (("sums", KEYED_SUM), ("records", FORWARD), ("windows", WINDOW_SUM))),
    _control("replayed-sums-appended", "foreachBatch appends, whichever batch it is given",
             "The same replay; the pipeline writes each call under a fresh name.", "EXACT/row-repeated",
             _replayed(APPENDING)),
    _control("state-rolled-back", "a query continues from older state",
             "The query is stopped, and before it is started again, files of its first micro-batch take the place of "
             "those that hold the state of later ones.",
             "STATE/state-missing", query_plan(REPLAYED_LATE, system=ROLLED_BACK)),
    _control("loses-after-restore", "foreachBatch drops more than what it has written",
             "The same replay; the pipeline takes the next offset of a partition for the last one that it has written.",
             "EXACT/input-missing", _replayed("spark+loses-after-restore", FORWARD)),
    _control("forgets-after-restore", "sums begin at nothing while the query continues behind its checkpoint",
             "The same replay; the pipeline keeps its sums in a variable.", "EXACT/row-wrong",
             _replayed("spark+forgets-after-restore")),
    _control("reorders-after-restore", "the rows of a key become visible in the wrong order",
             "The same replay; behind it the pipeline takes the parts of a batch out of a list at the wrong end.",
             "EXACT/counts-stepped-back", _replayed("spark+reorders-after-restore")),
)  # fmt: skip
