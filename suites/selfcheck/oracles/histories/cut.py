"""Histories for CUT: what state, positions and batches in flight at a cut add up to."""

from __future__ import annotations

from collections.abc import Collection

from holdfast.harness.model.capability import AT_LEAST_ONCE
from holdfast.harness.model.events import (
    ChannelContent,
)
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits, undecided
from holdfast.suites.selfcheck.oracles.histories.channel_lines import COUNTING, LEFT
from holdfast.suites.selfcheck.oracles.legal import summary
from holdfast.suites.selfcheck.oracles.lines import attempt, emitted, in_flight, snapshot, task

BEFORE = [(partition, offset) for partition in (0, 1) for offset in range(4)]
"""The records before a cut at offset 4 of both partitions."""


def _cut(*held: Collection[tuple[int, int]]) -> list[Line]:
    """Checkpoint 1 at offset 4 of both partitions; the sums hold these records."""
    return [
        *(snapshot(f"source[{i}]", 1, (i, 4)) for i in (0, 1)),
        *(snapshot(f"sum[{i}]", state=summary(each)) for i, each in enumerate(held)),
    ]


bad, near = exhibits("CUT")

bad("state-extra", "record behind barrier in state", _cut(BEFORE[:4], [*BEFORE[4:], (1, 4)]))
bad("state-extra", "record applied twice", _cut(BEFORE[:4], [*BEFORE[4:], (0, 2)]))
bad("state-extra", "two records applied twice", _cut([*BEFORE[:4], (1, 0)], [*BEFORE[4:], (0, 2)]))


def _cut_with(*in_flight_line: tuple[int, int]) -> list[Line]:
    """As `_cut`, unaligned: the sums hold all but the last record, and this is stored as being in flight."""
    stored = (ChannelContent(LEFT, False, ((1, 3),), summary(in_flight_line)),)
    return [
        *(snapshot(f"source[{i}]", 1, (i, 4), unaligned=True) for i in (0, 1)),
        *(in_flight(f"source[{i}]") for i in (0, 1)),
        *(
            snapshot(f"sum[{i}]", state=summary(each), unaligned=True)
            for i, each in enumerate((BEFORE[:4], BEFORE[4:-1]))
        ),
        in_flight("sum[0]", *(stored if in_flight_line else ())),
        in_flight("sum[1]"),
    ]


bad("state-missing", "record neither in state nor in flight", _cut_with())

bad("state-extra", "record in state and in flight", _cut_with(BEFORE[-1], BEFORE[0]))

near("state-missing", "last record is in flight", _cut_with(BEFORE[-1]))


def _left_out(*held: tuple[int, int]) -> list[Line]:
    """The last record before the first cut was in flight and is left out; at the second the sums hold these."""
    return [
        attempt(),
        *(snapshot(f"source[{i}]", 1, (i, 4), unaligned=True) for i in (0, 1)),
        *(in_flight(f"source[{i}]") for i in (0, 1)),
        *(
            snapshot(f"sum[{i}]", state=summary(each), unaligned=True)
            for i, each in enumerate((BEFORE[:4], BEFORE[4:-1]))
        ),
        in_flight("sum[0]", ChannelContent(LEFT, False, ((1, 3),), summary(BEFORE[-1:]))),
        in_flight("sum[1]"),
        attempt(1),
        *(snapshot(f"source[{i}]", 2, (i, 4 + (i == 0))) for i in (0, 1)),
        snapshot("sum[0]", 2, state=summary(held)),
        snapshot("sum[1]", 2, state=summary(())),
    ]


bad(
    "skipped-differs",
    "what is left out is there all the same",
    _left_out(*BEFORE, (0, 4)),
    options={
        "execution.checkpointing.interval": "100 ms",
        "execution.checkpointing.recover-without-channel-state.checkpoint-id": "1",
    },
    claimed=frozenset(),
)
bad(
    "skipped-differs",
    "another record is missing too",
    _left_out(*BEFORE[:-1]),
    options={
        "execution.checkpointing.interval": "100 ms",
        "execution.checkpointing.recover-without-channel-state.checkpoint-id": "1",
    },
    claimed=frozenset(),
)
near(
    "skipped-differs",
    "only what is left out is missing",
    _left_out(*BEFORE[:-1], (0, 4)),
    options={
        "execution.checkpointing.interval": "100 ms",
        "execution.checkpointing.recover-without-channel-state.checkpoint-id": "1",
    },
    claimed=frozenset(),
)

near("state-extra", "state of the cut", _cut(BEFORE[:3], BEFORE[3:]))

bad("state-missing", "range missing in state", _cut(BEFORE[:1], BEFORE[3:]))
bad(
    "state-missing", "missing though at least once",
    _cut(BEFORE[:4], BEFORE[5:]),
    claimed=AT_LEAST_ONCE, options=COUNTING,
)  # fmt: skip
near(
    "state-missing", "complete and at least once", _cut(BEFORE[:4], BEFORE[4:]), claimed=AT_LEAST_ONCE, options=COUNTING
)

RECORDED: list[Line] = [task("source[0]", positions=((0, 0), (1, 0))), emitted(0, 4)]
"""A source starts with two partitions, reads from one, and records these positions."""


bad("source-position", "records last offset", *RECORDED, snapshot("source[0]", 1, (0, 3), (1, 0)))
bad("source-position", "forgets idle partition", *RECORDED, snapshot("source[0]", 1, (0, 4)))

# The second source emits nothing, and its position moves all the same.
bad(
    "source-position", "moves on beside one that reads",
    *(task(f"source[{i}]", positions=((i, 0),)) for i in (0, 1)), emitted(0, 4), snapshot("source[1]", 1, (1, 4)),
)  # fmt: skip


# Positions move, and what sources emit is in no history.
undecided("CUT", "nobody sees emissions", task("source[0]", positions=((0, 0),)), snapshot("source[0]", 1, (0, 4)))


near("source-position", "records next offset", *RECORDED, snapshot("source[0]", 1, (0, 4), (1, 0)))
