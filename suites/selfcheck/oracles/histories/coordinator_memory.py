"""Histories for COORD: what has room in the coordinator's memory."""

from __future__ import annotations

from holdfast.harness.model import events, profile
from holdfast.harness.model.checkpoint import FailureReason
from holdfast.harness.model.jobs import FORWARD
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits
from holdfast.suites.selfcheck.oracles.histories.coordinator_lines import ALL, TWO_AT_ONCE
from holdfast.suites.selfcheck.oracles.lines import (
    aborted,
    ack_sent,
    acked,
    attempt,
    completed,
    dropped,
    published,
    told,
    triggered,
)

BUDGET = 100
NO_ROOM = FailureReason.COORDINATOR_MEMORY
SHARED = events.FileReference("shared/a", 90, 7)


def sent(checkpoint: int, source_bytes: int, *shared: events.SharedHandle) -> list[Line]:
    """The source has this much state, the others none."""
    return [
        ack_sent(
            subtask,
            checkpoint,
            inline_bytes=source_bytes if subtask == ALL[0] else 0,
            shared=shared if subtask == ALL[0] else (),
        )
        for subtask in ALL
    ]


def whole(checkpoint: int, source_bytes: int, *shared: events.SharedHandle) -> list[Line]:
    return [
        triggered(checkpoint, *ALL),
        *sent(checkpoint, source_bytes, *shared),
        *acked(checkpoint, *ALL),
        published(checkpoint),
        completed(checkpoint),
        *told(checkpoint, *ALL),
    ]


def no_room(checkpoint: int, source_bytes: int, reason: str) -> list[Line]:
    return [
        triggered(checkpoint, *ALL),
        *sent(checkpoint, source_bytes),
        *acked(checkpoint, ALL[0]),
        events.StateOverBudget(checkpoint=checkpoint, subtask=ALL[0], reason=reason),
        aborted(checkpoint, NO_ROOM),
        *told(checkpoint, *ALL, completed=False),
        triggered(checkpoint + 1, *ALL),
    ]


bad, near = exhibits(
    "COORD", attempt(), job=FORWARD, options={**TWO_AT_ONCE, profile.MEMORY_BUDGET: f"{BUDGET} b"}, parallelism=1
)

bad("over-budget-kept", "two that fit alone", whole(1, 50), whole(2, BUDGET - 49), dropped(1))
near("over-budget-kept", "two that fit together", whole(1, 50), whole(2, BUDGET - 50), dropped(1))
near(
    "over-budget-kept", "one that takes the place of another",
    whole(1, 40), whole(2, 50), dropped(1), whole(3, 50), dropped(2),
)  # fmt: skip
near(
    "over-budget-kept", "what is in two is there once",
    whole(1, 90, events.SharedHandle("a", SHARED, inline=True)),
    whole(2, 90, events.SharedHandle("a", SHARED, inline=True)), dropped(1),
)  # fmt: skip

bad(
    "refused-within-budget", "refused at the budget",
    whole(1, 50), no_room(2, BUDGET - 50, f"{BUDGET} b are needed, {BUDGET} b are allowed"),
)  # fmt: skip
near(
    "refused-within-budget", "refused one byte above",
    whole(1, 50), no_room(2, BUDGET - 49, f"{BUDGET + 1} b are needed, {BUDGET} b are allowed"),
)  # fmt: skip

bad("over-budget-unnamed", "size is not named", whole(1, 50), no_room(2, 70, f"no room: {BUDGET} b are allowed"))
bad("over-budget-unnamed", "limit is not named", whole(1, 50), no_room(2, 70, "no room for 120 b"))
near("over-budget-unnamed", "both are named", whole(1, 50), no_room(2, 70, f"120 b are needed, {BUDGET} b are allowed"))
