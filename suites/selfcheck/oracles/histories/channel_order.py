"""Histories for CUT: what is sent on a channel leaves it once and in order, held back or not."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model.events import AttemptStarted, CheckpointAborted, CheckpointTriggered, Event
from holdfast.harness.model.history import History
from holdfast.harness.model.jobs import FORWARD
from holdfast.suites.selfcheck.oracles.builder import OPTIONS, exhibits, story
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


UNALIGNED = {**OPTIONS, "execution.checkpointing.unaligned.enabled": "true"}


def _overtaken(
    *between: Event, after: tuple[Event, ...] = (), sent: str = "|1 |2", options: Mapping[str, str] = UNALIGNED
) -> History:
    """Checkpoint 2 is triggered behind what is given, and its barrier comes in front of that of checkpoint 1."""
    first, second = (CheckpointTriggered(checkpoint=checkpoint, participants=()) for checkpoint in (1, 2))
    return story(
        AttemptStarted(), first, *between, second, after, sends(LONE, sent), delivers(LONE, "|2 |1"),
        job=FORWARD, options=options,
    )  # fmt: skip


ABORTED = CheckpointAborted(checkpoint=1, reason="expired")


@near("channel-order")
def barrier_of_a_checkpoint_that_was_given_up_is_overtaken() -> History:
    return _overtaken(ABORTED)


@bad("channel-order")
def barrier_of_a_checkpoint_that_goes_on_is_overtaken() -> History:
    return _overtaken()


@bad("channel-order")
def barrier_is_overtaken_where_none_may() -> History:
    return _overtaken(ABORTED, options=OPTIONS)


@bad("channel-order")
def barrier_is_overtaken_before_its_checkpoint_is_given_up() -> History:
    return _overtaken(after=(ABORTED,))


@bad("channel-order")
def batch_is_overtaken_beside_a_barrier_that_may_be() -> History:
    return _overtaken(ABORTED, sent="0 |1 |2")


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
