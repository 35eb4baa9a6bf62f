"""Rescales of a running job (RULES RSC), as Flink's adaptive scheduler does them for its resource requirements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.faults.process import kill
from holdfast.faults.storage import slow_storage
from holdfast.faults.task import slow_task
from holdfast.faults.user import rescale
from holdfast.harness.model import jobs
from holdfast.harness.model.case import Window
from holdfast.harness.model.job import Job, ListState
from holdfast.harness.model.jobs import listed
from holdfast.harness.model.plan import Bounds, ExpectedEnd, FaultSpec, Plan, Topology
from holdfast.harness.model.target import COORDINATOR, Role, Target
from holdfast.harness.model.topology import subtasks
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.barriers import BUSY, FEW_BUFFERS, UNALIGNED
from holdfast.suites.conformance.finishing import HALF
from holdfast.suites.conformance.incremental import INCREMENTAL, SHARING
from holdfast.suites.conformance.plans import EVERYWHERE, TWO_RETAINED, WORKERS, case, decides, gate, plan, with_needs
from holdfast.suites.conformance.recovery import REGION
from holdfast.suites.conformance.rescaling import ENUMERATED, IN_FILES, SELDOM, SLOWLY, STEADILY

FOUR = {"partitions": 4, "records": 400}


def rescaled_in_place(
    first: int, *then: int, faults: tuple[FaultSpec, ...] = (), options: Mapping[str, str] = {}, **fields: Any
) -> Plan:
    """A job is to go on at another parallelism behind its third checkpoint; and so again, three checkpoints later."""
    required = (rescale(width, after_checkpoint=3 + 3 * number) for number, width in enumerate(then))
    return plan(
        *required, *faults, topology=Topology(parallelism=first), options=options, **{"records": FOUR, **fields}
    )


BY_KEY = (
    rescaled_in_place(2, 3),
    rescaled_in_place(3, 2, options=TWO_RETAINED),
    rescaled_in_place(3, 1, options=IN_FILES),
    rescaled_in_place(2, 3, job=jobs.JOIN),
    rescaled_in_place(3, 2, job=jobs.BROADCAST),
    rescaled_in_place(2, 4, 1, 3),
    plan(rescale(3, after_checkpoint=14), topology=Topology(2), job=HALF, records={**FOUR, "idle_partition": 0}),
)
AT_RECORD = gate("persist-job-record", COORDINATOR)
BEHIND = {"after_checkpoint": 3, "at_event": "rescale_accepted"}
STRUCK = (
    rescaled_in_place(2, 3, faults=(kill(COORDINATOR, after_checkpoint=5),)),
    plan(kill(COORDINATOR, after_checkpoint=3, at_event="rescale_requested", gate=AT_RECORD),
         rescale(3, after_checkpoint=3), topology=Topology(2), records=FOUR),
    plan(kill(COORDINATOR, **BEHIND), rescale(1, after_checkpoint=3), topology=Topology(3), records=FOUR),
    plan(kill(WORKERS[1], **BEHIND), rescale(2, after_checkpoint=3), topology=Topology(3), records=FOUR),
    plan(kill(WORKERS[0], **BEHIND, gate=gate("read-state", WORKERS[0])), rescale(4, after_checkpoint=3),
         topology=Topology(2), options=IN_FILES, records=FOUR),
    plan(kill(WORKERS[0], after_checkpoint=3), rescale(3, after_checkpoint=3, at_event="failure_counted"),
         topology=Topology(2), job=jobs.TWO_PIPELINES, options=REGION, records=FOUR),
)  # fmt: skip
"""A process dies before, while or after a parallelism is recorded, while tasks are cancelled, or while they restore;
and a region waits for its restart when the job is to be rescaled."""
SLOW_STATE = slow_storage("write-state", 60, 600, after_checkpoint=3)
CUT_SHORT = (
    plan(rescale(4, after_checkpoint=3), rescale(2, after_checkpoint=3, at_event="transaction_precommitted"),
         SLOW_STATE, topology=Topology(2), options=IN_FILES, records=FOUR),
    plan(rescale(3, after_checkpoint=3, at_event="checkpoint_triggered"), SLOW_STATE, topology=Topology(2),
         options=IN_FILES, records=FOUR),
)  # fmt: skip
"""The first goes back to where it was before any checkpoint of the wider attempt has completed."""
AT_COMMIT = kill(WORKERS[1], **BEHIND, gate=gate("commit", WORKERS[1]))
"""Of a transaction that was pending when the job was rescaled."""
SPREAD = (
    rescaled_in_place(2, 4, job=jobs.FORWARD, faults=(AT_COMMIT,), options=SELDOM, records=SLOWLY),
    rescaled_in_place(4, 2, job=jobs.FORWARD, faults=(AT_COMMIT,), options=SELDOM, records=SLOWLY),
    rescaled_in_place(2, 4, job=jobs.REBALANCE, options={**SELDOM, **ENUMERATED}),
    rescaled_in_place(4, 2, job=jobs.REBALANCE, options={**SELDOM, **ENUMERATED}),
)
IN_LISTS = (
    rescaled_in_place(3, 2, job=listed(ListState.SPLIT)),
    rescaled_in_place(2, 3, job=listed(ListState.SPLIT), options=IN_FILES),
    rescaled_in_place(3, 2, job=listed(ListState.UNION)),
)


def in_flight(first: int, then: int, job: Job = jobs.KEYED_SUM, busy: str = "sum[0]") -> Plan:
    """The latest checkpoint holds what was in flight to a busy subtask."""
    slow = slow_task(Target(Role.TASK, subtasks(job, Topology(first)).index(busy)), 12, 1_500)
    return rescaled_in_place(first, then, job=job, faults=(slow,), options={**UNALIGNED, **FEW_BUFFERS},
                             bounds=Bounds(safety_ms=6_000, liveness_ms=6_000), records=BUSY)  # fmt: skip


IN_FLIGHT = (in_flight(2, 3), in_flight(3, 2), in_flight(3, 2, jobs.JOIN, "join[1]"))
ONE_RESTART = {f"{plans.RESTART}.fixed-delay.attempts": "1"}
BETWEEN_FAILURES = tuple(
    plan(kill(WORKERS[0], after_checkpoint=2), rescale(parallelism, after_checkpoint=4), *deaths, topology=Topology(2),
         options=ONE_RESTART, records=FOUR, expected_end=ExpectedEnd.FAILED if deaths else ExpectedEnd.RUNNING)
    for parallelism, deaths in ((3, (kill(WORKERS[0], after_checkpoint=6),)), (1, ()))
)  # fmt: skip
"""A job that may restart once is rescaled behind its restart; the first one fails again."""

CASES = with_needs(
    case("rescaling/in-place", "Does a running job go on at another parallelism, with each key in exactly one subtask?",
         BY_KEY, decides("RSC-01", "RESTORE/rescaled-state-differs", wrong="rescale-keeps-key-groups"),
         decides("RSC-01", "RESCALE/not-required", wrong="rescale-takes-one-more"),
         decides("RSC-01", "RESCALE/refused-possible", wrong="rescale-never-narrower"),
         decides("RSC-01", "RESCALE/goes-on-as-before", wrong="rescale-waits-for-failure"),
         decides("RST-03", "RESCALE/counted-as-failure", wrong="rescale-counts-as-failure"),
         decides("REC-01", "COORD/restored-not-latest", wrong="rescale-restores-older"),
         decides("TRG-02", "COORD/ids-not-increasing", wrong="rescale-numbers-anew"),
         windows=(Window.RESCALED, Window.RESTORED_STATE), pictures=("rescale",), mutant_plan=BY_KEY[1],
         tiers=EVERYWHERE,
         method="A job is to become wider, narrower, and each in turn, while records arrive.",
         passes="It restores its latest checkpoint at that parallelism, no failure is counted, ids of checkpoints go "
                "on, and the output is the right one, once."),
    case("rescaling/in-place-increments",
         "Does a running job whose checkpoints share files go on at another parallelism?",
         rescaled_in_place(2, 4, options={**IN_FILES, **INCREMENTAL}),
         decides("RSC-01", "RESTORE/rescaled-state-differs", wrong="rescale-keeps-key-groups"),
         windows=(Window.RESCALED, Window.RESTORED_STATE), mutant_plan=BY_KEY[1], tiers=EVERYWHERE, needs=SHARING,
         method="A job with incremental checkpoints is to become wider, while records arrive.",
         passes="Each key group has one owner with its state, and the output is the right one, once."),
    case("rescaling/in-place-struck", "Does an accepted parallelism survive whatever dies while the job is rescaled?",
         STRUCK, decides("CRD-13", "RESCALE/not-taken", wrong="rescale-forgotten-at-takeover"),
         decides("CRD-13", "RESCALE/not-taken", wrong="rescale-accepted-unrecorded"),
         windows=(Window.RESCALED, Window.RESCALE_STRUCK), tiers=EVERYWHERE,
         method="The coordinator dies before, while or after it is recorded, a worker while tasks are cancelled or "
                "restored, and a region waits for its restart.",
         passes="From the acceptance on each attempt is at that parallelism; one that is not recorded is not "
                "accepted."),
    case("rescaling/in-place-during-checkpoint",
         "What becomes of a checkpoint under way, and of its transactions, when the job is rescaled?", CUT_SHORT,
         decides("RSC-05", "TXN/open-not-aborted", wrong="rescale-leaves-open-of-removed"),
         windows=(Window.RESCALED, Window.RESCALE_CUT_CHECKPOINT),
         method="A job is to become wider when a checkpoint is triggered, or narrower again when its sinks have closed "
                "transactions for a checkpoint that is slow to complete.",
         passes="The checkpoint is aborted, and so is each transaction that no completed one promises."),
    case("rescaling/in-place-from-the-start", "Does a job go on at another parallelism that has no checkpoint yet?",
         plan(rescale(2, at_event="checkpoint_triggered"), topology=Topology(4), job=jobs.REBALANCE,
              options={**SELDOM, **ENUMERATED}, records=FOUR),
         decides("RSC-05", "LIVE/end-not-reached", wrong="rescale-keeps-readers"),
         windows=(Window.RESCALE_CUT_CHECKPOINT,),
         method="A job whose splits an enumerator assigns is to become narrower during its first checkpoint.",
         passes="It begins anew with all splits at the readers that there are, and the output is the right one, once."),
    case("rescaling/in-place-splits-and-transactions",
         "Do the splits and pending transactions of a running job continue, each once, at another parallelism?", SPREAD,
         decides("RSC-05", "RESTORE/rescaled-positions-differ", wrong="leaves-splits-of-others"),
         decides("RSC-05", "RESTORE/rescaled-transactions-differ", wrong="leaves-transactions-of-others"),
         windows=(Window.RESCALED, Window.RESCALED_PENDING), mutant_plan=SPREAD[1], tiers=EVERYWHERE,
         method="A job is to become wider or narrower when transactions are pending, with a kill in front of a "
                "commit.",
         passes="Each partition continues where it was, at one reader; each pending transaction is committed once."),
    case("rescaling/in-place-list-state", "Is no element of list state lost with the subtask that had it?", IN_LISTS,
         decides("RSC-03", "RESTORE/list-lost", wrong="rescale-loses-lists-of-removed"), windows=(Window.RESCALED,),
         mutant_plan=IN_LISTS[0],
         method="A job that notes each batch in list state is to become narrower, or wider.",
         passes="Each element is given to one subtask, and of union list state all of them to each."),
    case("rescaling/in-place-in-flight",
         "Is what was in flight at an unaligned checkpoint taken up once when a running job is rescaled?", IN_FLIGHT,
         decides("UNA-07", "RESTORE/rescaled-in-flight", wrong="drops-in-flight-when-rescaled"),
         windows=(Window.RESCALED, Window.RESTORED_IN_FLIGHT), mutant_plan=IN_FLIGHT[0],
         method="A job whose inputs are full at every barrier is to become wider or narrower.",
         passes="Of each edge all records that were in flight are put back, and the output is the right one, once."),
    case("rescaling/in-place-refused", "Is a parallelism refused that the job cannot go on at, and no other?",
         (plan(rescale(4, after_checkpoint=3), topology=Topology(2, 3), records=FOUR),
          plan(rescale(0, after_checkpoint=3), topology=Topology(2), records=FOUR)),
         decides("RSC-02", "RESCALE/above-max", wrong="rescale-above-max-parallelism"), tiers=EVERYWHERE,
         method="A job is to go on above its max parallelism, and at no subtask at all.",
         passes="It gives the reason, and goes on as it was."),
    case("rescaling/in-place-between-failures", "Does the restart strategy take notice of a rescale?", BETWEEN_FAILURES,
         decides("RST-03", "COUNT/restarted-beyond-policy", wrong="rescale-forgets-failures"),
         decides("RST-03", "LIVE/end-not-reached", wrong="rescale-counts-as-failure"), windows=(Window.RESCALED,),
         method="A job that may restart once does so, is to become wider or narrower, and fails again, or not.",
         passes="The rescale uses up no restart, and gives none back."),
    case("rescaling/in-place-held-back",
         "Is another parallelism refused where records are held back, whose order would be lost?",
         rescaled_in_place(2, 3, job=jobs.MINI_BATCH, records=STEADILY),
         decides("RSC-04", "RESTORE/held-back-moved", wrong="rescale-moves-held-back"), tiers=EVERYWHERE,
         method="A job with a mini-batch is to become wider.", passes="It gives the reason, and goes on as it was."),
)  # fmt: skip
