"""Sources: splits that an enumerator assigns, input that can be read again, or cannot (RULES E2E-05, E2E-06)."""

from __future__ import annotations

from holdfast.faults.listing import list_part
from holdfast.faults.process import kill
from holdfast.faults.splits import lose_splits
from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import FORWARD, KEYED_SUM, REBALANCE
from holdfast.harness.model.plan import Bounds, FaultSpec, Plan, Schedule
from holdfast.harness.model.target import COORDINATOR, SOURCE_SYSTEM
from holdfast.harness.model.window import Window
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import CHECKPOINTING, EVERYWHERE, WORKERS, case, decides, plan, with_needs

ENUMERATED = {"source.split-assignment": "enumerator", "heartbeat.interval": "150 ms"}
"""What is not confirmed within three or four checkpoints is sent again."""
SPLITS = {"records": 240, "partitions": 6, "idle_partition": 5}


def _enumerated(*faults: FaultSpec, job: Job = KEYED_SUM) -> Plan:
    """Three splits for each of two readers; one split stays idle for a while."""
    return plan(*faults, job=job, options=ENUMERATED, records=SPLITS)


LOST = _enumerated(lose_splits(), kill(WORKERS[0], after_checkpoint=2))
"""One reader never hears of its splits; checkpoints complete all the same, and the job restarts from one."""
ONLY_LOST = _enumerated(lose_splits())
"""Nothing but the enumerator brings the splits to their reader."""
LATE = plan(lose_splits(delay_ms=400),
            FaultSpec("poison", SOURCE_SYSTEM, Schedule(), 120, {"partition": 0, "offset": 0}), job=FORWARD,
            options={**ENUMERATED, plans.FAILOVER: "region", "heartbeat.interval": "50 ms",
                     f"{CHECKPOINTING}.interval": "600 ms"},
            records=SPLITS, bounds=Bounds(safety_ms=3_000, liveness_ms=6_000))  # fmt: skip
"""What is late is sent again; then the reader's region fails, and the other reader takes the splits over."""
FIRST_LISTINGS = plan(list_part(1), list_part(4), kill(WORKERS[0], after_checkpoint=1),
                      kill(COORDINATOR, after_checkpoint=2), job=REBALANCE,
                      options={**ENUMERATED, "heartbeat.interval": "60 ms"}, records=SPLITS)  # fmt: skip
"""Two splits are in no listing until both have died; what the first checkpoints lack is assigned later."""
LATER_LISTINGS = plan(list_part(1, after_checkpoint=1), kill(WORKERS[0], after_checkpoint=3),
                      kill(WORKERS[1], after_checkpoint=5), job=REBALANCE,
                      options={**ENUMERATED, "heartbeat.interval": "40 ms"}, records=SPLITS)  # fmt: skip
"""A split that has a reader is in no listing for four checkpoints, and the job restarts meanwhile."""
ORDER_FAULTS = (
    kill(WORKERS[0], after_checkpoint=1),
    kill(COORDINATOR, after_checkpoint=2),
    kill(WORKERS[1], after_checkpoint=3),
)

CASES = with_needs(
    case("sources/lost-assignment", "Is no split lost when its assignment is?", LOST,
         decides("E2E-05", "COORD/split-lost", wrong="C4"), windows=(Window.RESTORED_STATE,), tiers=EVERYWHERE,
         method="The message that gives a reader its splits is lost; checkpoints complete, and a worker is killed.",
         passes="Every checkpoint holds each split once, with a reader or with the enumerator, and every record "
                "counts."),
    case("sources/sent-again",
         "Is an assignment of splits sent again until its reader has confirmed it, and no longer?", ONLY_LOST,
         decides("E2E-05", "LIVE/end-not-reached", wrong="never-assigns-again"),
         decides("E2E-05", "COORD/split-assigned-again", wrong="assigns-for-ever"),
         method="The message that gives a reader its splits is lost, and nothing else happens.",
         passes="The reader has its splits later, all records are counted, and nobody is given splits for ever."),
    case("sources/late-assignment", "Does a reader ignore splits that an earlier attempt of it was given?", LATE,
         decides("E2E-05", "COORD/split-twice", wrong="takes-late-splits"),
         decides("E2E-05", "CUT/acts-after-stop", wrong="runs-on-after-failure"),
         method="An assignment is late; its reader's region restarts meanwhile, and the other reader takes the "
                "splits.",
         passes="No checkpoint holds a split twice, and no record has two rows."),
    case("sources/partial-listing",
         "Does every split have a reader in the end, and keep its position, when a listing leaves it out?",
         (FIRST_LISTINGS, LATER_LISTINGS), decides("E2E-05", "COORD/split-not-listed", wrong="lists-once"),
         decides("E2E-05", "EXACT/row-repeated", wrong="drops-missing-splits"),
         decides("E2E-05", "EXACT/row-repeated", wrong="L4"), windows=(Window.RESTORED_STATE,), tiers=EVERYWHERE,
         method="Listings leave splits out, at first and again later; workers and the coordinator die meanwhile.",
         passes="Each listed split is in every checkpoint, all are listed in the end, and every record counts once."),
    case("sources/reassigned",
         "Is every recorded range read again identically after splits were assigned anew, with an idle reader?",
         [_enumerated(kill(WORKERS[0], after_checkpoint=1), kill(COORDINATOR, after_checkpoint=3), job=job)
          for job in (KEYED_SUM, REBALANCE)],
         decides("E2E-05", "EXACT/row-wrong", wrong="rereads-other-values"),
         decides("E2E-05", "EXACT/input-missing", wrong="source-skips-one"), windows=(Window.RESTORED_STATE,),
         tiers=EVERYWHERE, mutant_plan=_enumerated(kill(WORKERS[0], after_checkpoint=1)),
         method="Splits are assigned by an enumerator, one of them idle at first; workers and the coordinator die.",
         passes="Sums and rows are those of the oracle's own model of the input."),
    case("sources/order", "Does the order within a split and within a key survive recovery?",
         [plan(*ORDER_FAULTS, job=job, options=options, records=SPLITS)
          for job in (FORWARD, KEYED_SUM)
          for options in ({}, ENUMERATED)],
         decides("E2E-06", "EXACT/order-broken", "EXACT/counts-stepped-back", wrong="rereads-backwards"),
         windows=(Window.RESTORED_STATE,), mutant_plan=plan(*ORDER_FAULTS, job=FORWARD, records=SPLITS),
         method="Two workers and the coordinator die, where rows keep the order of their split, and where sums of a "
                "key grow record by record; splits are assigned by the graph, and by an enumerator.",
         passes="No row follows that of a later record of its split, and no sum of a key steps back."),
)  # fmt: skip
