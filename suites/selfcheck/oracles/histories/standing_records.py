"""Histories for PROGRESS: a job that runs, and records that do not go on. Each of two partitions has ten records."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.harness.model.history import History, RunEnd
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.suites.selfcheck.oracles.builder import MS, Line, at, exhibits, stamped, story
from holdfast.suites.selfcheck.oracles.histories.standing_job import (
    WITHOUT_CHECKPOINTS,
    dies,
    running,
    standing,
    switched,
)
from holdfast.suites.selfcheck.oracles.legal import SUBTASKS

bad, near = exhibits("PROGRESS")

SOURCE = "source[1]"
CHANNEL = "source[1]->sum[0]"
BELOW = "sum[0]->sink[0]"


def reading(position: int = 0) -> list[events.Event]:
    """All run, and this source stands before so many records of its partition."""
    started = [
        events.TaskStarted(subtask=each, positions=((1, position),) if each == SOURCE else ()) for each in SUBTASKS
    ]
    return [events.AttemptStarted(), *started, switched()]


def read() -> events.InputRead:
    return events.InputRead(subtask=SOURCE, partition=1, first_offset=0)


def emitted(until: int = 10) -> events.SourceEmitted:
    return events.SourceEmitted(subtask=SOURCE, partition=1, first_offset=0, next_offset=until)


@bad("source-not-reading")
def it_never_reads() -> History:
    return standing(reading())


@bad("source-not-reading")
def it_read_in_the_attempt_before() -> History:
    return standing(reading(), read(), reading(4))


@near("source-not-reading")
def it_reads() -> History:
    return standing(reading(), read())


@near("source-not-reading")
def it_has_read_everything() -> History:
    return standing(reading(), read(), reading(10))


@near("source-not-reading")
def it_dies() -> History:
    return standing(reading(), read(), reading(), dies("worker-1"))


def assigned(*splits: int) -> events.SplitsAssigned:
    return at("coordinator.0", events.SplitsAssigned(subtask=SOURCE, splits=splits))


def received(*splits: int) -> events.SplitsReceived:
    return events.SplitsReceived(subtask=SOURCE, splits=splits)


def listed(*lines: Line) -> History:
    """Splits are sent again every 100 ms."""
    return story(running(), read(), *lines, options={**WITHOUT_CHECKPOINTS, "heartbeat.interval": "100 ms"})


@bad("split-not-received")
def it_gets_no_split() -> History:
    return listed(assigned(1), 100, assigned(1))


@bad("split-not-received")
def it_gets_one_of_two() -> History:
    return listed(assigned(1, 3), received(1))


@near("split-not-received")
def it_gets_both() -> History:
    return listed(assigned(1, 3), received(1), assigned(3), received(3))


@near("split-not-received")
def a_third_is_assigned_at_the_end() -> History:
    return listed(assigned(1), received(1), 900, dies("worker-1"), assigned(3))


def bounded(*lines: Line) -> History:
    return standing(*lines, expected=ExpectedEnd.FINISHED)


@bad("source-not-finished")
def it_reads_to_the_end_and_stays() -> History:
    return bounded(reading(), emitted())


@near("source-not-finished")
def it_finishes() -> History:
    return bounded(reading(), emitted(), events.OperatorFinished(subtask=SOURCE))


@near("source-not-finished")
def another_has_read_a_part() -> History:
    finishes = [emitted(), events.OperatorFinished(subtask=SOURCE)]
    return bounded(reading(), finishes, reading(), emitted(9))


def ended(*lines: Line) -> History:
    """A source has ended."""
    return bounded(
        running(), emitted(), events.OperatorFinished(subtask=SOURCE), events.SubtaskFinished(subtask=SOURCE), *lines
    )


@bad("end-not-passed-on")
def one_behind_it_hears_nothing() -> History:
    return ended(events.EndOfPartitionReceived(channel=CHANNEL))


@near("end-not-passed-on")
def both_behind_it_hear_of_it() -> History:
    return ended(*(events.EndOfPartitionReceived(channel=each) for each in (CHANNEL, "source[1]->sum[1]")))


@near("end-not-passed-on")
def the_other_is_blocked() -> History:
    blocked = events.ChannelBlocked(channel="source[1]->sum[1]", checkpoint=1)
    return ended(events.EndOfPartitionReceived(channel=CHANNEL), blocked)


@near("end-not-passed-on")
def the_other_has_ended() -> History:
    return ended(
        events.EndOfPartitionReceived(channel=CHANNEL),
        events.SubtaskFinished(subtask="sum[1]"),
        [events.EndOfPartitionReceived(channel="sum[1]->sink[1]")],
    )


def stuck(*lines: Line) -> History:
    """The run does not reach its end."""
    told = [*running(), *lines]
    ended_ns = stamped(list(told))[-1].time_ns + 1_000 * MS
    return story(*told, options=WITHOUT_CHECKPOINTS, end=RunEnd(False, "nothing moves", ended_ns=ended_ns))


def sent(position: int = 0, channel: str = CHANNEL) -> events.BatchSent:
    return events.BatchSent(channel=channel, position=position, records=1)


def processed(position: int = 0, channel: str = CHANNEL) -> events.BatchProcessed:
    return events.BatchProcessed(channel=channel, position=position, records=1)


@bad("channel-not-read")
def a_batch_waits() -> History:
    return stuck(sent(), processed(), sent(1))


@bad("channel-not-read")
def a_barrier_waits_while_another_channel_is_blocked() -> History:
    other = "source[0]->sum[0]"
    arrived = [events.BarrierReceived(channel=other, checkpoint=1), events.ChannelBlocked(channel=other, checkpoint=1)]
    return stuck(events.BarrierSent(channel=CHANNEL, checkpoint=1), arrived)


@near("channel-not-read")
def every_batch_is_taken() -> History:
    return stuck(
        sent(),
        processed(),
        events.BarrierSent(channel=CHANNEL, checkpoint=1),
        events.BarrierReceived(channel=CHANNEL, checkpoint=1),
    )


@near("channel-not-read")
def its_channel_is_blocked() -> History:
    return stuck(events.ChannelBlocked(channel=CHANNEL, checkpoint=1), sent())


@near("channel-not-read")
def its_receiver_waits_for_the_one_below() -> History:
    return stuck(sent(), sent(channel=BELOW), events.ChannelBlocked(channel=BELOW, checkpoint=1))


@near("channel-not-read")
def its_receiver_is_dead() -> History:
    return stuck(sent(), dies("worker-0"))
