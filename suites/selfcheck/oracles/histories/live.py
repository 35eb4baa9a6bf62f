"""Histories for LIVE: the end of a run over two partitions of ten records."""

from __future__ import annotations

from holdfast.harness.model.history import RunEnd
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.suites.selfcheck.oracles.builder import MS, Line, exhibits
from holdfast.suites.selfcheck.oracles.legal import SUBTASKS
from holdfast.suites.selfcheck.oracles.lines import (
    aborted,
    attempt,
    blocked,
    completed,
    heard,
    submitted,
    triggered,
    unblocked,
)

LEFT = "source[0]->sum[0]"
DRAINED = (10, 10)


def completes(checkpoint: int, positions: tuple[int, ...] = DRAINED) -> list[Line]:
    return [triggered(checkpoint, *SUBTASKS), completed(checkpoint, *positions)]


bad, near = exhibits("LIVE", attempt(), end=RunEnd(True, "", healed_ns=0 * MS, ended_ns=10_000 * MS))

bad(
    "end-not-reached", "does not end",
    completes(1), completes(2),
    end=RunEnd(False, "0 of 2 checkpoints completed", healed_ns=0 * MS, ended_ns=10_000 * MS),
)  # fmt: skip
bad(
    "end-not-reached", "does not fail",
    expected=ExpectedEnd.FAILED,
    end=RunEnd(False, "0 of 2 checkpoints completed", healed_ns=0 * MS, ended_ns=10_000 * MS),
)  # fmt: skip
near("end-not-reached", "ends", completes(1), completes(2))

bad(
    "no-new-checkpoints", "one checkpoint after the heal",
    completes(1), 100, completes(2), end=RunEnd(True, "", healed_ns=50 * MS, ended_ns=10_000 * MS),
)  # fmt: skip
near(
    "no-new-checkpoints", "two checkpoints after the heal",
    completes(1), 100, completes(2), completes(3), end=RunEnd(True, "", healed_ns=50 * MS, ended_ns=10_000 * MS),
)  # fmt: skip

bad("input-not-drained", "stops short", completes(1), completes(2, (10, 9)))
near("input-not-drained", "drains", completes(1, (3, 4)), completes(2))

BLOCKS: list[Line] = [completes(1), completes(2), triggered(3, *SUBTASKS), blocked(LEFT, 3)]
"""A channel is blocked for checkpoint 3, after two that completed."""


bad("channel-left-blocked", "blocked after the abort", *BLOCKS, aborted(3), heard("sum[0]", 3, completed=False))
bad("channel-left-blocked", "blocked though a later one completed", *BLOCKS, completes(4))
near("channel-left-blocked", "unblocked", *BLOCKS, unblocked(LEFT, 3))

# The next job starts empty; the run ends while its checkpoint 3 is under way.
near(
    "channel-left-blocked", "blocked for an id that an earlier job completed",
    submitted(), completes(1), completes(2), completes(3), completes(4), submitted(job=1), attempt(number=1_001),
    completes(1), completes(2), blocked(LEFT, 2), unblocked(LEFT, 2), triggered(3, *SUBTASKS), blocked(LEFT, 3),
)  # fmt: skip
near(
    "channel-left-blocked", "blocked while it still aligns",
    *BLOCKS, unblocked(LEFT, 3), triggered(4, *SUBTASKS), blocked(LEFT, 4),
)  # fmt: skip
