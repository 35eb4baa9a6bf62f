"""Histories for COORD: what has room in the coordinator's memory."""

from __future__ import annotations

from holdfast.harness.model import events, profile
from holdfast.harness.model.checkpoint import FailureReason
from holdfast.harness.model.history import History
from holdfast.suites.selfcheck.oracles.builder import exhibits
from holdfast.suites.selfcheck.oracles.histories.coordinator_lines import (
    ALL,
    TWO_AT_ONCE,
    aborted,
    acked,
    completed,
    published,
    story,
    told,
    triggered,
)

bad, near = exhibits("COORD")
BUDGET = 100
NO_ROOM = FailureReason.COORDINATOR_MEMORY
SHARED = events.FileReference("shared/a", 90, 7)


def within_budget(*lines: list[events.Event]) -> History:
    return story(*lines, options={**TWO_AT_ONCE, profile.MEMORY_BUDGET: f"{BUDGET} b"})


def sent(checkpoint: int, source_bytes: int, *shared: events.SharedHandle) -> list[events.Event]:
    """The source has this much state, the others none."""
    return [
        events.AckSent(
            subtask=subtask,
            checkpoint=checkpoint,
            inline_bytes=source_bytes if subtask == ALL[0] else 0,
            shared=shared if subtask == ALL[0] else (),
        )
        for subtask in ALL
    ]


def whole(checkpoint: int, source_bytes: int, *shared: events.SharedHandle) -> list[events.Event]:
    return [
        triggered(checkpoint),
        *sent(checkpoint, source_bytes, *shared),
        *acked(checkpoint, *ALL),
        published(checkpoint),
        completed(checkpoint),
        *told(checkpoint, completed=True),
    ]


def no_room(checkpoint: int, source_bytes: int, reason: str) -> list[events.Event]:
    return [
        triggered(checkpoint),
        *sent(checkpoint, source_bytes),
        *acked(checkpoint, ALL[0]),
        events.StateOverBudget(checkpoint=checkpoint, subtask=ALL[0], reason=reason),
        aborted(checkpoint, NO_ROOM),
        *told(checkpoint, completed=False),
        triggered(checkpoint + 1),
    ]


def dropped(checkpoint: int) -> events.CheckpointDropped:
    return events.CheckpointDropped(checkpoint=checkpoint)


@bad("over-budget-kept")
def two_that_fit_alone() -> History:
    return within_budget(whole(1, 50), whole(2, BUDGET - 49), [dropped(1)])


@near("over-budget-kept")
def two_that_fit_together() -> History:
    return within_budget(whole(1, 50), whole(2, BUDGET - 50), [dropped(1)])


@near("over-budget-kept")
def one_that_takes_the_place_of_another() -> History:
    return within_budget(whole(1, 40), whole(2, 50), [dropped(1)], whole(3, 50), [dropped(2)])


@near("over-budget-kept")
def what_is_in_two_is_there_once() -> History:
    first, again = events.SharedHandle("a", SHARED, inline=True), events.SharedHandle("a", SHARED, inline=True)
    return within_budget(whole(1, 90, first), whole(2, 90, again), [dropped(1)])


@bad("refused-within-budget")
def refused_at_the_budget() -> History:
    return within_budget(whole(1, 50), no_room(2, BUDGET - 50, f"{BUDGET} b are needed, {BUDGET} b are allowed"))


@near("refused-within-budget")
def refused_one_byte_above() -> History:
    return within_budget(whole(1, 50), no_room(2, BUDGET - 49, f"{BUDGET + 1} b are needed, {BUDGET} b are allowed"))


@bad("over-budget-unnamed")
def size_is_not_named() -> History:
    return within_budget(whole(1, 50), no_room(2, 70, f"no room: {BUDGET} b are allowed"))


@bad("over-budget-unnamed")
def limit_is_not_named() -> History:
    return within_budget(whole(1, 50), no_room(2, 70, "no room for 120 b"))


@near("over-budget-unnamed")
def both_are_named() -> History:
    return within_budget(whole(1, 50), no_room(2, 70, f"120 b are needed, {BUDGET} b are allowed"))
