"""Which interpretation of its windows a job has, and which part of the input it is judged by."""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from holdfast.harness.model.checkpoint import StopMode
from holdfast.harness.model.events import JobSubmitted, SavepointCompleted, SavepointTriggered
from holdfast.harness.model.history import History
from holdfast.harness.model.job import VertexKind
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.model.records import InputLog
from holdfast.harness.oracles.shared.joined_pairs import JoinedPairs
from holdfast.harness.oracles.shared.session_windows import SessionWindows
from holdfast.harness.oracles.shared.split_windows import SplitWindows
from holdfast.harness.oracles.shared.windows import JobWindows


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


Expected = JobWindows | SplitWindows | SessionWindows | JoinedPairs


def with_split_watermarks(history: History) -> SplitWindows | SessionWindows | JoinedPairs | None:
    """The expected windows of a job in which each split has a watermark; None: it is none."""
    job, (inputs, over) = history.plan.job, ended_input(history)
    if job.of_kind(VertexKind.SLIDING_SUM):
        return SplitWindows(history, inputs, over=over)
    if job.of_kind(VertexKind.SESSION_SUM):
        return SessionWindows(history.plan, inputs, over=over)
    if job.of_kind(VertexKind.INTERVAL_JOIN):
        return JoinedPairs(history.plan, inputs)
    return None


def expected_windows(history: History) -> Expected:
    """The expected windows of a job of contract WINDOW."""
    return with_split_watermarks(history) or JobWindows(history.inputs, history.plan.digest_key)
