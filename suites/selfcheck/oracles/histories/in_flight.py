"""Histories for CUT: barriers that overtake, and the batches in flight that a snapshot holds."""

from __future__ import annotations

from holdfast.harness.model.events import (
    ChannelContent,
)
from holdfast.harness.model.jobs import FORWARD
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits
from holdfast.suites.selfcheck.oracles.histories.channel_lines import ACROSS, LEFT, LONE, RIGHT
from holdfast.suites.selfcheck.oracles.lines import (
    Barrier,
    attempt,
    content,
    delivers,
    in_flight,
    overtaking,
    put_back,
    sends,
    snapshot,
)

OVERTAKEN: list[Line] = [
    attempt(), sends(LEFT, 0, 1, 2, 3, Barrier(1)), sends(ACROSS, Barrier(1)), snapshot("source[0]", unaligned=True),
]  # fmt: skip
"""Four batches are sent; the barrier overtakes the second at the receiver, and the last two at the sender."""


AT_THE_SENDER = (content(LEFT, 2, 3, output=True),)

bad, near = exhibits("CUT")

bad(
    "channel-state-missing", "overtaken batch is not stored",
    *OVERTAKEN, in_flight("source[0]", *AT_THE_SENDER), sends(LEFT, 4), delivers(LEFT, 0), overtaking(LEFT),
    snapshot("sum[0]", unaligned=True), in_flight("sum[0]"), delivers(LEFT, 1, 2, 3, 4),
)  # fmt: skip
bad(
    "channel-state-missing", "batch at the sender is not stored",
    *OVERTAKEN, in_flight("source[0]", content(LEFT, 3, output=True)), sends(LEFT, 4), delivers(LEFT, 0),
    overtaking(LEFT), snapshot("sum[0]", unaligned=True), in_flight("sum[0]", content(LEFT, 1)),
    delivers(LEFT, 1, 2, 3, 4),
)  # fmt: skip
bad(
    "channel-state-missing", "batch processed after the snapshot is not stored",
    attempt(), sends(LEFT, Barrier(1)), sends(RIGHT, 0, 1, Barrier(1)),
    *(snapshot(f"source[{i}]", unaligned=True) for i in (0, 1)), *(in_flight(f"source[{i}]") for i in (0, 1)),
    overtaking(LEFT), snapshot("sum[0]", unaligned=True), delivers(RIGHT, 0), overtaking(RIGHT),
    in_flight("sum[0]", content(RIGHT, 1)),
)  # fmt: skip

bad(
    "channel-state-extra", "processed batch is stored",
    *OVERTAKEN, in_flight("source[0]", *AT_THE_SENDER), sends(LEFT, 4), delivers(LEFT, 0), overtaking(LEFT),
    snapshot("sum[0]", unaligned=True), in_flight("sum[0]", content(LEFT, 0, 1)), delivers(LEFT, 1, 2, 3, 4),
)  # fmt: skip
bad(
    "channel-state-extra", "batch behind the barrier is stored",
    *OVERTAKEN, in_flight("source[0]", content(LEFT, 2, 3, 4, output=True)), sends(LEFT, 4), delivers(LEFT, 0),
    overtaking(LEFT), snapshot("sum[0]", unaligned=True), in_flight("sum[0]", content(LEFT, 1)),
    delivers(LEFT, 1, 2, 3, 4),
)  # fmt: skip
bad(
    "channel-state-extra", "batch is stored at both ends",
    *OVERTAKEN, in_flight("source[0]", *AT_THE_SENDER), sends(LEFT, 4), delivers(LEFT, 0), overtaking(LEFT),
    snapshot("sum[0]", unaligned=True), in_flight("sum[0]", content(LEFT, 1, 2)), delivers(LEFT, 1, 2, 3, 4),
)  # fmt: skip
bad(
    "channel-state-extra", "batches are stored in another order",
    *OVERTAKEN, in_flight("source[0]", content(LEFT, 3, 2, output=True)), sends(LEFT, 4), delivers(LEFT, 0),
    overtaking(LEFT), snapshot("sum[0]", unaligned=True), in_flight("sum[0]", content(LEFT, 1)),
    delivers(LEFT, 1, 2, 3, 4),
)  # fmt: skip

near(
    "channel-state-missing", "what is in flight is stored",
    *OVERTAKEN, in_flight("source[0]", *AT_THE_SENDER), sends(LEFT, 4), delivers(LEFT, 0), overtaking(LEFT),
    snapshot("sum[0]", unaligned=True), in_flight("sum[0]", content(LEFT, 1)), delivers(LEFT, 1, 2, 3, 4),
)  # fmt: skip

# Of two restored batches one is processed before the next cut; the numbers of the first attempt stay.
near(
    "channel-state-extra", "what is in flight again is stored again",
    attempt(), attempt(1), put_back("sum[0]", content(LEFT, 5, 6)), sends(LEFT, 0, Barrier(2)),
    snapshot("source[0]", 2, unaligned=True), in_flight("source[0]", checkpoint=2), delivers(LEFT, 5, origin=1),
    overtaking(LEFT, 2), snapshot("sum[0]", 2, unaligned=True),
    in_flight("sum[0]", ChannelContent(LEFT, False, ((1, 6), (2, 0))), checkpoint=2),
)  # fmt: skip

RESTORED: list[Line] = [
    attempt(), attempt(1), put_back("sum[0]", content(LEFT, 5)), put_back("source[0]", content(LEFT, 6, output=True)),
    sends(LEFT, 0, 1),
]  # fmt: skip
"""Batches 5 and 6 of the first attempt are put back, one at either end; then these are processed."""


bad(
    "restored-order", "new batch comes first",
    *RESTORED, delivers(LEFT, 0), delivers(LEFT, 5, origin=1), delivers(LEFT, 6, origin=1),
)  # fmt: skip
bad("restored-order", "restored batch is left out", *RESTORED, delivers(LEFT, 5, origin=1), delivers(LEFT, 0))
bad(
    "restored-order", "restored batch is processed twice",
    *RESTORED, delivers(LEFT, 5, origin=1), delivers(LEFT, 6, origin=1), delivers(LEFT, 6, origin=1), delivers(LEFT, 0),
)  # fmt: skip
near(
    "restored-order", "restored batches come first",
    *RESTORED, delivers(LEFT, 5, origin=1), delivers(LEFT, 6, origin=1), delivers(LEFT, 0), delivers(LEFT, 1),
)  # fmt: skip

bad(
    "channel-order", "barrier in front of what it did not overtake",
    sends(LONE, 0, 1, Barrier(1), 2, Barrier(2)), delivers(LONE, 0, Barrier(1)), overtaking(LONE, 2),
    delivers(LONE, 1, 2), job=FORWARD,
)  # fmt: skip

bad(
    "overtaken-pointwise", "barrier overtakes on a forward edge",
    sends(LONE, 0, Barrier(1)), delivers(LONE, 0), overtaking(LONE), snapshot("map[0]", unaligned=True), job=FORWARD,
)  # fmt: skip
bad(
    "overtaken-pointwise", "forward edge is stored",
    sends(LONE, Barrier(1)), delivers(LONE, Barrier(1)), snapshot("map[0]", unaligned=True),
    in_flight("map[0]", content(LONE, 0)), job=FORWARD,
)  # fmt: skip
near(
    "overtaken-pointwise", "forward edge keeps its order",
    sends(LONE, 0, Barrier(1), 1), delivers(LONE, 0, Barrier(1)), snapshot("map[0]", unaligned=True),
    in_flight("map[0]"), delivers(LONE, 1), job=FORWARD,
)  # fmt: skip

# The barrier came early on one input, and the snapshot waits for the other: what it overtook may still come.
near(
    "processed-while-blocked", "overtaken batches are processed before the snapshot",
    sends(LEFT, 0, 1, Barrier(1), 2), sends(RIGHT, 0, Barrier(1)), overtaking(LEFT), delivers(LEFT, 0, 1),
    delivers(RIGHT, 0, Barrier(1)), snapshot("sum[0]", unaligned=True), delivers(LEFT, 2),
)  # fmt: skip
bad(
    "processed-while-blocked", "batch behind an overtaking barrier is processed",
    sends(LEFT, 0, Barrier(1), 1), sends(RIGHT, 0, Barrier(1)), overtaking(LEFT), delivers(LEFT, 0, 1),
    delivers(RIGHT, 0, Barrier(1)), snapshot("sum[0]", unaligned=True),
)  # fmt: skip
