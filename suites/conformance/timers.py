"""Timers, and whatever waits for them, live through crashes and rescaling (RULES REC-07)."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from holdfast.faults.network import slow
from holdfast.faults.process import kill
from holdfast.harness.model.jobs import DELAYED_SUM, IDLE_SPLITS, SLIDING_SUM, TUMBLING_SUM, bounded
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec, Plan, Schedule
from holdfast.harness.model.target import COORDINATOR, Role, Target
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import RESTORED, STATE_IN_FILES, WORKERS, case, decides, gate, plan, with_needs
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
    plan(FaultSpec("slow-task", Target(Role.TASK, 3), Schedule(after_checkpoint=2), 246, {"delay_ms": 5}),
         kill(WORKERS[1], after_checkpoint=2), kill(WORKERS[0], after_checkpoint=3), job=DELAYED_SUM, options=SWIFT),
)  # fmt: skip
"""In the last one, timers are due before the chain behind them runs."""
RESCALED = (rescaled(2, 3, job=DELAYED_SUM), rescaled(3, 2, job=DELAYED_SUM), rescaled(1, 4, job=DELAYED_SUM))
UNALIGNED = {
    "execution.checkpointing.unaligned.enabled": "true",
    "taskmanager.network.memory.buffers-per-channel": "64",
}
WINDOWS = tuple(
    made for job in (SLIDING_SUM, TUMBLING_SUM)
    for made in (plan(kill(WORKERS[0], after_checkpoint=1), kill(COORDINATOR, after_checkpoint=3), job=job),
                 plan(kill(WORKERS[1], after_checkpoint=2), job=job, options=STATE_IN_FILES),
                 plan(slow(plans.LATE_CHANNELS[0], 15), kill(WORKERS[0], after_checkpoint=2), job=job,
                      options=UNALIGNED),
                 plan(kill(WORKERS[1], after_checkpoint=1), job=bounded(job), expected_end=ExpectedEnd.FINISHED),
                 rescaled(2, 3, job=job), rescaled(3, 2, job=job))
)  # fmt: skip
"""With records that come late, and without."""

LONG = {"records": 240, "idle_partition": 1}
SILENT = {**LONG, "idle_records": 0}
"""It has nothing but the record that is fed when every fault is healed."""
RETURNING = {**LONG, "starts_ms": 150}
"""It begins when it has been idle for a while, and from the beginning of event time, as the other one did."""
BRIEFLY = {**RETURNING, "idle_records": 20}
"""It is idle again soon."""
BEHIND = {"records": 240, "preloaded_percent": 0, "staggered_ms": 40}
"""The second split is later than the first one, and never idle."""


def idle(*faults: FaultSpec, records: Mapping[str, int], options: Mapping[str, str] = {}) -> Plan:
    """A plan of two splits. On a machine with other things to do, a split may be found idle late."""
    bounds = replace(plans.BOUNDS, settle_ms=1_000)
    return plan(*faults, job=IDLE_SPLITS, records=records, options=options, bounds=bounds)


IDLE = (
    idle(records=SILENT),
    idle(kill(WORKERS[0], after_checkpoint=2), records=SILENT),
    idle(records=RETURNING),
    idle(records=BRIEFLY),
    idle(kill(WORKERS[1], after_checkpoint=5), records={**RETURNING, "starts_ms": 300}),
    idle(kill(COORDINATOR, after_checkpoint=6), records=RETURNING, options=UNALIGNED),
    idle(records=BEHIND),
    idle(kill(WORKERS[0], after_checkpoint=2), records=BEHIND),
)

CASES = with_needs(
    case("timers/processing-time", "Does a timer that waits when processes die bring its row, once, at its time?",
         CRASHED + RESCALED, decides("REC-07", "TIME/timer-lost", wrong="M1"),
         decides("REC-07", "TIME/timer-repeated", wrong="takes-timers-twice"),
         decides("REC-07", "TIME/timer-early", wrong="takes-timers-early"),
         decides("REC-07", "TIME/timer-unknown", wrong="wakes-every-key"),
         decides("REC-07", "EXACT/input-missing", wrong="takes-timers-before-chain"),
         decides("REC-07", "EXACT/row-wrong", "EXACT/row-repeated", "EXACT/input-missing", wrong="source-repeats-one"),
         windows=RESTORED,
         method="A keyed sum emits the row of a key by a timer only; workers and the coordinator are killed while keys "
                "wait, and the job is rescaled.",
         passes="Every timer that waited at the restored cut is taken once, by whoever owns its key group, not before "
                "its time; and every key shows its last row."),
    case("timers/event-time",
         "Do windows of event time survive crashes, and does a split hold the watermark that says nothing yet?",
         WINDOWS, decides("REC-07", "WINDOW/window-missing", wrong="M1"),
         decides("REC-07", "TIME/dropped-early", wrong="M3"),
         decides("REC-07", "WINDOW/window-repeated", wrong="reopens-windows"),
         decides("REC-07", "WINDOW/window-wrong", wrong="assigns-once"), windows=RESTORED,
         method="Windows overlap or do not, and records come late; workers and the coordinator are killed, the job is "
                "rescaled, its checkpoints are unaligned, its input ends.",
         passes="Every window that is over has one row, with every record that its own split had brought in time; and "
                "its timer is taken once."),
    case("timers/idle-splits", "Do windows wait for every split that brings records, and for no split that is idle?",
         IDLE, decides("REC-07", "WINDOW/window-missing", wrong="holds-for-idle-splits"),
         decides("REC-07", "WINDOW/window-wrong", wrong="idle-for-good"),
         decides("REC-07", "TIME/dropped-early", wrong="idles-active-splits"),
         decides("REC-07", "WINDOW/window-repeated", wrong="falls-back-to-idle-splits"), windows=RESTORED,
         method="A split of two brings nothing, or comes late, or is behind the other one; workers and the coordinator "
                "are killed while it is idle.",
         passes="Windows are emitted although a split is idle; one that comes again holds them back; what was emitted "
                "stays so behind a restore; and no record of a split that was never idle is late."),
)  # fmt: skip
