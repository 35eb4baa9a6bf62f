"""The coordinator: the life of a checkpoint (RULES CRD), its memory (SBK-10), its job record, its successor (CRD-13).

The job record is what a coordinator makes durable before anybody hears of it. A system reports what comes of its
checkpoints (RULES OBS).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle

from holdfast.faults.forge import forge
from holdfast.faults.membership import supersede
from holdfast.faults.network import slow
from holdfast.faults.process import kill, pause
from holdfast.faults.storage import slow_storage, storage_error
from holdfast.faults.user import savepoint
from holdfast.harness.model import profile
from holdfast.harness.model.case import Window
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Bounds, FaultSpec, Plan, Topology
from holdfast.harness.model.target import COORDINATOR, Target
from holdfast.harness.model.topology import subtasks
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.barriers import switching
from holdfast.suites.conformance.incremental import INCREMENTAL, SHARING
from holdfast.suites.conformance.plans import (
    EVERYWHERE,
    LATE_CHANNELS,
    STATE_IN_FILES,
    TOLERANT,
    TWO_AT_ONCE,
    TWO_RETAINED,
    WORKERS,
    case,
    decides,
    gate,
    plan,
    with_needs,
)

SHORT_TIMEOUT = {f"{plans.CHECKPOINTING}.timeout": "60 ms", **TOLERANT}


def _withheld(vertex: str) -> Plan:
    """The ack of one subtask is withheld for longer than the timeout, and comes late."""
    stuck = pause(WORKERS[0], 250, after_checkpoint=1, gate=gate("acknowledge", WORKERS[0], vertex))
    return plan(stuck, options={**SHORT_TIMEOUT, **STATE_IN_FILES}, records={"records": 240})


def _declined(worker: Target, subtask: str) -> Plan:
    """A subtask declines when its worker is about to send the last acknowledgement of three, and others have acked."""
    declines = forge("decline", subtask, after_checkpoint=1, gate=gate("acknowledge", worker, occurrence=3))
    return plan(declines, options={**TOLERANT, **STATE_IN_FILES})


TASKS = subtasks(KEYED_SUM, Topology())
DECLINES = tuple(_declined(worker, subtask) for worker, subtask in zip(cycle(WORKERS), TASKS, strict=False))
"""Worker i hosts subtask i of every vertex."""
DUPLICATES = plan(pause(WORKERS[1], 60, after_checkpoint=1, gate=gate("acknowledge", WORKERS[1], "sink")),
                  forge("acknowledge", "source[0]", after_checkpoint=1, at_event="transaction_precommitted"),
                  forge("acknowledge", "sum[0]", after_checkpoint=1, at_event="transaction_precommitted"))  # fmt: skip
STALE = plan(pause(WORKERS[0], 60, after_checkpoint=1, gate=gate("acknowledge", WORKERS[0], "source")),
             forge("acknowledge", "sink[0]", {"attempt": -1, "checkpoint": 1}, after_checkpoint=1,
                   at_event="transaction_precommitted"))  # fmt: skip

CASES = with_needs(
    *(case(f"coordinator/withheld-{role}", f"Does a checkpoint wait for the acknowledgement of a {role}?",
           _withheld(vertex), decides("CRD-01", "COORD/completed-without-ack", wrong="completes-without-ack"),
           tiers=plans.EVERYWHERE,
           method=f"Worker 0 is stopped when its {role} is about to acknowledge, until after the timeout.",
           passes="The checkpoint does not complete, and every other one does only with all acknowledgements.")
      for role, vertex in (("source", "source"), ("middle", "sum"), ("sink", "sink"))),
    case("coordinator/durable-before-notified",
         "Is the metadata durable before anyone is notified that the checkpoint is complete?", plan(),
         decides("CRD-01", "COORD/notified-before-durable", wrong="notifies-before-durable"),
         method="The coordinator's trace is followed: publication, completion, notices.",
         passes="Completion and every notice come after the publication."),
    case("coordinator/duplicate-acks", "Is an acknowledgement that comes twice counted once?", DUPLICATES,
         decides("CRD-02", "COORD/ack-counted-wrongly", wrong="counts-duplicate-acks"),
         method="The last one is withheld, and two that are there already are sent again.",
         passes="The repeated ones are not counted."),
    case("coordinator/stale-acks", "Is an acknowledgement of an older attempt left out?", STALE,
         decides("CRD-02", "COORD/ack-counted-wrongly", wrong="counts-stale-acks"),
         method="Those of worker 0 are withheld, and one in its name comes from the attempt before.",
         passes="It is not counted."),
    case("coordinator/decline",
         "Does one decline abort the whole checkpoint, discard its state, notify the tasks and free the slot?",
         DECLINES, decides("CRD-03", "COORD/completed-after-decline", wrong="ignores-decline"),
         decides("CRD-03", "COORD/state-not-discarded", wrong="keeps-discarded-state"),
         decides("CRD-03", "COORD/abort-not-notified", wrong="aborts-silently"),
         decides("CRD-03", "COORD/slot-not-freed", wrong="keeps-slot"), pictures=("states:checkpoint",),
         method="Each subtask declines in turn, when others have acknowledged; their state lies in files.",
         passes="A declined checkpoint never completes, every participant is notified, and no file of it is left at "
                "the end. Another is triggered in the same attempt."),
    case("coordinator/expiry",
         "Is a checkpoint that is not done in time aborted, its late state cleaned, and the next one started?",
         _withheld("sum"), decides("CRD-04", "COORD/not-expired", wrong="never-expires"),
         decides("CRD-04", "COORD/state-not-discarded", wrong="keeps-discarded-state"),
         decides("CRD-04", "COORD/slot-not-freed", wrong="keeps-slot"),
         decides("CRD-02", "COORD/state-not-discarded", wrong="keeps-discarded-state"), pictures=("states:checkpoint",),
         method="A task is stuck for four times the timeout and then acknowledges; its state lies in files.",
         passes="No checkpoint is pending for longer than its timeout, no file of a late acknowledgement is left at "
                "the end, and another checkpoint is triggered in the same attempt."),
)  # fmt: skip


THREE_CHECKPOINTS_BYTES = 984
"""A retained one, one that is being published, and the last state of the next one."""
LATE_PUBLICATIONS = slow_storage("publish-metadata", 70, 600, 100, after_checkpoint=2)
IN_MEMORY = {profile.STORAGE: "jobmanager", profile.INLINE_THRESHOLD: "0"}


def _within(budget_bytes: int, *faults: FaultSpec, **options: str) -> Plan:
    """Checkpoints overlap while each is published."""
    return plan(LATE_PUBLICATIONS, *faults,
                options={**TWO_AT_ONCE, **TOLERANT, profile.MEMORY_BUDGET: f"{budget_bytes} b", **options},
                records={"records": 240})  # fmt: skip


MEMORY_CASES = with_needs(
    case("coordinator-memory/budget",
         "Does a checkpoint fail whose state would exceed the coordinator's memory, and no other?",
         tuple(_within(THREE_CHECKPOINTS_BYTES + more) for more in (-1, 0, 1, -84)),
         decides("SBK-10", "COORD/over-budget-kept", wrong="knows-no-budget"),
         decides("SBK-10", "COORD/over-budget-kept", wrong="keeps-one-more"),
         decides("SBK-10", "COORD/refused-within-budget", wrong="refuses-at-budget"),
         decides("SBK-10", "COORD/refused-within-budget", wrong="never-frees"),
         decides("SBK-10", "COORD/over-budget-unnamed", wrong="names-no-size"),
         decides("SBK-10", "COUNT/failed-below-tolerable", wrong="fails-for-room"),
         method="Each handle fits. Together with what is kept of others they are one byte below the budget, at it, one "
                "byte above it, and well above it.",
         passes="What is above is aborted with a message that names size and limit; all else completes."),
    case("coordinator-memory/older-ones-stay", "Do older checkpoints stay when there is no room for another one?",
         (_within(THREE_CHECKPOINTS_BYTES - 84, kill(WORKERS[0], after_checkpoint=3), **IN_MEMORY),
          _within(THREE_CHECKPOINTS_BYTES - 84, kill(COORDINATOR, after_checkpoint=3))),
         decides("SBK-10", "REACH/dropped-too-early", wrong="makes-room"), windows=(Window.RESTORED_STATE,),
         method="Checkpoints fail for lack of memory, and a worker or the coordinator is killed then.",
         passes="The job goes on from the newest one that has completed."),
)  # fmt: skip


RECORD = "persist-job-record"
WAYS: tuple[Mapping[str, int], ...] = ({}, {"after_effect": 1}, {"answer_lost": 1}, {"occurrences": 4})
"""Refused; it took effect, and the answer says otherwise; it did not, and nobody knows; again and again."""
TOLERANT_WITH_FILES = {**plans.TOLERANT, **STATE_IN_FILES}
LONG = {"records": 240}


def _failing(how: Mapping[str, int]) -> Plan:
    """The record of a drawn id cannot be written, the coordinator dies in front of the next publication, and a worker
    dies while the record of its successor's attempt cannot be written either."""
    return plan(storage_error(RECORD, 600, how, after_checkpoint=1),
                kill(COORDINATOR, after_checkpoint=1, gate=gate("publish-metadata", COORDINATOR)),
                storage_error(RECORD, 600, how, after_checkpoint=3), kill(WORKERS[0], after_checkpoint=3),
                options=TOLERANT_WITH_FILES, records=LONG)  # fmt: skip


RECORD_CASES = with_needs(
    case("job-records/failing", "Does nothing begin under an id or an attempt whose record could not be written?",
         tuple(_failing(how) for how in WAYS),
         decides("TRG-02", "COORD/ids-not-increasing", wrong="ignores-lost-record"), windows=(Window.RESTORED_STATE,),
         tiers=EVERYWHERE,
         method="The record is refused, or its response is lost; the coordinator dies with a checkpoint under way.",
         passes="No checkpoint and no attempt has a number that an earlier one had."),
    case("job-records/slow", "Is the output right when the record takes longer than a checkpoint interval?",
         plan(slow_storage(RECORD, 60, 500, after_checkpoint=1), kill(WORKERS[0], after_checkpoint=2),
              kill(COORDINATOR, after_checkpoint=2, gate=gate(RECORD, COORDINATOR)), options=TOLERANT_WITH_FILES,
              records=LONG),
         decides("REC-03", *plans.EXACT_ROWS, wrong="source-repeats-one"),
         windows=(Window.RESTORED_STATE, Window.READ_AGAIN), tiers=EVERYWHERE,
         method="Each write of the record takes 60 ms longer; a worker and the coordinator die meanwhile.",
         passes="The committed output equals that of the oracle's model, once."),
)  # fmt: skip


STOPS_AT = (
    "publish-metadata", "during-publish-metadata", "persist-job-record", "during-persist-job-record", "send-trigger",
    "notify", "delete",
)  # fmt: skip
INTERVALS_MS = 200
"""Long enough for the successor to restart the job and to complete checkpoints."""
STOPPED = tuple(
    plan(supersede(INTERVALS_MS, after_checkpoint=1, gate=gate(effect, COORDINATOR)), options=STATE_IN_FILES)
    for effect in STOPS_AT
)
NOTIFYING = tuple(
    plan(supersede(INTERVALS_MS, after_checkpoint=1, gate=gate("notify", COORDINATOR, occurrence=occurrence)),
         options=STATE_IN_FILES)
    for occurrence in (1, 2)
)  # fmt: skip
DELETES_LATE = plan(slow_storage("publish-metadata", 50, 1_000, 1, after_checkpoint=1),
                    slow_storage("confirm-epoch", 50, 1_000, after_checkpoint=1),
                    supersede(100, after_checkpoint=1, gate=gate("delete", COORDINATOR)),
                    options={**STATE_IN_FILES, f"{plans.CHECKPOINTING}.interval": "200 ms",
                             f"{plans.CHECKPOINTING}.min-pause": "150 ms"},
                    bounds=Bounds(safety_ms=4_000, liveness_ms=4_000))  # fmt: skip
"""The former goes on before its successor has dropped anything itself, and hears late that it is refused. One that asks
before it deletes is refused then, and never comes to what is slow here."""
DELETING = tuple(
    plan(supersede(INTERVALS_MS, after_checkpoint=progress, gate=gate(effect, COORDINATOR)),
         options={**STATE_IN_FILES, **retained})
    for effect in ("delete", "during-delete")
    for progress, retained in ((1, {}), (3, plans.TWO_RETAINED))
)  # fmt: skip

DELETES_SOON, *DELETING_AFTER_CHECK = (
    plan(
        supersede(duration_ms, after_checkpoint=progress, gate=gate("during-delete", COORDINATOR)),
        options={**STATE_IN_FILES, f"{plans.CHECKPOINTING}.interval": "200 ms", **retained},
        bounds=Bounds(safety_ms=4_000, liveness_ms=4_000),
    )
    for duration_ms, progress, retained in (
        (40, 1, {}),
        (100, 1, {}),
        (100, 3, plans.TWO_RETAINED),
        (INTERVALS_MS, 3, plans.TWO_RETAINED),
    )
)
"""Nobody has taken over when it asks, and its successor has recovered when it deletes; in the first of these only just,
and has dropped nothing yet."""

SUCCESSION_CASES = with_needs(
    case("succession/superseded",
         "Can a coordinator that was paused while another took over still complete or start anything?", STOPPED,
         decides("CRD-13", "FENCE/superseded-acted", "FENCE/superseded-completed", wrong="ignores-successor"),
         decides("STO-08", "FENCE/superseded-acted", "FENCE/superseded-completed", wrong="ignores-successor"),
         decides("CRD-13", "FENCE/epoch-not-higher", wrong="claims-epoch-again"), windows=(Window.RESTORED_STATE,),
         tiers=EVERYWHERE, mutant_plan=STOPPED[0],
         method="It is paused before each of its steps in turn, or in the middle. A successor takes over and continues "
                "the job; then the first continues where it was paused.",
         passes="It is refused and ends; it stores nothing, and completes nothing that its successor did not find."),
    case("succession/savepoint",
         "Can a coordinator that was paused while another took over still complete a savepoint?",
         plan(savepoint(after_checkpoint=1),
              supersede(INTERVALS_MS, after_checkpoint=1, gate=gate("during-publish-metadata", COORDINATOR)),
              options=STATE_IN_FILES),
         decides("CRD-13", "FENCE/superseded-acted", "FENCE/superseded-completed", wrong="ignores-successor"),
         decides("STO-08", "FENCE/superseded-acted", "FENCE/superseded-completed", wrong="ignores-successor"),
         windows=(Window.RESTORED_STATE,), tiers=EVERYWHERE,
         method="It is paused while it writes the metadata of a savepoint. A successor takes over and continues the "
                "job; then the first continues where it was paused.",
         passes="It is refused and ends; the savepoint is not stored."),
    case("succession/notices", "Does a coordinator that was paused notify a task of the end of a checkpoint?",
         NOTIFYING, decides("CRD-13", "FENCE/superseded-notified", wrong="stays-with-superseded"),
         windows=(Window.RESTORED_STATE,), tiers=EVERYWHERE, mutant_plan=NOTIFYING[0],
         method="It is paused before its first or second notice; a successor takes over; then it continues.",
         passes="No task receives a notice from it."),
    case("succession/deletes", "Does a coordinator that was paused leave alone what its successor found?", DELETING,
         decides("CRD-13", "FENCE/superseded-deleted", wrong="deletes-unchecked"), windows=(Window.RESTORED_STATE,),
         tiers=EVERYWHERE, mutant_plan=DELETES_LATE,
         method="It is paused before a deletion, or in the middle of one; a successor takes over; then it continues "
                "where it was paused.",
         passes="It deletes nothing of a checkpoint that its successor found and has not dropped."),
    case("succession/deletes-after-check",
         "Is a deletion harmless that was allowed before another took over and takes effect afterwards?",
         DELETING_AFTER_CHECK, decides("CRD-13", "FENCE/superseded-deleted", wrong="drops-before-storing"),
         windows=(Window.RESTORED_STATE,), tiers=EVERYWHERE, mutant_plan=DELETES_SOON,
         method="A coordinator is paused between its check whether it is superseded and its deletion. A successor "
                "takes over and restores the job; then the deletion takes effect.",
         passes="It deletes nothing of a checkpoint that its successor found and has not dropped."),
)  # fmt: skip


TROUBLED = plan(forge("decline", "sink[1]", after_checkpoint=1, at_event="transaction_precommitted"),
                kill(plans.WORKERS[0], after_checkpoint=2), options={**plans.TOLERANT, **TWO_RETAINED})  # fmt: skip
"""Checkpoints complete, one is declined, and the job restarts from one."""
ROOMY = {"taskmanager.network.memory.buffers-per-channel": "64"}
LATE = plan(slow(LATE_CHANNELS[0], 25), slow(LATE_CHANNELS[1], 25), options=ROOMY,
            records={"records": 400, "records_per_second": 400})  # fmt: skip
"""Whatever the second source sends is 25 ms late, and the sums hold back what the first one sends meanwhile."""

OBSERVED_CASES = with_needs(
    case("observability/history",
         "Is what a system reports of each checkpoint, and of all of them together, what happened?", TROUBLED,
         decides("OBS-01", "METRICS/counts-wrong", wrong="forgets-failed-in-total"),
         decides("OBS-01", "METRICS/duration-wrong", wrong="reports-duration-of-acks"),
         decides("OBS-01", "METRICS/checkpoint-misreported", wrong="reports-no-reason"),
         decides("OBS-01", "METRICS/checkpoint-unreported", wrong="reports-only-success"),
         decides("OBS-01", "METRICS/size-wrong", wrong="forgets-inline-state"),
         decides("OBS-01", "METRICS/restore-misreported", wrong="reports-restore-without-path"), tiers=EVERYWHERE,
         method="Checkpoints complete, one is declined, a worker is killed; each report is computed again.",
         passes="Trigger time, duration, status, reason, sizes and path agree, and the counts add up."),
    case("observability/increments", "Is an increment reported with what it has stored, beside all that it names?",
         plan(kill(plans.WORKERS[0], after_checkpoint=3), options={**INCREMENTAL, **TWO_RETAINED}),
         decides("OBS-04", "METRICS/size-wrong", wrong="reports-full-size"), needs=SHARING,
         method="Incremental checkpoints complete, and a worker is killed.",
         passes="The size of each is that of the files that were new, and its full size that of all that it names."),
    case("observability/types",
         "Is a checkpoint reported as aligned, unaligned, or unaligned after a timeout, as it was?",
         [switching(timeout) for timeout in ("0 ms", "30 ms", "5 s")],
         decides("OBS-01", "METRICS/type-wrong", wrong="reports-one-type"), tiers=EVERYWHERE,
         method="A slow task keeps the buffers above it full; with no, a short and a long alignment timeout.",
         passes="The type of each completed checkpoint is the one that follows from what its subtasks took along."),
    case("observability/subtasks", "Does each subtask's report show where the time of a checkpoint went?", LATE,
         decides("OBS-02", "METRICS/start-delay-wrong", wrong="starts-with-the-barrier"),
         decides("OBS-02", "METRICS/alignment-wrong", wrong="counts-delay-as-alignment"),
         decides("OBS-02", "METRICS/held-bytes-wrong", wrong="forgets-held-bytes"),
         decides("OBS-02", "METRICS/part-duration-wrong", wrong="counts-alignment-as-snapshot"),
         decides("OBS-02", "METRICS/subtask-unreported", wrong="reports-no-sources"), tiers=EVERYWHERE,
         method="Two channels into the sums are late by 25 ms while records come; each figure is computed again.",
         passes="Start delay, alignment, held bytes, synchronous and asynchronous part are those of the trace."),
    case("observability/idle-gap", "Can one read how long nothing was in progress between two checkpoints?",
         plan(options={f"{plans.CHECKPOINTING}.min-pause": "60 ms"}),
         decides("OBS-03", "METRICS/idle-gap-wrong", wrong="idle-since-trigger"), tiers=EVERYWHERE, pictures=("pause",),
         method="A pause of 60 ms is demanded between checkpoints that are due every 40 ms.",
         passes="Every reported gap is the time from the end of the checkpoint before to the trigger."),
)  # fmt: skip
