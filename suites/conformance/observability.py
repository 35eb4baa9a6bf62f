"""What a system reports of its checkpoints (RULES OBS)."""

from __future__ import annotations

from holdfast.faults.forge import forge
from holdfast.faults.network import slow
from holdfast.faults.process import kill
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.incremental import INCREMENTAL, SHARING
from holdfast.suites.conformance.plans import EVERYWHERE, LATE_CHANNELS, TWO_RETAINED, case, decides, plan, with_needs
from holdfast.suites.conformance.unaligned import switching

TROUBLED = plan(forge("decline", "sink[1]", after_checkpoint=1, at_event="transaction_precommitted"),
                kill(plans.WORKERS[0], after_checkpoint=2), options={**plans.TOLERANT, **TWO_RETAINED})  # fmt: skip
"""Checkpoints complete, one is declined, and the job restarts from one."""
ROOMY = {"taskmanager.network.memory.buffers-per-channel": "64"}
LATE = plan(slow(LATE_CHANNELS[0], 25), slow(LATE_CHANNELS[1], 25), options=ROOMY,
            records={"records": 400, "records_per_second": 400})  # fmt: skip
"""Whatever the second source sends is 25 ms late, and the sums hold back what the first one sends meanwhile."""

CASES = with_needs(
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
