"""Two inputs in event time, with state on both sides or with rules in broadcast state (RULES REC-03, REC-07)."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.faults.network import slow
from holdfast.faults.process import kill
from holdfast.harness.model.case import Case, Decision
from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import INTERVAL_JOIN, RULED_SUM, bounded
from holdfast.harness.model.plan import ExpectedEnd, Plan
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.conformance.plans import (
    LATE_CHANNELS,
    RESTORED,
    STATE_IN_FILES,
    WORKERS,
    plan,
    with_needs,
)
from holdfast.suites.conformance.rescaling import in_flight, rescaled
from holdfast.suites.conformance.unaligned import UNALIGNED


def plans(job: Job, busy: str) -> tuple[Plan, ...]:
    """Crashes, a late input, an end, other widths: aligned, and with what is in flight to a busy subtask."""
    return (
        plan(kill(WORKERS[0], after_checkpoint=1), kill(COORDINATOR, after_checkpoint=3), job=job),
        plan(kill(WORKERS[1], after_checkpoint=2), job=job, options=STATE_IN_FILES),
        plan(slow(LATE_CHANNELS[0], 15), kill(WORKERS[0], after_checkpoint=2), job=job, options=UNALIGNED),
        plan(kill(WORKERS[1], after_checkpoint=1), job=bounded(job), expected_end=ExpectedEnd.FINISHED),
        rescaled(2, 3, job=job, faults=(kill(WORKERS[0], after_checkpoint=5),)),
        rescaled(3, 2, job=job),
        in_flight(2, 3, job=job, busy=busy),
    )


JOINED = plans(INTERVAL_JOIN, "join[0]")
UNITED = replace(
    RULED_SUM,
    vertices=tuple(replace(each, union_state=True) if each.name == "rules" else each for each in RULED_SUM.vertices),
)
"""Positions of the rules are union list state."""
RULED = (
    *plans(RULED_SUM, "sum[0]"),
    plan(kill(WORKERS[0], after_checkpoint=1), kill(COORDINATOR, after_checkpoint=3), job=UNITED),
    rescaled(2, 3, job=UNITED, faults=(kill(WORKERS[1], after_checkpoint=5),)),
)

CASES = with_needs(
    Case(
        id="two-inputs/interval-join",
        purpose="Does every pair of records that meet in time have its row, once, if one of them was restored?",
        method="Two inputs are joined in an interval of event time, and each keeps its records in map state until a "
        "timer; processes are killed, the job is rescaled, its checkpoints are unaligned, its inputs end.",
        passes="Each pair of the oracle's own join has one row, with the values of its two records.",
        decides=(
            Decision("REC-03", "WINDOW", ("window-missing",), "restores-left-alone"),
            Decision("REC-07", "WINDOW", ("window-missing",), "forgets-early"),
            Decision("REC-03", "WINDOW", ("window-repeated",), "joins-again"),
        ),
        windows=RESTORED,
        plan=JOINED,
    ),
    Case(
        id="two-inputs/broadcast-rules",
        purpose="Is each record computed by the rule of its own time, whichever subtask has it after a restore?",
        method="Rules come by a broadcast input, whose positions are union list state in some plans; records wait for "
        "those of their time in list state. Processes are killed, the job is rescaled, its checkpoints are unaligned, "
        "its inputs end.",
        passes="Every row is what the oracle's own interpretation of rules and records has at that prefix.",
        decides=(
            Decision("REC-03", "EXACT", ("row-wrong",), "forgets-rules"),
            Decision("REC-07", "EXACT", ("row-wrong",), "applies-newest-rule"),
            Decision("REC-03", "EXACT", ("input-missing",), "forgets-waiting"),
        ),
        windows=RESTORED,
        plan=RULED,
    ),
)
