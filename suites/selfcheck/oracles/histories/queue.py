"""Histories for QUEUE: one channel, whose batches wait for so long. Every event takes one millisecond."""

from __future__ import annotations

from holdfast.harness.model.events import (
    AttemptStarted,
    BatchProcessed,
    BatchSent,
    BuffersResized,
    Event,
)
from holdfast.harness.model.history import History
from holdfast.suites.selfcheck.oracles.builder import OPTIONS, exhibits, injected, story

bad, near = exhibits("QUEUE")

CHANNEL = "source[0]->sum[0]"
_DEBLOAT = "taskmanager.network.memory.buffer-debloat"
BUFFERS = 100
DEBLOATED = {
    **OPTIONS,
    f"{_DEBLOAT}.enabled": "true",
    f"{_DEBLOAT}.target": "100 ms",
    f"{_DEBLOAT}.period": "1 ms",
    f"{_DEBLOAT}.samples": "1",
    "taskmanager.network.memory.buffers-per-channel": str(BUFFERS),
}


def _queue(length: int, *extra: Event) -> History:
    """A batch is sent and one is processed every other millisecond, with so many always in between."""
    lines: list[Event | float] = [AttemptStarted(), *extra, 50.0]
    for position in range(100 + 4 * length):
        lines.append(BatchSent(channel=CHANNEL, position=position, records=1))
        if position >= length:
            lines.append(BatchProcessed(channel=CHANNEL, position=position - length, records=1))
    return story(*lines, options=DEBLOATED)


@bad("queued-too-long")
def six_times_the_target() -> History:
    return _queue(300)


@bad("queued-too-long")
def six_times_the_target_at_a_receiver_that_is_slow() -> History:
    return _queue(300, injected("slow-task", "task[2]"))


def six_times_the_target_on_a_slow_link() -> History:
    """Neither: the link makes them wait."""
    return _queue(300, injected("slow", "channel[0]"))


@near("queued-too-long")
def half_the_target() -> History:
    return _queue(25)


@near("queued-too-long")
def half_the_target_behind_a_backlog() -> History:
    """What was sent before sizes were known is still in front."""
    backlog = [BatchSent(channel=CHANNEL, position=position, records=1) for position in range(-400, 0)]
    taken = [BatchProcessed(channel=CHANNEL, position=position, records=1) for position in range(-400, 0)]
    return _queue(25, *backlog, *taken)


@bad("buffers-outside")
def no_buffer() -> History:
    return _queue(25, BuffersResized(subtask="sum[0]", buffers=0))


@bad("buffers-outside")
def more_than_there_are() -> History:
    return _queue(25, BuffersResized(subtask="sum[0]", buffers=BUFFERS + 1))


@near("buffers-outside")
def one_buffer() -> History:
    return _queue(25, BuffersResized(subtask="sum[0]", buffers=1))
