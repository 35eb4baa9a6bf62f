"""Timers, and whatever waits for them, live through crashes and rescaling (RULES REC-07)."""

from __future__ import annotations

from holdfast.faults.process import kill
from holdfast.harness.model.case import Case, Decision
from holdfast.harness.model.jobs import DELAYED_SUM
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.conformance.plans import RESTORED, STATE_IN_FILES, WORKERS, each_of, gate, plan, with_needs
from holdfast.suites.conformance.rescaling import rescaled

CRASHED = (
    plan(kill(WORKERS[0], after_checkpoint=1), kill(COORDINATOR, after_checkpoint=3), job=DELAYED_SUM),
    plan(kill(WORKERS[1], after_checkpoint=2), job=DELAYED_SUM, options=STATE_IN_FILES),
    plan(kill(WORKERS[0], after_checkpoint=1, gate=gate("acknowledge", WORKERS[0])), job=DELAYED_SUM),
    plan(kill(COORDINATOR, after_checkpoint=1), kill(WORKERS[1], after_checkpoint=2), job=DELAYED_SUM),
)
RESCALED = (rescaled(2, 3, job=DELAYED_SUM), rescaled(3, 2, job=DELAYED_SUM), rescaled(1, 4, job=DELAYED_SUM))

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
            Decision("REC-07", "EXACT", ("row-wrong", "row-repeated", "input-missing"), "source-repeats-one"),
        ),
        windows=RESTORED,
        plan=each_of(CRASHED + RESCALED),
        runs=len(CRASHED + RESCALED),
    ),
)
