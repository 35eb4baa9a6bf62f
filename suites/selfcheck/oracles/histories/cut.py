"""Histories for CUT: the order on channels, what adds up at a cut, and batches in flight there."""

from __future__ import annotations

from holdfast.harness.model.capability import AT_LEAST_ONCE
from holdfast.harness.model.events import ChannelContent, ChannelStateRestored
from holdfast.harness.model.jobs import FORWARD
from holdfast.suites.selfcheck.oracles.builder import OPTIONS, Line, exhibits, undecided
from holdfast.suites.selfcheck.oracles.legal import summary
from holdfast.suites.selfcheck.oracles.lines import (
    Barrier, aborted, attempt, content, delivers, emitted, in_flight, sends, snapshot, task, triggered,
)  # fmt: skip

# --- Channels of the keyed sum with two sources, and of the forward job -----------------------------------------------


LEFT, RIGHT, ACROSS = "source[0]->sum[0]", "source[1]->sum[0]", "source[0]->sum[1]"
BELOW, LONE = "sum[0]->sink[0]", "source[0]->map[0]"
COUNTING = {"execution.checkpointing.interval": "100 ms", "execution.checkpointing.mode": "AT_LEAST_ONCE"}

# --- CUT: what is sent on a channel leaves it once and in order, held back or not -------------------------------------

bad, near = exhibits("CUT")

bad("channel-order", "batch dropped", sends(LEFT, 0, 1, 2), delivers(LEFT, 0, 2))
bad("channel-order", "batch repeated", sends(LEFT, 0, 1), delivers(LEFT, 0, 0))
bad("channel-order", "barrier overtaken", sends(LONE, 0, Barrier(1), 1), delivers(LONE, 0, 1, Barrier(1)), job=FORWARD)
bad("channel-order", "batch made up", sends(LEFT, 0), delivers(LEFT, 0, 1))
near("channel-order", "batch in flight",
     sends(LONE, 0, Barrier(1), 1, 2), delivers(LONE, 0, Barrier(1), 1), job=FORWARD)  # fmt: skip
UNALIGNED = {**OPTIONS, "execution.checkpointing.unaligned.enabled": "true"}
ABORTED = aborted()

# Checkpoint 2 is triggered later, and its barrier comes in front of that of checkpoint 1.
near("channel-order", "barrier of a checkpoint that was given up is overtaken",
     attempt(), triggered(), ABORTED, triggered(2), sends(LONE, Barrier(1), Barrier(2)),
     delivers(LONE, Barrier(2), Barrier(1)), job=FORWARD, options=UNALIGNED)  # fmt: skip
bad("channel-order", "barrier of a checkpoint that goes on is overtaken",
    attempt(), triggered(), triggered(2), sends(LONE, Barrier(1), Barrier(2)), delivers(LONE, Barrier(2), Barrier(1)),
    job=FORWARD, options=UNALIGNED)  # fmt: skip
bad("channel-order", "barrier is overtaken where none may",
    attempt(), triggered(), ABORTED, triggered(2), sends(LONE, Barrier(1), Barrier(2)),
    delivers(LONE, Barrier(2), Barrier(1)), job=FORWARD, options=OPTIONS)  # fmt: skip
bad("channel-order", "barrier is overtaken before its checkpoint is given up",
    attempt(), triggered(), triggered(2), ABORTED, sends(LONE, Barrier(1), Barrier(2)),
    delivers(LONE, Barrier(2), Barrier(1)), job=FORWARD, options=UNALIGNED)  # fmt: skip
bad("channel-order", "batch is overtaken beside a barrier that may be",
    attempt(), triggered(), ABORTED, triggered(2), sends(LONE, 0, Barrier(1), Barrier(2)),
    delivers(LONE, Barrier(2), Barrier(1)), job=FORWARD, options=UNALIGNED)  # fmt: skip

ALIGNED: list[Line] = [
    sends(LEFT, Barrier(1), 0, 1), sends(RIGHT, 0, Barrier(1)), delivers(LEFT, Barrier(1)),
    delivers(RIGHT, 0, Barrier(1)),
]  # fmt: skip
"""Checkpoint 1 aligns with batches 0 and 1 held behind its barrier; then comes what is given."""

bad("held-records", "held batch dropped", *ALIGNED, delivers(LEFT, 1))
bad("held-records", "held batches swapped", *ALIGNED, delivers(LEFT, 1, 0))
bad("held-records", "held batch repeated", *ALIGNED, delivers(LEFT, 0, 0))
near("held-records", "held batches processed", *ALIGNED, delivers(LEFT, 0, 1))

# --- CUT: what state, positions and batches in flight at a cut add up to ----------------------------------------------

BEFORE = [(partition, offset) for partition in (0, 1) for offset in range(4)]
"""The records before a cut at offset 4 of both partitions."""

bad, near = exhibits("CUT")

SOURCES: list[Line] = [snapshot("source[0]", 1, (0, 4)), snapshot("source[1]", 1, (1, 4))]

bad("state-extra", "record behind barrier in state",
    *SOURCES, snapshot("sum[0]", state=summary(BEFORE[:4])),
    snapshot("sum[1]", state=summary([*BEFORE[4:], (1, 4)])))  # fmt: skip
bad("state-extra", "record applied twice",
    *SOURCES, snapshot("sum[0]", state=summary(BEFORE[:4])),
    snapshot("sum[1]", state=summary([*BEFORE[4:], (0, 2)])))  # fmt: skip
bad("state-extra", "two records applied twice",
    *SOURCES, snapshot("sum[0]", state=summary([*BEFORE[:4], (1, 0)])),
    snapshot("sum[1]", state=summary([*BEFORE[4:], (0, 2)])))  # fmt: skip

UNALIGNED_CUT: list[Line] = [
    snapshot("source[0]", 1, (0, 4), unaligned=True), snapshot("source[1]", 1, (1, 4), unaligned=True),
    in_flight("source[0]"), in_flight("source[1]"), snapshot("sum[0]", state=summary(BEFORE[:4]), unaligned=True),
    snapshot("sum[1]", state=summary(BEFORE[4:-1]), unaligned=True),
]  # fmt: skip
"""The last record before the cut is not in the state of the sums."""

# Unaligned: the sums hold all but the last record, and this is stored as being in flight.
bad("state-missing", "record neither in state nor in flight", *UNALIGNED_CUT, in_flight("sum[0]"), in_flight("sum[1]"))

bad("state-extra", "record in state and in flight",
    *UNALIGNED_CUT, in_flight("sum[0]", ChannelContent(LEFT, False, ((1, 3),), summary((BEFORE[-1], BEFORE[0])))),
    in_flight("sum[1]"))  # fmt: skip

near("state-missing", "last record is in flight",
     *UNALIGNED_CUT, in_flight("sum[0]", ChannelContent(LEFT, False, ((1, 3),), summary((BEFORE[-1],)))),
     in_flight("sum[1]"))  # fmt: skip

LEFT_OUT = {
    "execution.checkpointing.interval": "100 ms",
    "execution.checkpointing.recover-without-channel-state.checkpoint-id": "1",
}

# The last record before the first cut was in flight and is left out; at the second the sums hold these.
bad("skipped-differs", "what is left out is there all the same",
    attempt(), *UNALIGNED_CUT, in_flight("sum[0]", ChannelContent(LEFT, False, ((1, 3),), summary(BEFORE[-1:]))),
    in_flight("sum[1]"), attempt(1), snapshot("source[0]", 2, (0, 5)), snapshot("source[1]", 2, (1, 4)),
    snapshot("sum[0]", 2, state=summary((*BEFORE, (0, 4)))), snapshot("sum[1]", 2, state=summary(())), options=LEFT_OUT,
    claimed=frozenset())  # fmt: skip
bad("skipped-differs", "another record is missing too",
    attempt(), *UNALIGNED_CUT, in_flight("sum[0]", ChannelContent(LEFT, False, ((1, 3),), summary(BEFORE[-1:]))),
    in_flight("sum[1]"), attempt(1), snapshot("source[0]", 2, (0, 5)), snapshot("source[1]", 2, (1, 4)),
    snapshot("sum[0]", 2, state=summary((*BEFORE[:-1],))), snapshot("sum[1]", 2, state=summary(())), options=LEFT_OUT,
    claimed=frozenset())  # fmt: skip
near("skipped-differs", "only what is left out is missing",
     attempt(), *UNALIGNED_CUT, in_flight("sum[0]", ChannelContent(LEFT, False, ((1, 3),), summary(BEFORE[-1:]))),
     in_flight("sum[1]"), attempt(1), snapshot("source[0]", 2, (0, 5)), snapshot("source[1]", 2, (1, 4)),
     snapshot("sum[0]", 2, state=summary((*BEFORE[:-1], (0, 4)))), snapshot("sum[1]", 2, state=summary(())),
     options=LEFT_OUT, claimed=frozenset())  # fmt: skip

near("state-extra", "state of the cut",
     *SOURCES, snapshot("sum[0]", state=summary(BEFORE[:3])),
     snapshot("sum[1]", state=summary(BEFORE[3:])))  # fmt: skip

bad("state-missing", "range missing in state",
    *SOURCES, snapshot("sum[0]", state=summary(BEFORE[:1])),
    snapshot("sum[1]", state=summary(BEFORE[3:])))  # fmt: skip
bad("state-missing", "missing though at least once",
    *SOURCES, snapshot("sum[0]", state=summary(BEFORE[:4])), snapshot("sum[1]", state=summary(BEFORE[5:])),
    claimed=AT_LEAST_ONCE, options=COUNTING)  # fmt: skip
near("state-missing", "complete and at least once",
     *SOURCES, snapshot("sum[0]", state=summary(BEFORE[:4])), snapshot("sum[1]", state=summary(BEFORE[4:])),
     claimed=AT_LEAST_ONCE, options=COUNTING)  # fmt: skip

RECORDED: list[Line] = [task("source[0]", positions=((0, 0), (1, 0))), emitted(0, 4)]
"""A source starts with two partitions, reads from one, and records these positions."""

bad("source-position", "records last offset", *RECORDED, snapshot("source[0]", 1, (0, 3), (1, 0)))
bad("source-position", "forgets idle partition", *RECORDED, snapshot("source[0]", 1, (0, 4)))

# The second source emits nothing, and its position moves all the same.
bad("source-position", "moves on beside one that reads",
    *(task(f"source[{i}]", positions=((i, 0),)) for i in (0, 1)), emitted(0, 4),
    snapshot("source[1]", 1, (1, 4)))  # fmt: skip

# Positions move, and what sources emit is in no history.
undecided("CUT", "nobody sees emissions", task("source[0]", positions=((0, 0),)), snapshot("source[0]", 1, (0, 4)))

near("source-position", "records next offset", *RECORDED, snapshot("source[0]", 1, (0, 4), (1, 0)))

# --- CUT: barriers that overtake, and the batches in flight that a snapshot holds -------------------------------------

OVERTAKEN: list[Line] = [
    attempt(), sends(LEFT, 0, 1, 2, 3, Barrier(1)), sends(ACROSS, Barrier(1)), snapshot("source[0]", unaligned=True),
]  # fmt: skip
"""Four batches are sent; the barrier overtakes the second at the receiver, and the last two at the sender."""

AT_THE_SENDER, AT_THE_RECEIVER = content(LEFT, 2, 3, output=True), content(LEFT, 1)

BARRIER_PASSES: list[Line] = [
    sends(LEFT, 4), delivers(LEFT, 0), delivers(LEFT, Barrier(1, overtaking=True)), snapshot("sum[0]", unaligned=True),
]  # fmt: skip

bad, near = exhibits("CUT")

bad("channel-state-missing", "overtaken batch is not stored",
    *OVERTAKEN, in_flight("source[0]", AT_THE_SENDER), BARRIER_PASSES, in_flight("sum[0]"),
    delivers(LEFT, 1, 2, 3, 4))  # fmt: skip
bad("channel-state-missing", "batch at the sender is not stored",
    *OVERTAKEN, in_flight("source[0]", content(LEFT, 3, output=True)), BARRIER_PASSES,
    in_flight("sum[0]", AT_THE_RECEIVER), delivers(LEFT, 1, 2, 3, 4))  # fmt: skip
bad("channel-state-missing", "batch processed after the snapshot is not stored",
    attempt(), sends(LEFT, Barrier(1)), sends(RIGHT, 0, 1, Barrier(1)),
    *(snapshot(f"source[{i}]", unaligned=True) for i in (0, 1)), *(in_flight(f"source[{i}]") for i in (0, 1)),
    delivers(LEFT, Barrier(1, overtaking=True)), snapshot("sum[0]", unaligned=True), delivers(RIGHT, 0),
    delivers(RIGHT, Barrier(1, overtaking=True)), in_flight("sum[0]", content(RIGHT, 1)))  # fmt: skip

bad("channel-state-extra", "processed batch is stored",
    *OVERTAKEN, in_flight("source[0]", AT_THE_SENDER), BARRIER_PASSES, in_flight("sum[0]", content(LEFT, 0, 1)),
    delivers(LEFT, 1, 2, 3, 4))  # fmt: skip
bad("channel-state-extra", "batch behind the barrier is stored",
    *OVERTAKEN, in_flight("source[0]", content(LEFT, 2, 3, 4, output=True)), BARRIER_PASSES,
    in_flight("sum[0]", AT_THE_RECEIVER), delivers(LEFT, 1, 2, 3, 4))  # fmt: skip
bad("channel-state-extra", "batch is stored at both ends",
    *OVERTAKEN, in_flight("source[0]", AT_THE_SENDER), BARRIER_PASSES, in_flight("sum[0]", content(LEFT, 1, 2)),
    delivers(LEFT, 1, 2, 3, 4))  # fmt: skip
bad("channel-state-extra", "batches are stored in another order",
    *OVERTAKEN, in_flight("source[0]", content(LEFT, 3, 2, output=True)), BARRIER_PASSES,
    in_flight("sum[0]", AT_THE_RECEIVER), delivers(LEFT, 1, 2, 3, 4))  # fmt: skip

near("channel-state-missing", "what is in flight is stored",
     *OVERTAKEN, in_flight("source[0]", AT_THE_SENDER), BARRIER_PASSES, in_flight("sum[0]", AT_THE_RECEIVER),
     delivers(LEFT, 1, 2, 3, 4))  # fmt: skip

# Of two restored batches one is processed before the next cut; the numbers of the first attempt stay.
near("channel-state-extra", "what is in flight again is stored again",
     attempt(), attempt(1), ChannelStateRestored(subtask="sum[0]", checkpoint=1, channels=(content(LEFT, 5, 6),)),
     sends(LEFT, 0, Barrier(2)), snapshot("source[0]", 2, unaligned=True), in_flight("source[0]", checkpoint=2),
     delivers(LEFT, 5, origin=1), delivers(LEFT, Barrier(2, overtaking=True)), snapshot("sum[0]", 2, unaligned=True),
     in_flight("sum[0]", ChannelContent(LEFT, False, ((1, 6), (2, 0))), checkpoint=2))  # fmt: skip

RESTORED: list[Line] = [
    attempt(), attempt(1), ChannelStateRestored(subtask="sum[0]", checkpoint=1, channels=(content(LEFT, 5),)),
    ChannelStateRestored(subtask="source[0]", checkpoint=1, channels=(content(LEFT, 6, output=True),)),
    sends(LEFT, 0, 1),
]  # fmt: skip
"""Batches 5 and 6 of the first attempt are put back, one at either end; then these are processed."""

bad("restored-order", "new batch comes first",
    *RESTORED, delivers(LEFT, 0), delivers(LEFT, 5, origin=1), delivers(LEFT, 6, origin=1))  # fmt: skip
bad("restored-order", "restored batch is left out", *RESTORED, delivers(LEFT, 5, origin=1), delivers(LEFT, 0))
bad("restored-order", "restored batch is processed twice",
    *RESTORED, delivers(LEFT, 5, origin=1), delivers(LEFT, 6, origin=1), delivers(LEFT, 6, origin=1),
    delivers(LEFT, 0))  # fmt: skip
near("restored-order", "restored batches come first",
     *RESTORED, delivers(LEFT, 5, origin=1), delivers(LEFT, 6, origin=1), delivers(LEFT, 0),
     delivers(LEFT, 1))  # fmt: skip

bad("channel-order", "barrier in front of what it did not overtake",
    sends(LONE, 0, 1, Barrier(1), 2, Barrier(2)), delivers(LONE, 0, Barrier(1)),
    delivers(LONE, Barrier(2, overtaking=True)), delivers(LONE, 1, 2), job=FORWARD)  # fmt: skip

bad("overtaken-pointwise", "barrier overtakes on a forward edge",
    sends(LONE, 0, Barrier(1)), delivers(LONE, 0), delivers(LONE, Barrier(1, overtaking=True)),
    snapshot("map[0]", unaligned=True), job=FORWARD)  # fmt: skip
bad("overtaken-pointwise", "forward edge is stored",
    sends(LONE, Barrier(1)), delivers(LONE, Barrier(1)), snapshot("map[0]", unaligned=True),
    in_flight("map[0]", content(LONE, 0)), job=FORWARD)  # fmt: skip
near("overtaken-pointwise", "forward edge keeps its order",
     sends(LONE, 0, Barrier(1), 1), delivers(LONE, 0, Barrier(1)), snapshot("map[0]", unaligned=True),
     in_flight("map[0]"), delivers(LONE, 1), job=FORWARD)  # fmt: skip

# The barrier came early on one input, and the snapshot waits for the other: what it overtook may still come.
near("processed-while-blocked", "overtaken batches are processed before the snapshot",
     sends(LEFT, 0, 1, Barrier(1), 2), sends(RIGHT, 0, Barrier(1)), delivers(LEFT, Barrier(1, overtaking=True)),
     delivers(LEFT, 0, 1), delivers(RIGHT, 0, Barrier(1)), snapshot("sum[0]", unaligned=True),
     delivers(LEFT, 2))  # fmt: skip
bad("processed-while-blocked", "batch behind an overtaking barrier is processed",
    sends(LEFT, 0, Barrier(1), 1), sends(RIGHT, 0, Barrier(1)), delivers(LEFT, Barrier(1, overtaking=True)),
    delivers(LEFT, 0, 1), delivers(RIGHT, 0, Barrier(1)), snapshot("sum[0]", unaligned=True))  # fmt: skip
