"""Histories for CUT: what state, positions and batches in flight at a cut add up to."""

from __future__ import annotations

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


bad, near = exhibits("CUT")

bad(
    "state-extra", "record behind barrier in state",
    snapshot("source[0]", 1, (0, 4)), snapshot("source[1]", 1, (1, 4)), snapshot("sum[0]", state=summary(BEFORE[:4])),
    snapshot("sum[1]", state=summary([*BEFORE[4:], (1, 4)])),
)  # fmt: skip
bad(
    "state-extra", "record applied twice",
    snapshot("source[0]", 1, (0, 4)), snapshot("source[1]", 1, (1, 4)), snapshot("sum[0]", state=summary(BEFORE[:4])),
    snapshot("sum[1]", state=summary([*BEFORE[4:], (0, 2)])),
)  # fmt: skip
bad(
    "state-extra", "two records applied twice",
    snapshot("source[0]", 1, (0, 4)), snapshot("source[1]", 1, (1, 4)),
    snapshot("sum[0]", state=summary([*BEFORE[:4], (1, 0)])), snapshot("sum[1]", state=summary([*BEFORE[4:], (0, 2)])),
)  # fmt: skip


bad(
    "state-missing", "record neither in state nor in flight",
    snapshot("source[0]", 1, (0, 4), unaligned=True), snapshot("source[1]", 1, (1, 4), unaligned=True),
    in_flight("source[0]"), in_flight("source[1]"), snapshot("sum[0]", state=summary(BEFORE[:4]), unaligned=True),
    snapshot("sum[1]", state=summary(BEFORE[4:-1]), unaligned=True), in_flight("sum[0]"), in_flight("sum[1]"),
)  # fmt: skip

bad(
    "state-extra", "record in state and in flight",
    snapshot("source[0]", 1, (0, 4), unaligned=True), snapshot("source[1]", 1, (1, 4), unaligned=True),
    in_flight("source[0]"), in_flight("source[1]"), snapshot("sum[0]", state=summary(BEFORE[:4]), unaligned=True),
    snapshot("sum[1]", state=summary(BEFORE[4:-1]), unaligned=True),
    in_flight("sum[0]", ChannelContent(LEFT, False, ((1, 3),), summary((BEFORE[-1], BEFORE[0])))), in_flight("sum[1]"),
)  # fmt: skip

near(
    "state-missing", "last record is in flight",
    snapshot("source[0]", 1, (0, 4), unaligned=True), snapshot("source[1]", 1, (1, 4), unaligned=True),
    in_flight("source[0]"), in_flight("source[1]"), snapshot("sum[0]", state=summary(BEFORE[:4]), unaligned=True),
    snapshot("sum[1]", state=summary(BEFORE[4:-1]), unaligned=True),
    in_flight("sum[0]", ChannelContent(LEFT, False, ((1, 3),), summary((BEFORE[-1],)))), in_flight("sum[1]"),
)  # fmt: skip


bad(
    "skipped-differs",
    "what is left out is there all the same",
    attempt(),
    snapshot("source[0]", 1, (0, 4), unaligned=True),
    snapshot("source[1]", 1, (1, 4), unaligned=True),
    in_flight("source[0]"),
    in_flight("source[1]"),
    snapshot("sum[0]", state=summary(BEFORE[:4]), unaligned=True),
    snapshot("sum[1]", state=summary(BEFORE[4:-1]), unaligned=True),
    in_flight("sum[0]", ChannelContent(LEFT, False, ((1, 3),), summary(BEFORE[-1:]))),
    in_flight("sum[1]"),
    attempt(1),
    snapshot("source[0]", 2, (0, 5)),
    snapshot("source[1]", 2, (1, 4)),
    snapshot("sum[0]", 2, state=summary((*BEFORE, (0, 4)))),
    snapshot("sum[1]", 2, state=summary(())),
    options={
        "execution.checkpointing.interval": "100 ms",
        "execution.checkpointing.recover-without-channel-state.checkpoint-id": "1",
    },
    claimed=frozenset(),
)
bad(
    "skipped-differs",
    "another record is missing too",
    attempt(),
    snapshot("source[0]", 1, (0, 4), unaligned=True),
    snapshot("source[1]", 1, (1, 4), unaligned=True),
    in_flight("source[0]"),
    in_flight("source[1]"),
    snapshot("sum[0]", state=summary(BEFORE[:4]), unaligned=True),
    snapshot("sum[1]", state=summary(BEFORE[4:-1]), unaligned=True),
    in_flight("sum[0]", ChannelContent(LEFT, False, ((1, 3),), summary(BEFORE[-1:]))),
    in_flight("sum[1]"),
    attempt(1),
    snapshot("source[0]", 2, (0, 5)),
    snapshot("source[1]", 2, (1, 4)),
    snapshot("sum[0]", 2, state=summary((*BEFORE[:-1],))),
    snapshot("sum[1]", 2, state=summary(())),
    options={
        "execution.checkpointing.interval": "100 ms",
        "execution.checkpointing.recover-without-channel-state.checkpoint-id": "1",
    },
    claimed=frozenset(),
)
near(
    "skipped-differs",
    "only what is left out is missing",
    attempt(),
    snapshot("source[0]", 1, (0, 4), unaligned=True),
    snapshot("source[1]", 1, (1, 4), unaligned=True),
    in_flight("source[0]"),
    in_flight("source[1]"),
    snapshot("sum[0]", state=summary(BEFORE[:4]), unaligned=True),
    snapshot("sum[1]", state=summary(BEFORE[4:-1]), unaligned=True),
    in_flight("sum[0]", ChannelContent(LEFT, False, ((1, 3),), summary(BEFORE[-1:]))),
    in_flight("sum[1]"),
    attempt(1),
    snapshot("source[0]", 2, (0, 5)),
    snapshot("source[1]", 2, (1, 4)),
    snapshot("sum[0]", 2, state=summary((*BEFORE[:-1], (0, 4)))),
    snapshot("sum[1]", 2, state=summary(())),
    options={
        "execution.checkpointing.interval": "100 ms",
        "execution.checkpointing.recover-without-channel-state.checkpoint-id": "1",
    },
    claimed=frozenset(),
)

near(
    "state-extra", "state of the cut",
    snapshot("source[0]", 1, (0, 4)), snapshot("source[1]", 1, (1, 4)), snapshot("sum[0]", state=summary(BEFORE[:3])),
    snapshot("sum[1]", state=summary(BEFORE[3:])),
)  # fmt: skip

bad(
    "state-missing", "range missing in state",
    snapshot("source[0]", 1, (0, 4)), snapshot("source[1]", 1, (1, 4)), snapshot("sum[0]", state=summary(BEFORE[:1])),
    snapshot("sum[1]", state=summary(BEFORE[3:])),
)  # fmt: skip
bad(
    "state-missing", "missing though at least once",
    snapshot("source[0]", 1, (0, 4)), snapshot("source[1]", 1, (1, 4)), snapshot("sum[0]", state=summary(BEFORE[:4])),
    snapshot("sum[1]", state=summary(BEFORE[5:])), claimed=AT_LEAST_ONCE, options=COUNTING,
)  # fmt: skip
near(
    "state-missing", "complete and at least once",
    snapshot("source[0]", 1, (0, 4)), snapshot("source[1]", 1, (1, 4)), snapshot("sum[0]", state=summary(BEFORE[:4])),
    snapshot("sum[1]", state=summary(BEFORE[4:])), claimed=AT_LEAST_ONCE, options=COUNTING,
)  # fmt: skip

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
