"""Histories for CUT: barriers, what they hold up and what ends that."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.history import History
from holdfast.harness.model.jobs import FORWARD
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits, injected, story
from holdfast.suites.selfcheck.oracles.histories.channel_lines import (
    ACROSS,
    BELOW,
    COUNTING,
    LEFT,
    LONE,
    RIGHT,
    delivers,
    gives_up,
    sends,
    snapshot,
)

bad, near = exhibits("CUT")
FAILED = events.TaskStopped(subtask="sum[0]", reason="a record makes it fail")


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
    return story(snapshot("source[0]"), sends(LEFT, "|1"), events.NodeDied(dead_node="worker-0", cause="killed"))


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
        events.ChannelBlocked(channel=LEFT, checkpoint=1),
        delivers(RIGHT, "0"),
        events.ChannelUnblocked(channel=LEFT, checkpoint=1),
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


def _given_up(*after: events.Event) -> History:
    """One input is blocked for checkpoint 1, and the other brings the marker of it; then comes what is given."""
    return story(
        sends(LEFT, "|1 0"),
        sends(RIGHT, "0"),
        events.CancellationSent(channel=RIGHT, checkpoint=1),
        delivers(LEFT, "|1"),
        events.ChannelBlocked(channel=LEFT, checkpoint=1),
        events.CancellationReceived(channel=RIGHT, checkpoint=1),
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
        events.ChannelBlocked(channel=LEFT, checkpoint=1),
        delivers(RIGHT, "|2"),
        gives_up(2),
    )


@near("alignment-outlives")
def marker_ends_the_alignment() -> History:
    unblocked = events.ChannelUnblocked(channel=LEFT, checkpoint=1)
    return _given_up(unblocked, *delivers(RIGHT, "0"), *delivers(LEFT, "0"))


@bad("acts-after-stop")
def goes_on_after_its_failure() -> History:
    return story(sends(LEFT, "0 1"), delivers(LEFT, "0"), FAILED, delivers(LEFT, "1"))


@bad("acts-after-stop")
def hears_of_a_checkpoint_when_it_has_finished() -> History:
    heard = events.NotificationReceived(subtask="sum[0]", checkpoint=1, completed=True)
    return story(sends(LEFT, "0"), delivers(LEFT, "0"), events.SubtaskFinished(subtask="sum[0]"), heard)


@near("acts-after-stop")
def finishes_with_what_it_hears() -> History:
    heard = events.NotificationReceived(subtask="sum[0]", checkpoint=1, completed=True)
    finished = events.SubtaskFinished(subtask="sum[0]")
    return story(sends(LEFT, "0"), sends(BELOW, "0"), delivers(LEFT, "0"), heard, finished, delivers(BELOW, "0"))


@near("acts-after-stop")
def another_goes_on() -> History:
    return story(sends(LEFT, "0"), sends(BELOW, "0"), delivers(LEFT, "0"), FAILED, delivers(BELOW, "0"))


@bad("stale-acted")
def blocks_for_a_checkpoint_that_was_given_up() -> History:
    return story(
        sends(LEFT, "|1"), gives_up(1), delivers(LEFT, "|1"), events.ChannelBlocked(channel=LEFT, checkpoint=1)
    )


@bad("stale-acted")
def takes_a_snapshot_that_was_given_up() -> History:
    return story(sends(BELOW, "|1"), gives_up(1), snapshot("sum[0]"))


@near("stale-acted")
def ignores_a_late_barrier() -> History:
    return story(sends(LEFT, "|1 0"), gives_up(1), delivers(LEFT, "|1 0"))


@bad("blocked-in-at-least-once")
def blocks_while_counting() -> History:
    blocked = events.ChannelBlocked(channel=LEFT, checkpoint=1)
    return story(delivers(LEFT, "|1"), blocked, delivers(RIGHT, "|1"), options=COUNTING)


@near("blocked-in-at-least-once")
def counts_barriers() -> History:
    return story(
        sends(LEFT, "|1 0"), sends(RIGHT, "|1"), delivers(LEFT, "|1 0"), delivers(RIGHT, "|1"), options=COUNTING
    )  # fmt: skip


@bad("waited-with-one-input")
def blocks_its_only_input() -> History:
    return story(delivers(LONE, "|1"), events.ChannelBlocked(channel=LONE, checkpoint=1), job=FORWARD)


@near("waited-with-one-input")
def passes_a_barrier_at_once() -> History:
    return story(sends(LONE, "|1 0"), delivers(LONE, "|1 0"), job=FORWARD)


def _stalls(emitting: int, *before: Line) -> History:
    """Three checkpoints, each aligning for 20 ms; the source emits during checkpoint `emitting`."""
    offset = 0

    def emit() -> events.SourceEmitted:
        nonlocal offset
        offset += 1
        return events.SourceEmitted(subtask="source[0]", partition=0, first_offset=offset - 1, next_offset=offset)

    lines: list[Line] = [*before, events.TaskStarted(subtask="source[0]", positions=((0, 0),))]
    for checkpoint in (1, 2, 3):
        barrier = f"|{checkpoint}"
        lines += [emit(), 5, emit(), *sends(LEFT, barrier), *sends(ACROSS, barrier)]
        lines += [snapshot("source[0]", checkpoint, (0, offset)), *delivers(LEFT, barrier), 10]
        if checkpoint == emitting:
            lines.append(emit())
        lines += [10, *delivers(RIGHT, barrier)]
        lines.append(events.NotificationReceived(subtask="source[0]", checkpoint=checkpoint, completed=True))
    return story(*lines)


@bad("source-stalled")
def stalls_in_every_alignment() -> History:
    return _stalls(emitting=0)


@near("source-stalled")
def emits_during_one_alignment() -> History:
    return _stalls(emitting=2)


@bad("source-stalled")
def stalls_behind_a_task_that_is_quick_again() -> History:
    return _stalls(
        0, injected("slow-task", "task[2]"), 5, events.FaultHealed(fault=0, fault_kind="slow-task", target="task[2]"), 5
    )


@bad("source-stalled")
def stalls_while_only_the_coordinator_is_paused() -> History:
    return _stalls(0, injected("pause", "coordinator[0]"))


@near("source-position")
def waits_behind_a_slow_task() -> History:
    return _stalls(0, injected("slow-task", "task[2]"))


def _theirs(*may_cause: Consequence) -> events.FaultInjected:
    """A fault of a third party acts, of which nobody here knows the name."""
    return events.FaultInjected(fault=0, fault_kind="knead", target="task[2]", may_cause=may_cause)


@near("source-position")
def waits_behind_a_fault_that_declares_to_hold_up_records() -> History:
    return _stalls(0, _theirs(Consequence.HOLDS_UP_RECORDS))


@bad("source-stalled")
def stalls_behind_a_fault_that_declares_failures_alone() -> History:
    return _stalls(0, _theirs(Consequence.FAILS_TASK, Consequence.FAILS_STORAGE))
