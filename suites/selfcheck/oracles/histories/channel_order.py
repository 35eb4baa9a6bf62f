"""Histories for CUT: what is sent on a channel leaves it once and in order, held back or not."""

from __future__ import annotations

from holdfast.harness.model.events import Event
from holdfast.harness.model.history import History
from holdfast.harness.model.jobs import FORWARD
from holdfast.suites.selfcheck.oracles.builder import exhibits, story
from holdfast.suites.selfcheck.oracles.histories.channel_lines import LEFT, LONE, RIGHT, delivers, sends

bad, near = exhibits("CUT")


@bad("channel-order")
def batch_dropped() -> History:
    return story(sends(LEFT, "0 1 2"), delivers(LEFT, "0 2"))


@bad("channel-order")
def batch_repeated() -> History:
    return story(sends(LEFT, "0 1"), delivers(LEFT, "0 0"))


@bad("channel-order")
def barrier_overtaken() -> History:
    return story(sends(LONE, "0 |1 1"), delivers(LONE, "0 1 |1"), job=FORWARD)


@bad("channel-order")
def batch_made_up() -> History:
    return story(sends(LEFT, "0"), delivers(LEFT, "0 1"))


@near("channel-order")
def batch_in_flight() -> History:
    return story(sends(LONE, "0 |1 1 2"), delivers(LONE, "0 |1 1"), job=FORWARD)


def _aligned(*after: Event) -> History:
    """Checkpoint 1 aligns with batches 0 and 1 held behind its barrier; then comes what is given."""
    return story(
        sends(LEFT, "|1 0 1"), sends(RIGHT, "0 |1"), delivers(LEFT, "|1"), delivers(RIGHT, "0 |1"), after
    )  # fmt: skip


@bad("held-records")
def held_batch_dropped() -> History:
    return _aligned(*delivers(LEFT, "1"))


@bad("held-records")
def held_batches_swapped() -> History:
    return _aligned(*delivers(LEFT, "1 0"))


@bad("held-records")
def held_batch_repeated() -> History:
    return _aligned(*delivers(LEFT, "0 0"))


@near("held-records")
def held_batches_processed() -> History:
    return _aligned(*delivers(LEFT, "0 1"))
