"""Histories for LIVE: the end of a run over two partitions of ten records."""

from __future__ import annotations

from holdfast.harness.model.events import (
    AttemptStarted,
    ChannelBlocked,
    ChannelUnblocked,
    CheckpointAborted,
    CheckpointCompleted,
    CheckpointTriggered,
    JobSubmitted,
    NotificationReceived,
)
from holdfast.harness.model.history import History, RunEnd
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.suites.selfcheck.oracles.builder import MS, Line, exhibits, story
from holdfast.suites.selfcheck.oracles.legal import SUBTASKS

bad, near = exhibits("LIVE")

LEFT = "source[0]->sum[0]"
DRAINED = (10, 10)


def completed(checkpoint: int, positions: tuple[int, ...] = DRAINED) -> list[Line]:
    return [
        CheckpointTriggered(checkpoint=checkpoint, participants=SUBTASKS),
        CheckpointCompleted(checkpoint=checkpoint, positions=positions),
    ]


def ended(
    *lines: Line, reached: bool = True, healed_ms: int = 0, expected: ExpectedEnd = ExpectedEnd.RUNNING
) -> History:
    reason = "" if reached else "0 of 2 checkpoints completed"
    end = RunEnd(reached, reason, healed_ns=healed_ms * MS, ended_ns=10_000 * MS)
    return story(AttemptStarted(), *lines, expected=expected, end=end)


@bad("end-not-reached")
def does_not_end() -> History:
    return ended(*completed(1), *completed(2), reached=False)


@bad("end-not-reached")
def does_not_fail() -> History:
    return ended(reached=False, expected=ExpectedEnd.FAILED)


@near("end-not-reached")
def ends() -> History:
    return ended(*completed(1), *completed(2))


@bad("no-new-checkpoints")
def one_checkpoint_after_the_heal() -> History:
    return ended(*completed(1), 100, *completed(2), healed_ms=50)


@near("no-new-checkpoints")
def two_checkpoints_after_the_heal() -> History:
    return ended(*completed(1), 100, *completed(2), *completed(3), healed_ms=50)


@bad("input-not-drained")
def stops_short() -> History:
    return ended(*completed(1), *completed(2, (10, 9)))


@near("input-not-drained")
def drains() -> History:
    return ended(*completed(1, (3, 4)), *completed(2))


def _blocks(*lines: Line) -> History:
    """A channel is blocked for checkpoint 3, after two that completed."""
    triggered = CheckpointTriggered(checkpoint=3, participants=SUBTASKS)
    blocked = ChannelBlocked(channel=LEFT, checkpoint=3)
    return ended(*completed(1), *completed(2), triggered, blocked, *lines)


@bad("channel-left-blocked")
def blocked_after_the_abort() -> History:
    abort = CheckpointAborted(checkpoint=3, reason="expired")
    return _blocks(abort, NotificationReceived(subtask="sum[0]", checkpoint=3, completed=False))


@bad("channel-left-blocked")
def blocked_though_a_later_one_completed() -> History:
    return _blocks(*completed(4))


@near("channel-left-blocked")
def unblocked() -> History:
    return _blocks(ChannelUnblocked(channel=LEFT, checkpoint=3))


@near("channel-left-blocked")
def blocked_for_an_id_that_an_earlier_job_completed() -> History:
    """The next job starts empty; the run ends while its checkpoint 3 is under way."""
    first = (JobSubmitted(), *completed(1), *completed(2), *completed(3), *completed(4))
    next_job = (JobSubmitted(attempt=1_000), AttemptStarted(attempt=1_001), *completed(1), *completed(2))
    before = (ChannelBlocked(channel=LEFT, checkpoint=2), ChannelUnblocked(channel=LEFT, checkpoint=2))
    triggered = CheckpointTriggered(checkpoint=3, participants=SUBTASKS)
    return ended(*first, *next_job, *before, triggered, ChannelBlocked(channel=LEFT, checkpoint=3))


@near("channel-left-blocked")
def blocked_while_it_still_aligns() -> History:
    unblocked = ChannelUnblocked(channel=LEFT, checkpoint=3)
    triggered = CheckpointTriggered(checkpoint=4, participants=SUBTASKS)
    return _blocks(unblocked, triggered, ChannelBlocked(channel=LEFT, checkpoint=4))
