"""Restores at another parallelism (RULES RSC)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.faults.process import kill
from holdfast.faults.storage import slow_storage
from holdfast.faults.task import slow_task
from holdfast.faults.user import command
from holdfast.harness.model.case import Tier, Window
from holdfast.harness.model.job import Job, ListState
from holdfast.harness.model.jobs import BROADCAST, FORWARD, JOIN, KEYED_SUM, MINI_BATCH, REBALANCE, listed
from holdfast.harness.model.plan import Bounds, ExpectedEnd, FaultSpec, Plan, Topology
from holdfast.harness.model.target import COORDINATOR, Role, Target
from holdfast.harness.model.topology import subtasks
from holdfast.suites.conformance.barriers import BUSY, FEW_BUFFERS, UNALIGNED
from holdfast.suites.conformance.finishing import HALF
from holdfast.suites.conformance.plans import (
    CHECKPOINTING,
    EVERYWHERE,
    WORKERS,
    case,
    decides,
    gate,
    plan,
    submitted,
    with_needs,
)

SELDOM = {f"{CHECKPOINTING}.interval": "100 ms"}
"""So that the reader of real output keeps up with four sinks."""
RETAIN = {f"{CHECKPOINTING}.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION"}
QUIET = {**RETAIN, **SELDOM}
IN_FILES = {**RETAIN, f"{CHECKPOINTING}.data-inline-threshold": "0"}
ENUMERATED = {"source.split-assignment": "enumerator"}


def rescaled(
    first: int,
    *then: int,
    faults: tuple[FaultSpec, ...] = (),
    options: Mapping[str, str] = RETAIN,
    key_groups: int = 0,
    **fields: Any,
) -> Plan:
    """A job is cancelled, and another of another parallelism submitted, which goes on from what the first has left; and
    so again. `key_groups`: how many those have that are submitted; 0: as many as the first."""
    groups = {"max_parallelism": key_groups} if key_groups else {}
    commands = [
        spec
        for number, parameters in enumerate({"parallelism": width, **groups} for width in then)
        for spec in (
            command("cancel", after_checkpoint=3 + 3 * number),
            command("submit", parameters, after_checkpoint=3 + 3 * number, at_event="checkpoint_retained"),
        )
    ]
    return plan(*commands, *faults, topology=Topology(parallelism=first), options=options,
                **{"records": {"partitions": 4, "records": 400}, **fields})  # fmt: skip


BY_KEY = (
    rescaled(2, 3),
    rescaled(3, 2),
    rescaled(1, 3, options=IN_FILES),
    rescaled(3, 1, options=IN_FILES),
    rescaled(2, 3, job=JOIN),
    rescaled(3, 2, job=BROADCAST),
    rescaled(3, 5, 1),
    rescaled(2, 3, faults=(kill(COORDINATOR, after_checkpoint=4, gate=gate("send-trigger", COORDINATOR)),)),
    rescaled(
        3, 2, faults=(kill(WORKERS[1], after_checkpoint=3, gate=gate("read-state", WORKERS[1])),), options=IN_FILES
    ),
)
AT_COMMIT = kill(WORKERS[1], after_checkpoint=3, gate=gate("commit", WORKERS[1]))
SLOWLY = {"partitions": 4, "records": 300, "records_per_second": 100}
"""So that there are rows in transactions when the job ends, on a busy machine as well."""
SPREAD = (
    rescaled(2, 4, job=FORWARD, faults=(AT_COMMIT,), options=QUIET, records=SLOWLY),
    rescaled(4, 2, job=FORWARD, faults=(AT_COMMIT,), options=QUIET, records=SLOWLY),
    rescaled(2, 4, job=REBALANCE, options={**QUIET, **ENUMERATED}),
    rescaled(4, 2, faults=(kill(WORKERS[0], after_checkpoint=5),), job=REBALANCE, options=QUIET),
)
IN_LISTS = (
    rescaled(2, 3, job=listed(ListState.SPLIT)),
    rescaled(3, 2, job=listed(ListState.SPLIT), options=IN_FILES),
    rescaled(3, 4, 1, job=listed(ListState.SPLIT), options=IN_FILES),
)
IN_UNION = (
    rescaled(2, 3, job=listed(ListState.UNION), faults=(kill(WORKERS[1], after_checkpoint=5),)),
    rescaled(3, 2, job=listed(ListState.UNION), faults=(kill(WORKERS[0], after_checkpoint=2),), options=IN_FILES),
)
COPIED = (rescaled(2, 3, job=BROADCAST), rescaled(3, 1, job=BROADCAST, options=IN_FILES))
STEADILY = {"partitions": 4, "records": 4_000, "records_per_second": 800}
"""So that some are held back whenever the job ends."""
HELD_BACK = (
    rescaled(3, 2, job=MINI_BATCH, records=STEADILY, expected_end=ExpectedEnd.FAILED),
    rescaled(2, 3, job=MINI_BATCH, options=IN_FILES, records=STEADILY, expected_end=ExpectedEnd.FAILED),
)
ORPHANED = plan(command("cancel", after_checkpoint=3, at_event="transaction_precommitted"),
                slow_storage("write-state", 60, 600, after_checkpoint=3),
                command("submit", {"parallelism": 1}, after_checkpoint=3, at_event="checkpoint_retained"),
                topology=Topology(parallelism=4), options=IN_FILES,
                records={"partitions": 4, "records": 400})  # fmt: skip
"""The job ends when sinks have closed transactions for a checkpoint that never completes."""


def in_flight(
    first: int,
    *then: int,
    job: Job = KEYED_SUM,
    busy: str = "sum[0]",
    faults: tuple[FaultSpec, ...] = (),
    **fields: Any,
) -> Plan:
    """The checkpoints that are restored hold what was in flight to a busy subtask."""
    slow = slow_task(Target(Role.TASK, subtasks(job, Topology(first)).index(busy)), 12, 1_500)
    return rescaled(first, *then, job=job, faults=(slow, *faults), options={**RETAIN, **UNALIGNED, **FEW_BUFFERS},
                    bounds=Bounds(safety_ms=6_000, liveness_ms=6_000), **{"records": BUSY, **fields})  # fmt: skip


IN_FLIGHT = (
    in_flight(2, 3),
    in_flight(3, 2),
    in_flight(2, 3, faults=(kill(WORKERS[0], after_checkpoint=4),)),
    in_flight(2, 4, 1),
    in_flight(2, 3, job=REBALANCE, busy="map[0]"),
    in_flight(3, 2, job=JOIN, busy="join[1]"),
)
"""An operator is slow, so that its inputs are full at every barrier."""

FEWER_GROUPS = (
    rescaled(2, 2, key_groups=64, expected_end=ExpectedEnd.FAILED),
    rescaled(3, 2, key_groups=256, expected_end=ExpectedEnd.FAILED),
    rescaled(3, 2, key_groups=128),
)
WIDTHS = (1, 2, 85, 86, 128, 170, 171, 341, 342, 21_845, 21_846)
"""On either side of where the default formula doubles."""


def chain(seed: int) -> Plan:
    """One job after the other, at parallelisms that follow from the seed."""
    return rescaled(*(1 + seed // 5**place % 5 for place in range(4)))


def partly(first: int, then: int, after: int, idle: int, faults: tuple[FaultSpec, ...] = ()) -> Plan:
    """A job of which a source has come to its end, or one subtask of it, is restored at another parallelism."""
    commands = (
        command("cancel", after_checkpoint=after),
        command("submit", {"parallelism": then}, after_checkpoint=after, at_event="checkpoint_retained"),
    )
    return plan(*commands, *faults, topology=Topology(first), options=RETAIN, job=HALF,
                records={"partitions": 4, "records": 400, "idle_partition": idle, "starts_ms": 800})  # fmt: skip


PARTLY = (
    partly(2, 3, 14, 0),
    partly(2, 1, 16, 2),
    partly(2, 3, 12, 2, faults=(kill(WORKERS[0], after_checkpoint=14),)),
    partly(2, 3, 25, 1),
)
"""At the last of them all of the source has ended."""
MANY_KEYS = {"partitions": 4, "records": 1_600, "keys": 160, "preloaded_percent": 75, "records_per_second": 400}

CASES = with_needs(
    case("rescaling/default-max-parallelism", "How many key groups does a job have for which nobody has said it?",
         (*(submitted({}, job=FORWARD, topology=Topology(width, 0)) for width in WIDTHS),
          submitted({}, topology=Topology(200, 200)), submitted({}, topology=Topology(2, 32_768))),
         decides("RSC-02", "CONFIG/max-parallelism-wrong", wrong="ignores-parallelism"),
         method="Jobs are submitted whose parallelism is on either side of where the default formula doubles.",
         passes="min(max(pow2ceil(p + p/2), 128), 32768); what a job says itself holds."),
    case("rescaling/max-parallelism",
         "Is another max parallelism refused, by which keys would belong to other key groups?", FEWER_GROUPS,
         decides("RSC-02", "RESTORE/key-groups-changed", wrong="O3"), mutant_plan=FEWER_GROUPS[0],
         method="A job is cancelled, and another of a smaller or larger max parallelism is to restore what it has "
                "left.",
         passes="It fails before any attempt, and reports why; with the same max parallelism it goes on."),
    case("rescaling/keyed-state",
         "Is each key in exactly one subtask, with its value, when a job continues at another parallelism?", BY_KEY,
         decides("RSC-01", "RESTORE/rescaled-state-differs", wrong="restores-by-index"),
         decides("RSC-01", "RESTORE/key-in-two", wrong="keeps-foreign-keys"), pictures=("rescale",),
         windows=(Window.RESTORED_STATE,), mutant_plan=BY_KEY[1], tiers=EVERYWHERE,
         method="A job is cancelled, and another, wider or narrower, restores what it has left, with kills in it.",
         passes="What the subtasks start with together is what was recorded, no key is in two of them, and the output "
                "of both jobs is the right one, once."),
    case("rescaling/chain", "Does keyed state survive a chain of jobs of whatever parallelisms?", chain,
         decides("RSC-01", "RESTORE/rescaled-state-differs", wrong="restores-by-index"),
         windows=(Window.RESTORED_STATE,), runs=6, mutant_plan=BY_KEY[1],
         method="Four jobs, each of a parallelism from 1 to 5 that is drawn, restore what the one before has left.",
         passes="At each step the subtasks start with what was recorded, and the output is the right one, once."),
    case("rescaling/state-per-subtask", "Does a subtask have less keyed state to store where there are more of them?",
         rescaled(1, 2, 4, options=IN_FILES, records=MANY_KEYS),
         decides("RSC-06", "RESTORE/no-less-per-subtask", wrong="keeps-foreign-keys"), windows=(Window.RESTORED_STATE,),
         method="A job with many keys is restored at twice its parallelism, and again.",
         passes="The largest subtask stores four fifths of what the largest one had stored, or less."),
    case("rescaling/partly-finished", "Does a job go on at another parallelism of which something had come to its end?",
         PARTLY, decides("FIN-05", "EXACT/row-repeated", wrong="begins-finished-anew"),
         windows=(Window.RESTORED_STATE,), mutant_plan=PARTLY[0],
         method="A job is cancelled when one subtask of a source has ended, or all of it, and another restores it.",
         passes="No split is begun anew, none is forgotten, and the output is the right one, once."),
    case("rescaling/list-state",
         "Is each element of list state given to one subtask, and as many to each, at another parallelism?", IN_LISTS,
         decides("RSC-03", "RESTORE/list-lost", wrong="loses-last-element"),
         decides("RSC-03", "RESTORE/list-uneven", wrong="deals-to-first"), windows=(Window.RESTORED_STATE,),
         mutant_plan=IN_LISTS[0], tiers=EVERYWHERE,
         method="A job that notes each batch in list state is cancelled, and another, wider or narrower, restores it.",
         passes="Each element is given to one subtask; each is given a run of them, as long as the others' but for "
                "one."),
    case("rescaling/union-list-state",
         "Is each subtask given all of union list state, and does all of it stay there once?", IN_UNION,
         decides("RSC-03", "RESTORE/union-incomplete", wrong="splits-union"),
         decides("RSC-03", "RESTORE/union-multiplied", wrong="L3"), windows=(Window.RESTORED_STATE,),
         mutant_plan=IN_UNION[0],
         method="A job that notes each batch in union list state loses a worker, and continues wider or narrower.",
         passes="At every restore each subtask is given all elements, and together they keep each of them once."),
    case("rescaling/broadcast-state", "Is each subtask given one copy of broadcast state at another parallelism?",
         COPIED, decides("RSC-03", "RESTORE/copy-unknown", wrong="leaves-copies"), windows=(Window.RESTORED_STATE,),
         mutant_plan=COPIED[0],
         method="A job with broadcast state is cancelled, and another, wider or narrower, restores what it has left.",
         passes="Each subtask starts with a copy that was recorded."),
    case("rescaling/splits-and-transactions",
         "Do the splits and pending transactions of a job continue, each once, at another parallelism?", SPREAD,
         decides("RSC-05", "RESTORE/rescaled-positions-differ", wrong="leaves-splits-of-others"),
         decides("RSC-05", "RESTORE/rescaled-transactions-differ", wrong="leaves-transactions-of-others"),
         windows=(Window.RESTORED_STATE,), mutant_plan=SPREAD[1], tiers=EVERYWHERE,
         method="A job is cancelled, and another, wider or narrower, restores what it has left, with a kill in front "
                "of a commit.",
         passes="Each partition continues where it was, at one reader; each pending transaction is committed once."),
    case("rescaling/orphans", "Is what subtasks left behind thrown away where there are no such subtasks any more?",
         ORPHANED, decides("RSC-05", "TXN/open-not-aborted", wrong="leaves-orphans"), windows=(Window.RESTORED_STATE,),
         method="A job is cancelled when its sinks have closed transactions that no checkpoint holds, and a narrower "
                "one restores what it has left.",
         passes="Each transaction that no completed checkpoint promises is aborted."),
    case("rescaling/held-back",
         "Is another parallelism refused where records are held back, whose order would be lost?", HELD_BACK,
         decides("RSC-04", "RESTORE/held-back-moved", wrong="moves-held-back"), tiers=EVERYWHERE,
         method="A job with a mini-batch is cancelled, and another, wider or narrower, is to restore what it has left.",
         passes="The second job fails, and reports why."),
    case("rescaling/in-flight",
         "Is what was in flight at an unaligned checkpoint taken up once, at another parallelism?", IN_FLIGHT,
         decides("UNA-07", "RESTORE/rescaled-in-flight", wrong="drops-in-flight-when-rescaled"),
         decides("UNA-07", "RESTORE/rescaled-in-flight", wrong="takes-all-in-flight"),
         windows=(Window.RESTORED_IN_FLIGHT,), mutant_plan=IN_FLIGHT[0],
         method="A job is cancelled that leaves an unaligned checkpoint, and another, wider or narrower, restores it; "
                "once a worker dies on the way.",
         passes="Of each edge all records that were in flight are put back, each at the subtask that owns its key, and "
                "the output is the right one, once."),
    case("rescaling/in-flight-on-two-edges",
         "Does what was in flight on two edges that end at one operator stay on its edge?",
         (in_flight(3, 2, job=JOIN, busy="join[1]"), in_flight(2, 3, job=JOIN, busy="join[0]")),
         decides("UNA-07", "EXACT/input-missing", wrong="L1"), windows=(Window.RESTORED_IN_FLIGHT,),
         method="A join is cancelled that leaves an unaligned checkpoint, and another, narrower or wider, restores it.",
         passes="Every batch is put back on the edge on which it was, and the output is the right one, once."),
    case("rescaling/in-flight-on-processes",
         "Is what was in flight between processes taken up once, at another parallelism?", IN_FLIGHT[1],
         tiers=(Tier.PROCESS,),
         method="A job is cancelled that leaves an unaligned checkpoint, and a narrower one restores it.",
         passes="Of each edge all records that were in flight are put back, and the output is the right one, once."),
)  # fmt: skip
