"""What becomes of a record that has no effect in the committed output: one classification for all oracles of output.

Rules of this file:
- It rests on the input, the committed output and the settle window. A statement of the system under test never excuses
  it: only where it states itself that everything is committed, that counts against it.
- The marker of a partition is its last record: of an unbounded one it is fed after the heal (`Partition.markers`). When
  it has its effect and the settle window is over, nothing holds up a record before it any more.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from holdfast.harness.model.capability import OutputMode
from holdfast.harness.model.events import JobStatus, JobSwitched
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.oracles.output.settle_window import blockages, needed_ms
from holdfast.harness.oracles.shared.options import NS_PER_MS


class Fate(StrEnum):
    """What became of a record without effect."""

    LOST = "lost"
    LATE = "late"
    """The window was shorter than a blockage that the plan explains."""
    STALLED = "stalled"
    """Its marker is missing, too: whether the job goes on at all is for LIVE to judge."""
    CUT_SHORT = "in flight in a run cut short"
    NOT_DUE = "not due"
    """The expected end promises nothing about it."""


def answer_is_due(history: History) -> bool:
    """Whether the rows that are there must be those that their author expects. Where rows take the place of others,
    that holds in the end alone: of a job that did not get there, a later row may have been to replace them."""
    replaced = history.inputs.described and history.claims.mode is not OutputMode.APPEND
    return not replaced or (everything_is_due(history) and history.end.reached)


def wrong_values(history: History) -> dict[int, int]:
    """By row that nobody expects, the expected row that it has the key of, and other values; see InputLog.wrong. None
    before the answer is due: a later row may have been to replace it."""
    return dict(history.inputs.wrong) if answer_is_due(history) else {}


class Ruling(NamedTuple):
    """A fate, and why, in words."""

    fate: Fate
    because: str


def everything_is_due(history: History) -> bool:
    """Whether the plan must end with the effect of every input in the committed output."""
    return history.plan.expected_end in (ExpectedEnd.RUNNING, ExpectedEnd.FINISHED)


def rule_for_missing(history: History, *, marked: bool) -> Ruling:
    """What becomes of a missing record.

    Args:
        marked: whether the marker of its partition has its effect in the committed output.
    """
    end, plan = history.end, history.plan
    if not everything_is_due(history):
        return Ruling(Fate.NOT_DUE, f"the expected end is {plan.expected_end}")
    if end.problem and not end.settled:
        return Ruling(Fate.CUT_SHORT, f"the run was cut short ({end.problem})")
    if end.reached or (end.settled and _finished(history)):
        return Ruling(Fate.LOST, "the system under test reports its end, and the settle window is over")
    if not marked:
        return Ruling(
            Fate.STALLED, f"the marker behind them is missing, too, and {end.reason or 'the end was not reached'}"
        )
    watched_ms = (end.ended_ns - end.healed_ns) // NS_PER_MS
    if watched_ms < needed_ms(plan):
        named = " and ".join(f"{each.option} of {each.lasts_ms} ms" for each in blockages(plan)) or "a checkpoint"
        return Ruling(Fate.LATE, f"{named} may hold it up, and the run was watched for {watched_ms} ms after the heal")
    return Ruling(Fate.LOST, "the marker behind it has its effect, and the settle window is over")


def _finished(history: History) -> bool:
    """Whether the job reports that it finished, as it was to: then nothing runs that could still commit."""
    switched = history.of(JobSwitched)
    return (
        history.plan.expected_end is ExpectedEnd.FINISHED
        and bool(switched)
        and switched[-1].status is JobStatus.FINISHED
    )
