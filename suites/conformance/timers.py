"""Timers, and whatever waits for them, live through crashes and rescaling (RULES REC-07)."""

from __future__ import annotations

from holdfast.faults.network import slow
from holdfast.faults.process import kill
from holdfast.harness.model.case import Case, Decision
from holdfast.harness.model.jobs import DELAYED_SUM, SLIDING_SUM, TUMBLING_SUM, bounded
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec, Schedule
from holdfast.harness.model.target import COORDINATOR, Role, Target
from holdfast.suites.conformance.plans import (
    LATE_CHANNELS,
    RESTORED,
    STATE_IN_FILES,
    WORKERS,
    each_of,
    gate,
    plan,
    with_needs,
)
from holdfast.suites.conformance.rescaling import rescaled

SWIFT = {
    "pipeline.operator-chaining.enabled": "true",
    "restart-strategy.fixed-delay.delay": "8 ms",
    "taskmanager.network.memory.buffers-per-channel": "1",
    "source.max-batch-records": "9",
}
CRASHED = (
    plan(kill(WORKERS[0], after_checkpoint=1), kill(COORDINATOR, after_checkpoint=3), job=DELAYED_SUM),
    plan(kill(WORKERS[1], after_checkpoint=2), job=DELAYED_SUM, options=STATE_IN_FILES),
    plan(kill(WORKERS[0], after_checkpoint=1, gate=gate("acknowledge", WORKERS[0])), job=DELAYED_SUM),
    plan(kill(COORDINATOR, after_checkpoint=1), kill(WORKERS[1], after_checkpoint=2), job=DELAYED_SUM),
    plan(
        FaultSpec("slow-task", Target(Role.TASK, 3), Schedule(after_checkpoint=2), 246, {"delay_ms": 5}),
        kill(WORKERS[1], after_checkpoint=2),
        kill(WORKERS[0], after_checkpoint=3),
        job=DELAYED_SUM,
        options=SWIFT,
    ),
)
"""In the last one, timers are due before the chain behind them runs."""
RESCALED = (rescaled(2, 3, job=DELAYED_SUM), rescaled(3, 2, job=DELAYED_SUM), rescaled(1, 4, job=DELAYED_SUM))
UNALIGNED = {
    "execution.checkpointing.unaligned.enabled": "true",
    "taskmanager.network.memory.buffers-per-channel": "64",
}
WINDOWS = tuple(
    made
    for job in (SLIDING_SUM, TUMBLING_SUM)
    for made in (
        plan(kill(WORKERS[0], after_checkpoint=1), kill(COORDINATOR, after_checkpoint=3), job=job),
        plan(kill(WORKERS[1], after_checkpoint=2), job=job, options=STATE_IN_FILES),
        plan(slow(LATE_CHANNELS[0], 15), kill(WORKERS[0], after_checkpoint=2), job=job, options=UNALIGNED),
        plan(kill(WORKERS[1], after_checkpoint=1), job=bounded(job), expected_end=ExpectedEnd.FINISHED),
        rescaled(2, 3, job=job),
        rescaled(3, 2, job=job),
    )
)
"""With records that come late, and without."""

CASES = with_needs(
    Case(
        id="timers/processing-time",
        purpose="Does a timer that waits when processes die bring its row, once, at its time?",
        method="A keyed sum emits the row of a key by a timer only; workers and the coordinator are killed while keys "
        "wait, and the job is rescaled.",
        passes="Every timer that waited at the restored cut is taken once, by whoever owns its key group, not before "
        "its time; and every key shows its last row.",
        decides=(
            Decision("REC-07", "TIME", ("timer-lost",), "M1"),
            Decision("REC-07", "TIME", ("timer-repeated",), "takes-timers-twice"),
            Decision("REC-07", "TIME", ("timer-early",), "takes-timers-early"),
            Decision("REC-07", "TIME", ("timer-unknown",), "wakes-every-key"),
            Decision("REC-07", "EXACT", ("input-missing",), "takes-timers-before-chain"),
            Decision("REC-07", "EXACT", ("row-wrong", "row-repeated", "input-missing"), "source-repeats-one"),
        ),
        windows=RESTORED,
        plan=each_of(CRASHED + RESCALED),
        runs=len(CRASHED + RESCALED),
    ),
    Case(
        id="timers/event-time",
        purpose="Do windows of event time survive crashes, and does a split hold the watermark that says nothing yet?",
        method="Windows overlap or do not, and records come late; workers and the coordinator are killed, the job is "
        "rescaled, its checkpoints are unaligned, its input ends.",
        passes="Every window that is over has one row, with every record that its own split had brought in time; and "
        "its timer is taken once.",
        decides=(
            Decision("REC-07", "WINDOW", ("window-missing",), "M1"),
            Decision("REC-07", "TIME", ("dropped-early",), "M3"),
            Decision("REC-07", "WINDOW", ("window-repeated",), "reopens-windows"),
            Decision("REC-07", "WINDOW", ("window-wrong",), "assigns-once"),
        ),
        windows=RESTORED,
        plan=each_of(WINDOWS),
        runs=len(WINDOWS),
    ),
)
