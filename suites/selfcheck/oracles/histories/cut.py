"""Histories for CUT: channels and snapshots of the keyed sum with two sources, and of the forward job."""

from __future__ import annotations

from collections.abc import Collection

from holdfast.harness.model.capability import AT_LEAST_ONCE
from holdfast.harness.model.events import (
    AttemptStarted,
    BarrierReceived,
    BarrierSent,
    BatchProcessed,
    BatchSent,
    CancellationReceived,
    CancellationSent,
    ChannelBlocked,
    ChannelContent,
    ChannelStateRestored,
    ChannelStateTaken,
    ChannelUnblocked,
    Event,
    NodeDied,
    NotificationReceived,
    SnapshotTaken,
    SourceEmitted,
    TaskStarted,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.job import FORWARD
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits, story
from holdfast.suites.selfcheck.oracles.legal import summary

bad, near = exhibits("CUT")

LEFT, RIGHT, ACROSS = "source[0]->sum[0]", "source[1]->sum[0]", "source[0]->sum[1]"
BELOW, LONE = "sum[0]->sink[0]", "source[0]->map[0]"
COUNTING = {"execution.checkpointing.interval": "100 ms", "execution.checkpointing.mode": "AT_LEAST_ONCE"}
BEFORE = [(partition, offset) for partition in (0, 1) for offset in range(4)]
"""The records before a cut at offset 4 of both partitions."""


def sends(channel: str, elements: str) -> list[Event]:
    """`0 |1 1`: batch 0, barrier 1 and batch 1 enter a channel."""
    return [
        BarrierSent(channel=channel, checkpoint=int(element[1:]))
        if element.startswith("|")
        else BatchSent(channel=channel, position=int(element), records=1)
        for element in elements.split()
    ]


def delivers(channel: str, elements: str) -> list[Event]:
    """As `sends`: they leave it."""
    return [
        BarrierReceived(channel=channel, checkpoint=int(element[1:]))
        if element.startswith("|")
        else BatchProcessed(channel=channel, position=int(element), records=1)
        for element in elements.split()
    ]


def snapshot(subtask: str, checkpoint: int = 1, *positions: tuple[int, int]) -> SnapshotTaken:
    return SnapshotTaken(subtask=subtask, checkpoint=checkpoint, positions=positions)


def gives_up(checkpoint: int) -> NotificationReceived:
    return NotificationReceived(subtask="sum[0]", checkpoint=checkpoint, completed=False)


# --- channels --------------------------------------------------------------------------------------------------------


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


# --- barriers --------------------------------------------------------------------------------------------------------


@bad("barrier-once")
def barrier_forgotten() -> History:
    return story(snapshot("sum[0]"), sends(BELOW, "0"))


@bad("barrier-once")
def barrier_forgotten_on_one_channel() -> History:
    return story(snapshot("source[0]"), sends(LEFT, "|1 0"))


@bad("barrier-once")
def barrier_sent_twice() -> History:
    return story(sends(BELOW, "|1"), snapshot("sum[0]"), sends(BELOW, "|1"))


@near("barrier-once")
def died_between_two_barriers() -> History:
    return story(snapshot("source[0]"), sends(LEFT, "|1"), NodeDied(dead_node="worker-0", cause="killed"))


@bad("emission-after-snapshot")
def emits_between_snapshot_and_barrier() -> History:
    return story(snapshot("sum[0]"), sends(BELOW, "0 |1"))


@bad("emission-after-snapshot")
def emits_between_barrier_and_snapshot() -> History:
    return story(sends(BELOW, "|1 0"), snapshot("sum[0]"))


@near("emission-after-snapshot")
def emits_around_barrier_and_snapshot() -> History:
    return story(sends(BELOW, "0 |1"), snapshot("sum[0]"), sends(BELOW, "1"))


@near("emission-after-snapshot")
def emits_on_a_channel_that_has_its_barrier() -> History:
    return story(snapshot("source[0]"), sends(LEFT, "|1 0"), sends(ACROSS, "|1"))


@bad("processed-while-blocked")
def processed_behind_barrier() -> History:
    return story(sends(LEFT, "|1 0"), sends(RIGHT, "|1"), delivers(LEFT, "|1 0"), delivers(RIGHT, "|1"))


@bad("processed-while-blocked")
def unblocked_without_reason() -> History:
    return story(
        sends(LEFT, "|1 0"),
        sends(RIGHT, "0"),
        delivers(LEFT, "|1"),
        ChannelBlocked(channel=LEFT, checkpoint=1),
        delivers(RIGHT, "0"),
        ChannelUnblocked(channel=LEFT, checkpoint=1),
        delivers(LEFT, "0"),
    )


@near("processed-while-blocked")
def alignment_given_up() -> History:
    return story(
        sends(LEFT, "|1 0"), sends(RIGHT, "0"), delivers(LEFT, "|1"), delivers(RIGHT, "0"), gives_up(1),
        delivers(LEFT, "0"),
    )  # fmt: skip


@near("processed-while-blocked")
def newer_barrier_ends_alignment() -> History:
    return story(
        sends(LEFT, "|1 0"), sends(RIGHT, "0 |2"), delivers(LEFT, "|1"), delivers(RIGHT, "0 |2"), delivers(LEFT, "0")
    )  # fmt: skip


@near("processed-while-blocked")
def late_barrier_of_aborted_checkpoint() -> History:
    return story(
        sends(LEFT, "|1 0 |2"), sends(RIGHT, "0 |2"), gives_up(1), delivers(LEFT, "|1 0 |2"), delivers(RIGHT, "0 |2")
    )  # fmt: skip


def _given_up(*after: Event) -> History:
    """One input is blocked for checkpoint 1, and the other brings the marker of it; then comes what is given."""
    return story(
        sends(LEFT, "|1 0"),
        sends(RIGHT, "0"),
        CancellationSent(channel=RIGHT, checkpoint=1),
        delivers(LEFT, "|1"),
        ChannelBlocked(channel=LEFT, checkpoint=1),
        CancellationReceived(channel=RIGHT, checkpoint=1),
        after,
    )


@bad("alignment-outlives")
def marker_ends_nothing() -> History:
    return _given_up(*delivers(RIGHT, "0"))


@bad("alignment-outlives")
def newer_barrier_ends_nothing() -> History:
    return story(
        sends(LEFT, "|1"),
        sends(RIGHT, "|2 0"),
        delivers(LEFT, "|1"),
        ChannelBlocked(channel=LEFT, checkpoint=1),
        delivers(RIGHT, "|2"),
        gives_up(2),
    )


@near("alignment-outlives")
def marker_ends_the_alignment() -> History:
    unblocked = ChannelUnblocked(channel=LEFT, checkpoint=1)
    return _given_up(unblocked, *delivers(RIGHT, "0"), *delivers(LEFT, "0"))


@bad("stale-acted")
def blocks_for_a_checkpoint_that_was_given_up() -> History:
    return story(sends(LEFT, "|1"), gives_up(1), delivers(LEFT, "|1"), ChannelBlocked(channel=LEFT, checkpoint=1))


@bad("stale-acted")
def takes_a_snapshot_that_was_given_up() -> History:
    return story(sends(BELOW, "|1"), gives_up(1), snapshot("sum[0]"))


@near("stale-acted")
def ignores_a_late_barrier() -> History:
    return story(sends(LEFT, "|1 0"), gives_up(1), delivers(LEFT, "|1 0"))


# --- what is in flight -----------------------------------------------------------------------------------------------


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


# --- the cut ---------------------------------------------------------------------------------------------------------


def _cut(*held: Collection[tuple[int, int]]) -> list[Line]:
    """Checkpoint 1 at offset 4 of both partitions; the sums hold these records."""
    return [
        *(snapshot(f"source[{i}]", 1, (i, 4)) for i in (0, 1)),
        *(SnapshotTaken(subtask=f"sum[{i}]", checkpoint=1, state=summary(each)) for i, each in enumerate(held)),
    ]


@bad("state-extra")
def record_behind_barrier_in_state() -> History:
    return story(*_cut(BEFORE[:4], [*BEFORE[4:], (1, 4)]))


@bad("state-extra")
def record_applied_twice() -> History:
    return story(*_cut(BEFORE[:4], [*BEFORE[4:], (0, 2)]))


@bad("state-extra")
def two_records_applied_twice() -> History:
    return story(*_cut([*BEFORE[:4], (1, 0)], [*BEFORE[4:], (0, 2)]))


def _cut_with(*in_flight: tuple[int, int]) -> History:
    """As `_cut`, unaligned: the sums hold all but the last record, and this is stored as being in flight."""
    stored = (ChannelContent(LEFT, False, ((1, 3),), summary(in_flight)),)
    return story(
        *(SnapshotTaken(subtask=f"source[{i}]", checkpoint=1, positions=((i, 4),), unaligned=True) for i in (0, 1)),
        *(ChannelStateTaken(subtask=f"source[{i}]", checkpoint=1) for i in (0, 1)),
        *(
            SnapshotTaken(subtask=f"sum[{i}]", checkpoint=1, state=summary(each), unaligned=True)
            for i, each in enumerate((BEFORE[:4], BEFORE[4:-1]))
        ),
        ChannelStateTaken(subtask="sum[0]", checkpoint=1, channels=stored if in_flight else ()),
        ChannelStateTaken(subtask="sum[1]", checkpoint=1),
    )


@bad("state-missing")
def record_neither_in_state_nor_in_flight() -> History:
    return _cut_with()


@bad("state-extra")
def record_in_state_and_in_flight() -> History:
    return _cut_with(BEFORE[-1], BEFORE[0])


@near("state-missing")
def last_record_is_in_flight() -> History:
    return _cut_with(BEFORE[-1])


def _left_out(*held: tuple[int, int]) -> History:
    """The last record before the first cut was in flight and is left out; at the second the sums hold these."""
    options = {
        "execution.checkpointing.interval": "100 ms",
        "execution.checkpointing.recover-without-channel-state.checkpoint-id": "1",
    }
    return story(
        AttemptStarted(),
        *(SnapshotTaken(subtask=f"source[{i}]", checkpoint=1, positions=((i, 4),), unaligned=True) for i in (0, 1)),
        *(ChannelStateTaken(subtask=f"source[{i}]", checkpoint=1) for i in (0, 1)),
        *(
            SnapshotTaken(subtask=f"sum[{i}]", checkpoint=1, state=summary(each), unaligned=True)
            for i, each in enumerate((BEFORE[:4], BEFORE[4:-1]))
        ),
        ChannelStateTaken(
            subtask="sum[0]", checkpoint=1, channels=(ChannelContent(LEFT, False, ((1, 3),), summary(BEFORE[-1:])),)
        ),
        ChannelStateTaken(subtask="sum[1]", checkpoint=1),
        AttemptStarted(restored_checkpoint=1),
        *(SnapshotTaken(subtask=f"source[{i}]", checkpoint=2, positions=((i, 4 + (i == 0)),)) for i in (0, 1)),
        SnapshotTaken(subtask="sum[0]", checkpoint=2, state=summary(held)),
        SnapshotTaken(subtask="sum[1]", checkpoint=2, state=summary(())),
        options=options,
        claimed=frozenset(),
    )


@bad("skipped-differs")
def what_is_left_out_is_there_all_the_same() -> History:
    return _left_out(*BEFORE, (0, 4))


@bad("skipped-differs")
def another_record_is_missing_too() -> History:
    return _left_out(*BEFORE[:-1])


@near("skipped-differs")
def only_what_is_left_out_is_missing() -> History:
    return _left_out(*BEFORE[:-1], (0, 4))


@near("state-extra")
def state_of_the_cut() -> History:
    return story(*_cut(BEFORE[:3], BEFORE[3:]))


@bad("state-missing")
def range_missing_in_state() -> History:
    return story(*_cut(BEFORE[:1], BEFORE[3:]))


@bad("state-missing")
def missing_though_at_least_once() -> History:
    return story(*_cut(BEFORE[:4], BEFORE[5:]), claimed=AT_LEAST_ONCE, options=COUNTING)


@near("state-missing")
def complete_and_at_least_once() -> History:
    return story(*_cut(BEFORE[:4], BEFORE[4:]), claimed=AT_LEAST_ONCE, options=COUNTING)


def _recorded(*positions: tuple[int, int]) -> History:
    """A source starts with two partitions, reads from one, and records these positions."""
    return story(
        TaskStarted(subtask="source[0]", positions=((0, 0), (1, 0))),
        SourceEmitted(subtask="source[0]", partition=0, first_offset=0, next_offset=4),
        snapshot("source[0]", 1, *positions),
    )


@bad("source-position")
def records_last_offset() -> History:
    return _recorded((0, 3), (1, 0))


@bad("source-position")
def forgets_idle_partition() -> History:
    return _recorded((0, 4))


@near("source-position")
def records_next_offset() -> History:
    return _recorded((0, 4), (1, 0))


# --- who waits -------------------------------------------------------------------------------------------------------


@bad("blocked-in-at-least-once")
def blocks_while_counting() -> History:
    blocked = ChannelBlocked(channel=LEFT, checkpoint=1)
    return story(delivers(LEFT, "|1"), blocked, delivers(RIGHT, "|1"), options=COUNTING)


@near("blocked-in-at-least-once")
def counts_barriers() -> History:
    return story(
        sends(LEFT, "|1 0"), sends(RIGHT, "|1"), delivers(LEFT, "|1 0"), delivers(RIGHT, "|1"), options=COUNTING
    )  # fmt: skip


@bad("waited-with-one-input")
def blocks_its_only_input() -> History:
    return story(delivers(LONE, "|1"), ChannelBlocked(channel=LONE, checkpoint=1), job=FORWARD)


@near("waited-with-one-input")
def passes_a_barrier_at_once() -> History:
    return story(sends(LONE, "|1 0"), delivers(LONE, "|1 0"), job=FORWARD)


def _stalls(emitting: int) -> History:
    """Three checkpoints, each aligning for 20 ms; the source emits during checkpoint `emitting`."""
    offset = 0

    def emit() -> SourceEmitted:
        nonlocal offset
        offset += 1
        return SourceEmitted(subtask="source[0]", partition=0, first_offset=offset - 1, next_offset=offset)

    lines: list[Line] = [TaskStarted(subtask="source[0]", positions=((0, 0),))]
    for checkpoint in (1, 2, 3):
        barrier = f"|{checkpoint}"
        lines += [emit(), 5, emit(), *sends(LEFT, barrier), *sends(ACROSS, barrier)]
        lines += [snapshot("source[0]", checkpoint, (0, offset)), *delivers(LEFT, barrier), 10]
        if checkpoint == emitting:
            lines.append(emit())
        lines += [10, *delivers(RIGHT, barrier)]
        lines.append(NotificationReceived(subtask="source[0]", checkpoint=checkpoint, completed=True))
    return story(*lines)


@bad("source-stalled")
def stalls_in_every_alignment() -> History:
    return _stalls(emitting=0)


@near("source-stalled")
def emits_during_one_alignment() -> History:
    return _stalls(emitting=2)
