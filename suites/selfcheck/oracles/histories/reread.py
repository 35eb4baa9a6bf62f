"""Histories for REREAD: input at a thousand records a second and partition, a checkpoint every 100 ms."""

from __future__ import annotations

from holdfast.harness.model.checkpoint import FailureReason
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.records import InputLog
from holdfast.harness.model.target import Role, Target
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits, input_log, undecided
from holdfast.suites.selfcheck.oracles.lines import aborted, attempt, completed, emitted, failure, triggered

LENGTH = 2_000
KILL = FaultSpec("kill", Target(Role.WORKER, 0))


def arriving() -> InputLog:
    log = input_log(LENGTH)
    (whole,) = log.partitions
    steady = type(whole)(whole.key, whole.value, preloaded=0, records_per_second=1_000)
    return InputLog(log.keys, (steady,), log.first_offsets)


def checkpoint(number: int, position: int) -> list[Line]:
    """It takes ten milliseconds."""
    taken = completed(number, position)
    return [triggered(number), 9, taken]


bad, near = exhibits(
    "REREAD", attempt(), 98, emitted(0, 100), checkpoint(1, 100), claimed=frozenset(), faults=(KILL,), inputs=arriving()
)

bad("too-much", "far more than an interval", 290, emitted(100, 400), failure(), attempt(1))
bad(
    "too-much", "goes back by two",
    90, emitted(100, 210), checkpoint(2, 210), 100, emitted(100, 330), failure(), attempt(1),
)  # fmt: skip
near("too-much", "a part of an interval", 60, emitted(100, 175), failure(), attempt(1))
near("too-much", "nearly an interval and a checkpoint", 98, emitted(100, 208), failure(), attempt(1))


# Nothing is decided: the last complete one is older than an interval.
undecided(
    "REREAD", "a checkpoint failed in between",
    attempt(), 98, emitted(0, 100), *checkpoint(1, 100), 90, triggered(2), aborted(2, FailureReason.EXPIRED), 190,
    emitted(100, 400), failure(), attempt(1), inputs=arriving(), faults=(KILL,), claimed=frozenset(),
)  # fmt: skip


# Nothing is decided: they read faster than input arrives.
undecided(
    "REREAD", "sources lag behind",
    attempt(), 98, emitted(0, 10), *checkpoint(1, 10), 60, emitted(10, 400), failure(), attempt(1), inputs=arriving(),
    faults=(KILL,), claimed=frozenset(),
)  # fmt: skip
