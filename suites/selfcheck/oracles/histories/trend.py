"""Histories for TREND: many checkpoints, one after the other."""

from __future__ import annotations

from collections.abc import Callable

from holdfast.harness.model import events
from holdfast.harness.model.checkpoint import FailureReason
from holdfast.harness.oracles.coordinator.trend import FEWEST
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits, undecided
from holdfast.suites.selfcheck.oracles.lines import (
    aborted,
    acked,
    attempt,
    completed,
    deleted,
    snapshot,
    triggered,
    written,
)

MANY = FEWEST + 60
LATE = FailureReason.EXPIRED
UNCHAINED = {"pipeline.operator-chaining.enabled": "false"}


def checkpoint(
    number: int,
    ack_ms: float = 5,
    publish_ms: float = 5,
    *,
    ends: bool = True,
    versions: int | None = None,
    files: int = 0,
) -> list[Line]:
    """One of a single participant.

    Args:
        number: its id.
        ack_ms, publish_ms: until its ack comes, and from then on until it completes.
        ends: it completes; else it is aborted.
        versions, files: how many it leaves behind; None: it has no snapshots.
    """
    written_line = events.FileReference(f"chk-{number}/a", 1, 1)
    gone: list[Line] = [] if files else [deleted(written_line)]
    completed_line, aborted_line = (completed(number), aborted(number, LATE))
    ended: Line = completed_line if ends else aborted_line
    taken = snapshot("sum[0]", number, state=events.StateSummary())
    release = events.SnapshotReleased(subtask="sum[0]", checkpoint=number, kept_entries=0, open_versions=0)
    snapshot_line: list[Line] = [] if versions is None else [taken, *([] if versions else [release])]
    return [
        triggered(number, "sum[0]"),
        written(written_line),
        *snapshot_line,
        ack_ms,
        acked(number, "sum[0]"),
        publish_ms,
        ended,
        *gone,
    ]


def run(one: Callable[[int], list[Line]], count: int = MANY) -> list[Line]:
    lines = [line for number in range(1, count + 1) for line in one(number)]
    return [attempt(), *lines]


bad, near = exhibits("TREND", claimed=frozenset(), options=UNCHAINED)

bad(
    "acks-slow-down", "each ack comes later",
    run(lambda number: checkpoint(number, ack_ms=5 + number / 10, publish_ms=100 - number / 10)),
)  # fmt: skip
near("acks-slow-down", "acks come as they did", run(lambda number: checkpoint(number, ack_ms=5 + number % 7)))

bad("duration-grows", "each takes longer", run(lambda number: checkpoint(number, publish_ms=5 + number / 30)))
near(
    "duration-grows", "one takes very long",
    run(lambda number: checkpoint(number, publish_ms=5_000 if number > MANY - 3 else 5)),
)  # fmt: skip
near(
    "duration-grows", "it grows by less than is worth a word",
    run(lambda number: checkpoint(number, publish_ms=100 + number / 100)),
)  # fmt: skip

bad("files-grow", "a file of each stays", run(lambda number: checkpoint(number, files=1)))
near("files-grow", "files go", run(checkpoint))

bad("versions-grow", "a version of some stays", run(lambda number: checkpoint(number, versions=int(number % 5 == 0))))
near("versions-grow", "versions go", run(lambda number: checkpoint(number, versions=0)))


# Too few to say anything.
undecided(
    "TREND", "few",
    run(lambda number: checkpoint(number, publish_ms=number), FEWEST - 1), options=UNCHAINED, claimed=frozenset(),
)  # fmt: skip


# What comes behind the first checkpoint that fails is not looked at.
undecided(
    "TREND", "until one fails",
    run(lambda number: checkpoint(number, publish_ms=number, ends=number != FEWEST)), options=UNCHAINED,
    claimed=frozenset(),
)  # fmt: skip
