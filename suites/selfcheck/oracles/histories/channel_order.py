"""Histories for CUT: what is sent on a channel leaves it once and in order, held back or not."""

from __future__ import annotations

from holdfast.harness.model.jobs import FORWARD
from holdfast.suites.selfcheck.oracles.builder import OPTIONS, Line, exhibits
from holdfast.suites.selfcheck.oracles.histories.channel_lines import LEFT, LONE, RIGHT
from holdfast.suites.selfcheck.oracles.lines import Barrier, aborted, attempt, delivers, sends, triggered

bad, near = exhibits("CUT")

bad("channel-order", "batch dropped", sends(LEFT, 0, 1, 2), delivers(LEFT, 0, 2))
bad("channel-order", "batch repeated", sends(LEFT, 0, 1), delivers(LEFT, 0, 0))
bad("channel-order", "barrier overtaken", sends(LONE, 0, Barrier(1), 1), delivers(LONE, 0, 1, Barrier(1)), job=FORWARD)
bad("channel-order", "batch made up", sends(LEFT, 0), delivers(LEFT, 0, 1))
near(
    "channel-order", "batch in flight", sends(LONE, 0, Barrier(1), 1, 2), delivers(LONE, 0, Barrier(1), 1), job=FORWARD
)
UNALIGNED = {**OPTIONS, "execution.checkpointing.unaligned.enabled": "true"}


ABORTED = aborted()

near(
    "channel-order", "barrier of a checkpoint that was given up is overtaken",
    attempt(), triggered(), ABORTED, triggered(2), sends(LONE, Barrier(1), Barrier(2)),
    delivers(LONE, Barrier(2), Barrier(1)), job=FORWARD, options=UNALIGNED,
)  # fmt: skip
bad(
    "channel-order", "barrier of a checkpoint that goes on is overtaken",
    attempt(), triggered(), triggered(2), sends(LONE, Barrier(1), Barrier(2)), delivers(LONE, Barrier(2), Barrier(1)),
    job=FORWARD, options=UNALIGNED,
)  # fmt: skip
bad(
    "channel-order", "barrier is overtaken where none may",
    attempt(), triggered(), ABORTED, triggered(2), sends(LONE, Barrier(1), Barrier(2)),
    delivers(LONE, Barrier(2), Barrier(1)), job=FORWARD, options=OPTIONS,
)  # fmt: skip
bad(
    "channel-order", "barrier is overtaken before its checkpoint is given up",
    attempt(), triggered(), triggered(2), ABORTED, sends(LONE, Barrier(1), Barrier(2)),
    delivers(LONE, Barrier(2), Barrier(1)), job=FORWARD, options=UNALIGNED,
)  # fmt: skip
bad(
    "channel-order", "batch is overtaken beside a barrier that may be",
    attempt(), triggered(), ABORTED, triggered(2), sends(LONE, 0, Barrier(1), Barrier(2)),
    delivers(LONE, Barrier(2), Barrier(1)), job=FORWARD, options=UNALIGNED,
)  # fmt: skip

ALIGNED: list[Line] = [
    sends(LEFT, Barrier(1), 0, 1), sends(RIGHT, 0, Barrier(1)), delivers(LEFT, Barrier(1)),
    delivers(RIGHT, 0, Barrier(1)),
]  # fmt: skip
"""Checkpoint 1 aligns with batches 0 and 1 held behind its barrier; then comes what is given."""


bad("held-records", "held batch dropped", *ALIGNED, delivers(LEFT, 1))
bad("held-records", "held batches swapped", *ALIGNED, delivers(LEFT, 1, 0))
bad("held-records", "held batch repeated", *ALIGNED, delivers(LEFT, 0, 0))
near("held-records", "held batches processed", *ALIGNED, delivers(LEFT, 0, 1))
