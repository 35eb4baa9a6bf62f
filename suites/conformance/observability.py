"""What a system reports of its checkpoints (RULES OBS)."""

from __future__ import annotations

from holdfast.faults.forge import forge
from holdfast.faults.network import slow
from holdfast.faults.process import kill
from holdfast.harness.model.case import Case, Decision
from holdfast.suites.conformance.incremental import INCREMENTAL, SHARING
from holdfast.suites.conformance.plans import (
    CHECKPOINTING,
    EVERYWHERE,
    LATE_CHANNELS,
    TOLERANT,
    TWO_RETAINED,
    WORKERS,
    plan,
    with_needs,
)
from holdfast.suites.conformance.unaligned import switching

TROUBLED = plan(
    forge("decline", "sink[1]", after_checkpoint=1, at_event="transaction_precommitted"),
    kill(WORKERS[0], after_checkpoint=2),
    options={**TOLERANT, **TWO_RETAINED},
)
"""Checkpoints complete, one is declined, and the job restarts from one."""
ROOMY = {"taskmanager.network.memory.buffers-per-channel": "64"}
LATE = plan(
    slow(LATE_CHANNELS[0], 25),
    slow(LATE_CHANNELS[1], 25),
    options=ROOMY,
    records={"records": 400, "records_per_second": 400},
)
"""Whatever the second source sends is 25 ms late, and the sums hold back what the first one sends meanwhile."""

CASES = with_needs(
    Case(
        id="observability/history",
        purpose="Is what a system reports of each checkpoint, and of all of them together, what happened?",
        method="Checkpoints complete, one is declined, a worker is killed; each report is computed again.",
        passes="Trigger time, duration, status, reason, sizes and path agree, and the counts add up.",
        decides=(
            Decision("OBS-01", "METRICS", ("counts-wrong",), "forgets-failed-in-total"),
            Decision("OBS-01", "METRICS", ("duration-wrong",), "reports-duration-of-acks"),
            Decision("OBS-01", "METRICS", ("checkpoint-misreported",), "reports-no-reason"),
            Decision("OBS-01", "METRICS", ("checkpoint-unreported",), "reports-only-success"),
            Decision("OBS-01", "METRICS", ("size-wrong",), "forgets-inline-state"),
            Decision("OBS-01", "METRICS", ("restore-misreported",), "reports-restore-without-path"),
        ),
        plan=TROUBLED,
        tiers=EVERYWHERE,
    ),
    Case(
        id="observability/increments",
        purpose="Is an increment reported with what it has stored, beside all that it names?",
        method="Incremental checkpoints complete, and a worker is killed.",
        passes="The size of each is that of the files that were new, and its full size that of all that it names.",
        decides=(Decision("OBS-04", "METRICS", ("size-wrong",), "reports-full-size"),),
        plan=plan(kill(WORKERS[0], after_checkpoint=3), options={**INCREMENTAL, **TWO_RETAINED}),
        needs=SHARING,
    ),
    Case(
        id="observability/types",
        purpose="Is a checkpoint reported as aligned, unaligned, or unaligned after a timeout, as it was?",
        method="A slow task keeps the buffers above it full; with no, a short and a long alignment timeout.",
        passes="The type of each completed checkpoint is the one that follows from what its subtasks took along.",
        decides=(Decision("OBS-01", "METRICS", ("type-wrong",), "reports-one-type"),),
        plan=[switching(timeout) for timeout in ("0 ms", "30 ms", "5 s")],
        tiers=EVERYWHERE,
    ),
    Case(
        id="observability/subtasks",
        purpose="Does each subtask's report show where the time of a checkpoint went?",
        method="Two channels into the sums are late by 25 ms while records come; each figure is computed again.",
        passes="Start delay, alignment, held bytes, synchronous and asynchronous part are those of the trace.",
        decides=(
            Decision("OBS-02", "METRICS", ("start-delay-wrong",), "starts-with-the-barrier"),
            Decision("OBS-02", "METRICS", ("alignment-wrong",), "counts-delay-as-alignment"),
            Decision("OBS-02", "METRICS", ("held-bytes-wrong",), "forgets-held-bytes"),
            Decision("OBS-02", "METRICS", ("part-duration-wrong",), "counts-alignment-as-snapshot"),
            Decision("OBS-02", "METRICS", ("subtask-unreported",), "reports-no-sources"),
        ),
        plan=LATE,
        tiers=EVERYWHERE,
    ),
    Case(
        id="observability/idle-gap",
        purpose="Can one read how long nothing was in progress between two checkpoints?",
        method="A pause of 60 ms is demanded between checkpoints that are due every 40 ms.",
        passes="Every reported gap is the time from the end of the checkpoint before to the trigger.",
        decides=(Decision("OBS-03", "METRICS", ("idle-gap-wrong",), "idle-since-trigger"),),
        plan=plan(options={f"{CHECKPOINTING}.min-pause": "60 ms"}),
        tiers=EVERYWHERE,
        pictures=("pause",),
    ),
)
