"""What a job has read whose windows are judged: all of the input, or what was in front of the savepoint that a user has
stopped it with for good."""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from holdfast.harness.model.checkpoint import StopMode
from holdfast.harness.model.events import JobSubmitted, SavepointCompleted, SavepointTriggered
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.model.records import InputLog


class EndedInput(NamedTuple):
    """What was read.

    Attributes:
        inputs: that.
        over: nothing waits for a watermark any more: the input has come to its end, or the stop drained it.
    """

    inputs: InputLog
    over: bool


def ended_input(history: History) -> EndedInput:
    """What the jobs of a history have read, the last of which runs on, or has finished, or was stopped."""
    finished = history.plan.expected_end is ExpectedEnd.FINISHED
    stops = {event.checkpoint: event for event in history.of(SavepointTriggered) if event.stop is not StopMode.GO_ON}
    stopped = [event for event in history.of(SavepointCompleted) if event.checkpoint in stops]
    if not finished or not stopped or _goes_on(history, stopped[-1]):
        return EndedInput(history.inputs, finished)
    partitions = (
        replace(partition, key=partition.key[:end], value=partition.value[:end], markers=0)
        for partition, end in zip(history.inputs.partitions, stopped[-1].positions, strict=True)
    )
    drains = stops[stopped[-1].checkpoint].stop is StopMode.DRAIN
    return EndedInput(replace(history.inputs, partitions=tuple(partitions)), drains)


def _goes_on(history: History, stopped: SavepointCompleted) -> bool:
    """Whether another job was submitted, or this one begins anew."""
    submitted = history.of(JobSubmitted)
    return any(history.position(event) > history.position(stopped) for event in submitted)
