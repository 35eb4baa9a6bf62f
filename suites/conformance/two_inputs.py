"""Two inputs in event time, with state on both sides or with rules in broadcast state (RULES REC-03, REC-07)."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.faults.network import slow
from holdfast.faults.process import kill
from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import INTERVAL_JOIN, RULED_SUM, bounded
from holdfast.harness.model.plan import ExpectedEnd, Plan
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import RESTORED, STATE_IN_FILES, WORKERS, case, decides, plan, with_needs
from holdfast.suites.conformance.rescaling import in_flight, rescaled
from holdfast.suites.conformance.unaligned import UNALIGNED


def plans_of(job: Job, busy: str) -> tuple[Plan, ...]:
    """Crashes, a late input, an end, other widths: aligned, and with what is in flight to a busy subtask."""
    return (
        plan(kill(WORKERS[0], after_checkpoint=1), kill(COORDINATOR, after_checkpoint=3), job=job),
        plan(kill(WORKERS[1], after_checkpoint=2), job=job, options=STATE_IN_FILES),
        plan(slow(plans.LATE_CHANNELS[0], 15), kill(WORKERS[0], after_checkpoint=2), job=job, options=UNALIGNED),
        plan(kill(WORKERS[1], after_checkpoint=1), job=bounded(job), expected_end=ExpectedEnd.FINISHED),
        rescaled(2, 3, job=job, faults=(kill(WORKERS[0], after_checkpoint=5),)),
        rescaled(3, 2, job=job),
        in_flight(2, 3, job=job, busy=busy),
    )


UNITED = replace(
    RULED_SUM,
    vertices=tuple(replace(each, union_state=True) if each.name == "rules" else each for each in RULED_SUM.vertices),
)
"""Positions of the rules are union list state."""

CASES = with_needs(
    case("two-inputs/interval-join",
         "Does every pair of records that meet in time have its row, once, if one of them was restored?",
         plans_of(INTERVAL_JOIN, "join[0]"), decides("REC-03", "WINDOW/window-missing", wrong="restores-left-alone"),
         decides("REC-07", "WINDOW/window-missing", wrong="forgets-early"),
         decides("REC-03", "WINDOW/window-repeated", wrong="joins-again"), windows=RESTORED,
         method="Two inputs are joined in an interval of event time, and each keeps its records in map state until a "
                "timer; processes are killed, the job is rescaled, its checkpoints are unaligned, its inputs end.",
         passes="Each pair of the oracle's own join has one row, with the values of its two records."),
    case("two-inputs/broadcast-rules",
         "Is each record computed by the rule of its own time, whichever subtask has it after a restore?",
         (*plans_of(RULED_SUM, "sum[0]"),
          plan(kill(WORKERS[0], after_checkpoint=1), kill(COORDINATOR, after_checkpoint=3), job=UNITED),
          rescaled(2, 3, job=UNITED, faults=(kill(WORKERS[1], after_checkpoint=5),))),
         decides("REC-03", "EXACT/row-wrong", wrong="forgets-rules"),
         decides("REC-07", "EXACT/row-wrong", wrong="applies-newest-rule"),
         decides("REC-03", "EXACT/input-missing", wrong="forgets-waiting"), windows=RESTORED,
         method="Rules come by a broadcast input, whose positions are union list state in some plans; records wait for "
                "those of their time in list state. Processes are killed, the job is rescaled, its checkpoints are "
                "unaligned, its inputs end.",
         passes="Every row is what the oracle's own interpretation of rules and records has at that prefix."),
)  # fmt: skip
