"""Histories for REREAD: input at a thousand records a second and partition, a checkpoint every 100 ms."""

from __future__ import annotations

from holdfast.harness.model.checkpoint import FailureReason
from holdfast.harness.model.events import (
    AttemptStarted,
    CheckpointAborted,
    CheckpointCompleted,
    CheckpointTriggered,
    FailureCounted,
    SourceEmitted,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.records import InputLog
from holdfast.harness.model.target import Role, Target
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits, input_log, story

bad, near = exhibits("REREAD")
LENGTH = 2_000
KILL = FaultSpec("kill", Target(Role.WORKER, 0))


def arriving() -> InputLog:
    log = input_log(LENGTH)
    (whole,) = log.partitions
    steady = type(whole)(whole.key, whole.value, preloaded=0, records_per_second=1_000)
    return InputLog(log.keys, (steady,), log.first_offsets)


def checkpoint(number: int, position: int) -> list[Line]:
    """It takes ten milliseconds."""
    taken = CheckpointCompleted(checkpoint=number, positions=(position,))
    return [CheckpointTriggered(checkpoint=number, participants=()), 9, taken]


def emitted(first: int, following: int) -> SourceEmitted:
    return SourceEmitted(subtask="source[0]", partition=0, first_offset=first, next_offset=following)


def fails(position: int, until: int, *between: Line, silent_ms: float = 60, restored: int = 1) -> History:
    """The job has read so far at checkpoint 1, and so far when it fails."""
    lines: list[Line] = [AttemptStarted(), 98, emitted(0, position), *checkpoint(1, position), *between, silent_ms]
    failed = FailureCounted(cause="worker lost")
    return story(
        *lines,
        emitted(position, until),
        failed,
        AttemptStarted(restored_checkpoint=restored),
        inputs=arriving(),
        faults=(KILL,),
        claimed=frozenset(),
    )


@bad("too-much")
def far_more_than_an_interval() -> History:
    return fails(100, 400, silent_ms=290)


@bad("too-much")
def goes_back_by_two() -> History:
    return fails(100, 330, 90, emitted(100, 210), *checkpoint(2, 210), silent_ms=100)


@near("too-much")
def a_part_of_an_interval() -> History:
    return fails(100, 175)


@near("too-much")
def nearly_an_interval_and_a_checkpoint() -> History:
    return fails(100, 208, silent_ms=98)


def a_checkpoint_failed_in_between() -> History:
    """Nothing is decided: the last complete one is older than an interval."""
    late = CheckpointAborted(checkpoint=2, reason=FailureReason.EXPIRED)
    return fails(100, 400, 90, CheckpointTriggered(checkpoint=2, participants=()), late, silent_ms=190)


def sources_lag_behind() -> History:
    """Nothing is decided: they read faster than input arrives."""
    return fails(10, 400)
