"""Histories for CUT: what state, positions and batches in flight at a cut add up to."""

from __future__ import annotations

from collections.abc import Collection

from holdfast.harness.model.capability import AT_LEAST_ONCE
from holdfast.harness.model.events import (
    AttemptStarted,
    ChannelContent,
    ChannelStateTaken,
    SnapshotTaken,
    SourceEmitted,
    TaskStarted,
)
from holdfast.harness.model.history import History
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits, story
from holdfast.suites.selfcheck.oracles.histories.channel_lines import COUNTING, LEFT, snapshot
from holdfast.suites.selfcheck.oracles.legal import summary

bad, near = exhibits("CUT")

BEFORE = [(partition, offset) for partition in (0, 1) for offset in range(4)]
"""The records before a cut at offset 4 of both partitions."""


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


@bad("source-position")
def moves_on_beside_one_that_reads() -> History:
    """The second source emits nothing, and its position moves all the same."""
    return story(
        *(TaskStarted(subtask=f"source[{i}]", positions=((i, 0),)) for i in (0, 1)),
        SourceEmitted(subtask="source[0]", partition=0, first_offset=0, next_offset=4),
        snapshot("source[1]", 1, (1, 4)),
    )


def nobody_sees_emissions() -> History:
    """Positions move, and what sources emit is in no history."""
    return story(TaskStarted(subtask="source[0]", positions=((0, 0),)), snapshot("source[0]", 1, (0, 4)))


@near("source-position")
def records_next_offset() -> History:
    return _recorded((0, 4), (1, 0))
