"""Sources: what a job may claim of them, queues, sockets, and splits (RULES E2E-01, E2E-04 to E2E-06, REC-02).

Queues forget what is acknowledged and give again what is not; sockets cannot be read again. Source systems may have
removed records, or list a part of their partitions. Wrong readers of queues need a broker:
`suites/selfcheck/services/test_queues.py` runs them where there is one.
"""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.faults.input import list_part, truncate
from holdfast.faults.notices import lose_splits
from holdfast.faults.process import kill
from holdfast.harness.model.case import Tier, Window
from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import FORWARD, KEYED_SUM, REBALANCE, over_sockets
from holdfast.harness.model.plan import Bounds, ExpectedEnd, FaultSpec, Plan, Schedule, Topology
from holdfast.harness.model.target import COORDINATOR, SOURCE_SYSTEM
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import (
    AT_LEAST_ONCE,
    CHECKPOINTING,
    EVERYWHERE,
    RESTORED,
    WORKERS,
    Options,
    case,
    decides,
    gate,
    plan,
    refused,
    submitted,
    with_needs,
)

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


ALIGNED: Options = {}
TWO_PHASE: Options = {"sink.delivery-guarantee": "exactly-once"}
AT_ONCE: Options = {"sink.delivery-guarantee": "at-least-once"}
EXACTLY: Options = {"holdfast.guarantee": "exactly-once"}
AT_LEAST: Options = {"holdfast.guarantee": "at-least-once"}
LATTICE = (
    (KEYED_SUM, ALIGNED, TWO_PHASE, EXACTLY),
    (KEYED_SUM, ALIGNED, AT_ONCE, AT_LEAST),
    (KEYED_SUM, AT_LEAST_ONCE, TWO_PHASE, AT_LEAST),
    (KEYED_SUM, AT_LEAST_ONCE, AT_ONCE, AT_LEAST),
    (FORWARD, AT_LEAST_ONCE, TWO_PHASE, EXACTLY),
    (FORWARD, AT_LEAST_ONCE, AT_ONCE, AT_LEAST),
)
"""Job, state, sink, and the most that they keep together; a job that never aligns is exactly-once in either mode."""
KEPT = [submitted(state | sink | claim, job=job) for job, state, sink, claim in LATTICE]
MODEST = [submitted(state | sink | AT_LEAST, job=job) for job, state, sink, _ in LATTICE]
UNCLAIMED = [submitted(state | sink, job=job) for job, state, sink, _ in LATTICE]
TOO_MUCH = [refused(state | sink | EXACTLY, job=job) for job, state, sink, most in LATTICE if most is AT_LEAST]
BROKEN = (kill(WORKERS[0], after_checkpoint=1), kill(COORDINATOR, after_checkpoint=2))

CLAIM_CASES = with_needs(
    case("claims/kept", "Is the least of sources, state and sinks what is claimed, and may a job claim it?",
         [*KEPT, *MODEST, *UNCLAIMED], decides("E2E-01", "CONFIG/claimed-too-much", wrong="claims-exactly-once"),
         method="Jobs with every pair of mode and sink are submitted, claiming the least of them, less, or nothing.",
         passes="Each is accepted, and no more is claimed than all of them keep."),
    case("claims/too-much", "Is a job refused that claims more than the least of sources, state and sinks?", TOO_MUCH,
         decides("E2E-01", "LOUD/accepted-bad-option", wrong="allows-any-claim"),
         method="Jobs that repeat, by their mode or by their sink, are submitted with a claim of exactly-once.",
         passes="Each is refused."),
    case("claims/tested", "Does a job keep what it was allowed to claim?",
         [plan(*BROKEN, job=job, options=state | sink | claim)
          for job, state, sink, claim in LATTICE
          if claim is EXACTLY],
         decides("E2E-01", "EXACT/row-repeated", "EXACT/input-missing", wrong="source-repeats-one"), tiers=EVERYWHERE,
         method="Jobs that claim exactly-once lose a worker and the coordinator.",
         passes="Every record takes effect once in the output."),
)  # fmt: skip


QUEUES: Options = {"source.connector": "rabbitmq"}
WITHOUT_IDS: Options = {**QUEUES, "source.correlation-ids": "false"}
ONE = Topology(parallelism=1)
UNHEARD = kill(COORDINATOR, after_checkpoint=1, gate=gate("notify", COORDINATOR))
"""The checkpoint is complete, and no source hears of it: what it holds is not acknowledged, and comes again."""
LONGER = {"records": 1_000}
"""So that records are read behind the first checkpoint on a slow machine, too."""
READ_AGAIN = (
    plan(UNHEARD, options=QUEUES | EXACTLY, topology=ONE, records=LONGER),
    plan(kill(WORKERS[0], after_checkpoint=1), options=QUEUES | EXACTLY, topology=ONE, records=LONGER),
    plan(UNHEARD, job=FORWARD, options=QUEUES | EXACTLY, topology=ONE, records=LONGER),
)
TOO_MUCH_OF_QUEUES = [refused(QUEUES | EXACTLY, job=KEYED_SUM, topology=Topology(parallelism=2)),
            refused(WITHOUT_IDS | EXACTLY, job=KEYED_SUM, topology=ONE),
            refused(WITHOUT_IDS | EXACTLY, job=FORWARD, topology=ONE)]  # fmt: skip

QUEUE_CASES = with_needs(
    case("queues/read-again",
         "Is a record of a queue counted once, whether it or its acknowledgement was lost in a crash?", READ_AGAIN,
         decides("E2E-05", "EXACT/row-repeated", wrong="history:exact/row-repeated/identity-twice"),
         decides("E2E-05", "EXACT/input-missing", wrong="history:exact/input-missing/last-records-missing"),
         windows=RESTORED, tiers=(Tier.PROCESS,),
         method="A worker dies between two checkpoints; a checkpoint completes and no source hears of it.",
         passes="Every record takes effect once."),
    case("queues/without-ids", "Does a job lose nothing of queues whose messages nobody recognises?",
         plan(UNHEARD, kill(WORKERS[0], after_checkpoint=2), options=WITHOUT_IDS, topology=ONE, records=LONGER),
         decides("E2E-05", "NOLOSS/input-lost", wrong="history:noloss/input-lost/last-row-lacks-a-record"),
         tiers=(Tier.PROCESS,),
         method="What comes again has no id. A checkpoint completes and no source hears of it; a worker dies.",
         passes="No record is lost; some may be there twice."),
    case("queues/too-much", "Is a claim of exactly-once refused of queues without ids, and of several subtasks?",
         TOO_MUCH_OF_QUEUES, decides("E2E-01", "LOUD/accepted-bad-option", wrong="claims-exact-queues"),
         method="Jobs that read queues are submitted with a claim of exactly-once.", passes="Each is refused."),
    case("queues/kept", "May a job claim what it can keep of queues?",
         [submitted(QUEUES | EXACTLY, topology=ONE), submitted(QUEUES | AT_LEAST, topology=Topology(parallelism=2)),
          submitted(WITHOUT_IDS | AT_LEAST, topology=ONE), submitted(WITHOUT_IDS, topology=ONE)],
         decides("E2E-01", "CONFIG/claimed-too-much", wrong="claims-exact-queues"),
         method="Jobs that read queues are submitted with what they keep, with less, or with no claim.",
         passes="Each is accepted, and no more is claimed."),
)  # fmt: skip


AT_MOST: Options = {"holdfast.guarantee": "at-most-once"}
JOBS = tuple(map(over_sockets, (FORWARD, REBALANCE, KEYED_SUM)))
REPEATS: Options = {"sink.delivery-guarantee": "at-least-once"}
TOO_MUCH_OF_SOCKETS = [refused(claim, job=job) for job in JOBS for claim in (EXACTLY, AT_LEAST)]
TOO_MUCH_OF_SOCKETS += [refused(AT_MOST | weaker, job=JOBS[1]) for weaker in (AT_LEAST_ONCE, REPEATS)]
KEPT_OF_SOCKETS = [submitted(claim, job=job) for job in JOBS for claim in ({}, AT_MOST)]
LONG = {"records": 240}
"""Input comes in for longer than a restart takes, so that a socket goes on."""


def _crashed(number: int, claim: Options) -> Plan:
    return plan(*BROKEN, job=JOBS[number], options=claim, records=LONG)


SOCKET_CASES = with_needs(
    case("sockets/too-much", "Is a job that reads a socket refused when it claims to lose nothing?",
         TOO_MUCH_OF_SOCKETS,
         decides("E2E-05", "LOUD/accepted-bad-option", wrong="trusts-sockets"),
         decides("E2E-01", "LOUD/accepted-bad-option", wrong="trusts-sockets"),
         method="Jobs with such a source are submitted with a claim of exactly-once, and of at-least-once; and with a "
                "claim of at-most-once where their mode or their sink repeats.",
         passes="Each is refused."),
    case("sockets/kept",
         "May a job that reads a socket claim that it repeats nothing, and is no more than that claimed for it?",
         KEPT_OF_SOCKETS,
         decides("E2E-05", "CONFIG/claimed-too-much", wrong="trusts-sockets"),
         method="Such jobs are submitted with a claim of at-most-once, and with none.",
         passes="Each is accepted, and at-most-once is what is claimed."),
    case("sockets/at-most-once", "Does a job that reads a socket keep the claim of at-most-once?",
         [_crashed(number, AT_MOST) for number in (0, 1)],
         decides("E2E-04", "NOREPEAT/record-repeated", wrong="resends-after-restore"), windows=(Window.RESTORED_STATE,),
         tiers=EVERYWHERE,
         method="A worker and the coordinator are killed; what was read since the last checkpoint cannot be read "
                "again.",
         passes="No record has two rows; what is lost is reported."),
    case("sockets/loss-control", "Does a crash show the loss where a runtime lets such a job claim exactly-once?",
         replace(_crashed(1, EXACTLY), system="reference+trusts-sockets"), refutes=frozenset({"EXACT/input-missing"}),
         tiers=EVERYWHERE,
         method="The same kills, under a claim of exactly-once that is accepted.",
         passes="Records are missing from the output."),
)  # fmt: skip


TO_THE_POSITION = tuple(
    plan(truncate(duration_ms=300, after_checkpoint=1), kill(WORKERS[0], after_checkpoint=1),
         truncate(duration_ms=300, after_checkpoint=3), kill(COORDINATOR, after_checkpoint=3), job=job, records=LONG)
    for job in (KEYED_SUM, FORWARD)
)  # fmt: skip
BEYOND_IT = tuple(
    plan(truncate(beyond, after_checkpoint=2), kill(WORKERS[0], after_checkpoint=2), records=LONG,
         expected_end=ExpectedEnd.FAILED)
    for beyond in (20, 240)
)  # fmt: skip

SYSTEM_CASES = with_needs(
    case("source-systems/truncated-to-position", "Does a recovery need no record in front of the restored position?",
         TO_THE_POSITION, decides("REC-02", "RESTORE/position-differs", wrong="source-repeats-one"),
         windows=(Window.RESTORED_STATE, Window.READ_AGAIN), tiers=EVERYWHERE,
         method="All records that the last completed checkpoint covers are removed; a worker and a coordinator die.",
         passes="Sources continue at exactly the recorded positions, and all input is drained."),
    case("source-systems/truncated-beyond-position",
         "Does a job fail visibly when records behind its restored position have been removed?", BEYOND_IT,
         decides("REC-08", "LIVE/end-not-reached", wrong="reads-from-earliest"), tiers=EVERYWHERE,
         method="More records are removed than the last completed checkpoint covers, and a worker dies.",
         passes="The job fails, and no source continues behind the gap."),
)  # fmt: skip
