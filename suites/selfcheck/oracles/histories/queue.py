"""Histories for QUEUE: one channel, whose batches wait for so long. Every event takes one millisecond."""

from __future__ import annotations

from holdfast.harness.model.events import BuffersResized
from holdfast.suites.selfcheck.oracles.builder import OPTIONS, Line, exhibits, injected, undecided
from holdfast.suites.selfcheck.oracles.lines import attempt, delivers, sends

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


def _queue(length: int, *extra: Line) -> list[Line]:
    """A batch is sent and one is processed every other millisecond, with so many always in between."""
    lines: list[Line] = [attempt(), *extra, 50.0]
    for position in range(100 + 4 * length):
        lines.append(sends(CHANNEL, position))
        if position >= length:
            lines.append(delivers(CHANNEL, position - length))
    return lines


bad, near = exhibits("QUEUE", options=DEBLOATED)

bad("queued-too-long", "six times the target", _queue(300))
bad("queued-too-long", "six times the target at a receiver that is slow", _queue(300, injected("slow-task", "task[2]")))


# Neither: the link makes them wait.
undecided(
    "QUEUE", "six times the target on a slow link", _queue(300, injected("slow", "channel[0]")), options=DEBLOATED
)


near("queued-too-long", "half the target", _queue(25))

# What was sent before sizes were known is still in front.
near(
    "queued-too-long",
    "half the target behind a backlog",
    _queue(
        25,
        *[sends(CHANNEL, position) for position in range(-400, 0)],
        *[delivers(CHANNEL, position) for position in range(-400, 0)],
    ),
)

bad("buffers-outside", "no buffer", _queue(25, BuffersResized(subtask="sum[0]", buffers=0)))
bad("buffers-outside", "more than there are", _queue(25, BuffersResized(subtask="sum[0]", buffers=BUFFERS + 1)))
near("buffers-outside", "one buffer", _queue(25, BuffersResized(subtask="sum[0]", buffers=1)))
