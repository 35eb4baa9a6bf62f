"""Histories for CUT: barriers that overtake, and the batches in flight that a snapshot holds."""

from __future__ import annotations

from holdfast.harness.model.events import (
    AttemptStarted,
    BarrierReceived,
    BatchProcessed,
    ChannelContent,
    ChannelStateRestored,
    ChannelStateTaken,
    SnapshotTaken,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.jobs import FORWARD
from holdfast.suites.selfcheck.oracles.builder import exhibits, story
from holdfast.suites.selfcheck.oracles.histories.channel_lines import ACROSS, LEFT, LONE, RIGHT, delivers, sends

bad, near = exhibits("CUT")


def content(channel: str, *positions: int, attempt: int = 1, output: bool = False) -> ChannelContent:
    """In-flight batches of a channel, counted in one attempt."""
    return ChannelContent(channel, output, tuple((attempt, position) for position in positions))


def overtaking(channel: str, checkpoint: int = 1) -> BarrierReceived:
    return BarrierReceived(channel=channel, checkpoint=checkpoint, overtaking=True)


def _overtaken(*stored: ChannelContent, sender: tuple[ChannelContent, ...] = ()) -> History:
    """Four batches are sent; the barrier overtakes the second at the receiver, and the last two at the sender."""
    return story(
        AttemptStarted(),
        sends(LEFT, "0 1 2 3 |1"),
        sends(ACROSS, "|1"),
        SnapshotTaken(subtask="source[0]", checkpoint=1, unaligned=True),
        ChannelStateTaken(subtask="source[0]", checkpoint=1, channels=sender),
        sends(LEFT, "4"),
        delivers(LEFT, "0"),
        overtaking(LEFT),
        SnapshotTaken(subtask="sum[0]", checkpoint=1, unaligned=True),
        ChannelStateTaken(subtask="sum[0]", checkpoint=1, channels=stored),
        delivers(LEFT, "1 2 3 4"),
    )


AT_THE_SENDER = (content(LEFT, 2, 3, output=True),)


@bad("channel-state-missing")
def overtaken_batch_is_not_stored() -> History:
    return _overtaken(sender=AT_THE_SENDER)


@bad("channel-state-missing")
def batch_at_the_sender_is_not_stored() -> History:
    return _overtaken(content(LEFT, 1), sender=(content(LEFT, 3, output=True),))


@bad("channel-state-missing")
def batch_processed_after_the_snapshot_is_not_stored() -> History:
    return story(
        AttemptStarted(),
        sends(LEFT, "|1"),
        sends(RIGHT, "0 1 |1"),
        *(SnapshotTaken(subtask=f"source[{i}]", checkpoint=1, unaligned=True) for i in (0, 1)),
        *(ChannelStateTaken(subtask=f"source[{i}]", checkpoint=1) for i in (0, 1)),
        overtaking(LEFT),
        SnapshotTaken(subtask="sum[0]", checkpoint=1, unaligned=True),
        delivers(RIGHT, "0"),
        overtaking(RIGHT),
        ChannelStateTaken(subtask="sum[0]", checkpoint=1, channels=(content(RIGHT, 1),)),
    )


@bad("channel-state-extra")
def processed_batch_is_stored() -> History:
    return _overtaken(content(LEFT, 0, 1), sender=AT_THE_SENDER)


@bad("channel-state-extra")
def batch_behind_the_barrier_is_stored() -> History:
    return _overtaken(content(LEFT, 1), sender=(content(LEFT, 2, 3, 4, output=True),))


@bad("channel-state-extra")
def batch_is_stored_at_both_ends() -> History:
    return _overtaken(content(LEFT, 1, 2), sender=AT_THE_SENDER)


@bad("channel-state-extra")
def batches_are_stored_in_another_order() -> History:
    return _overtaken(content(LEFT, 1), sender=(content(LEFT, 3, 2, output=True),))


@near("channel-state-missing")
def what_is_in_flight_is_stored() -> History:
    return _overtaken(content(LEFT, 1), sender=AT_THE_SENDER)


@near("channel-state-extra")
def what_is_in_flight_again_is_stored_again() -> History:
    """Of two restored batches one is processed before the next cut; the numbers of the first attempt stay."""
    return story(
        AttemptStarted(),
        AttemptStarted(restored_checkpoint=1),
        ChannelStateRestored(subtask="sum[0]", checkpoint=1, channels=(content(LEFT, 5, 6),)),
        sends(LEFT, "0 |2"),
        SnapshotTaken(subtask="source[0]", checkpoint=2, unaligned=True),
        ChannelStateTaken(subtask="source[0]", checkpoint=2),
        BatchProcessed(channel=LEFT, position=5, records=1, origin=1),
        overtaking(LEFT, 2),
        SnapshotTaken(subtask="sum[0]", checkpoint=2, unaligned=True),
        ChannelStateTaken(subtask="sum[0]", checkpoint=2, channels=(ChannelContent(LEFT, False, ((1, 6), (2, 0))),)),
    )


def _restored(*processed: BatchProcessed) -> History:
    """Batches 5 and 6 of the first attempt are put back, one at either end; then these are processed."""
    return story(
        AttemptStarted(),
        AttemptStarted(restored_checkpoint=1),
        ChannelStateRestored(subtask="sum[0]", checkpoint=1, channels=(content(LEFT, 5),)),
        ChannelStateRestored(subtask="source[0]", checkpoint=1, channels=(content(LEFT, 6, output=True),)),
        sends(LEFT, "0 1"),
        processed,
    )


def _again(position: int) -> BatchProcessed:
    return BatchProcessed(channel=LEFT, position=position, records=1, origin=1)


def _new(position: int) -> BatchProcessed:
    return BatchProcessed(channel=LEFT, position=position, records=1)


@bad("restored-order")
def new_batch_comes_first() -> History:
    return _restored(_new(0), _again(5), _again(6))


@bad("restored-order")
def restored_batch_is_left_out() -> History:
    return _restored(_again(5), _new(0))


@bad("restored-order")
def restored_batch_is_processed_twice() -> History:
    return _restored(_again(5), _again(6), _again(6), _new(0))


@near("restored-order")
def restored_batches_come_first() -> History:
    return _restored(_again(5), _again(6), _new(0), _new(1))


@bad("channel-order")
def barrier_in_front_of_what_it_did_not_overtake() -> History:
    return story(
        sends(LONE, "0 1 |1 2 |2"), delivers(LONE, "0 |1"), overtaking(LONE, 2), delivers(LONE, "1 2"), job=FORWARD
    )


@bad("overtaken-pointwise")
def barrier_overtakes_on_a_forward_edge() -> History:
    return story(
        sends(LONE, "0 |1"),
        delivers(LONE, "0"),
        overtaking(LONE),
        SnapshotTaken(subtask="map[0]", checkpoint=1, unaligned=True),
        job=FORWARD,
    )


@bad("overtaken-pointwise")
def forward_edge_is_stored() -> History:
    return story(
        sends(LONE, "|1"),
        delivers(LONE, "|1"),
        SnapshotTaken(subtask="map[0]", checkpoint=1, unaligned=True),
        ChannelStateTaken(subtask="map[0]", checkpoint=1, channels=(content(LONE, 0),)),
        job=FORWARD,
    )


@near("overtaken-pointwise")
def forward_edge_keeps_its_order() -> History:
    return story(
        sends(LONE, "0 |1 1"),
        delivers(LONE, "0 |1"),
        SnapshotTaken(subtask="map[0]", checkpoint=1, unaligned=True),
        ChannelStateTaken(subtask="map[0]", checkpoint=1),
        delivers(LONE, "1"),
        job=FORWARD,
    )


@near("processed-while-blocked")
def overtaken_batches_are_processed_before_the_snapshot() -> History:
    """The barrier came early on one input, and the snapshot waits for the other: what it overtook may still come."""
    return story(
        sends(LEFT, "0 1 |1 2"),
        sends(RIGHT, "0 |1"),
        overtaking(LEFT),
        delivers(LEFT, "0 1"),
        delivers(RIGHT, "0 |1"),
        SnapshotTaken(subtask="sum[0]", checkpoint=1, unaligned=True),
        delivers(LEFT, "2"),
    )


@bad("processed-while-blocked")
def batch_behind_an_overtaking_barrier_is_processed() -> History:
    return story(
        sends(LEFT, "0 |1 1"),
        sends(RIGHT, "0 |1"),
        overtaking(LEFT),
        delivers(LEFT, "0 1"),
        delivers(RIGHT, "0 |1"),
        SnapshotTaken(subtask="sum[0]", checkpoint=1, unaligned=True),
    )
