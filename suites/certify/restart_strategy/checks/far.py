"""RST-07: counts and times far out, and a clock that no strategy reads."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, cast

from holdfast.harness.model import profile
from holdfast.harness.spi.restart_strategy import Failure, RestartStrategy, StrategyKind
from holdfast.suites.certify.answers import behind
from holdfast.suites.certify.check import CannotTry, Check, Violation
from holdfast.suites.certify.restart_strategy.bench import START_MS, Bench, Life
from holdfast.suites.certify.restart_strategy.checks.contract import lasting, require_same, story

ROW = 2_500
"""More failures than a delay that doubles each time has room for in any number."""
YEAR_MS = 365 * 86_400_000
FAR_MS = (0.0, (1 << 31) - 2e6, (1 << 32) - 2e6, 1.7e12, float(1 << 45))
"""The beginning of a clock, where numbers of 32 bits end during the story, the year 2023, and the year 3000."""
HUNDREDS = {
    StrategyKind.FIXED_DELAY: {profile.FIXED_ATTEMPTS: "300", profile.FIXED_DELAY: "1 s"},
    StrategyKind.FAILURE_RATE: {profile.RATE_FAILURES: "300", profile.RATE_INTERVAL: "1 h", profile.RATE_DELAY: "1 s"},
}
BEYOND_TWO_BYTES = (1 << 16) + 10
WITHOUT_A_LIMIT = {
    StrategyKind.FIXED_DELAY: {profile.FIXED_ATTEMPTS: str(profile.UNLIMITED), profile.FIXED_DELAY: "1 s"},
    StrategyKind.EXPONENTIAL_DELAY: {profile.EXPONENTIAL_INITIAL: "1 s", profile.EXPONENTIAL_MAX: "1 s"},
}
_CLOCKS = frozenset({"time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns",
                     "clock_gettime", "clock_gettime_ns", "now", "utcnow", "today"})  # fmt: skip
_MODULES = frozenset({"time", "datetime"})


def long_rows(bench: Bench) -> None:
    """At once, one restart after the other, and years apart."""
    for passed_ms in (None, 1.0, float(YEAR_MS)):
        life = bench.life()
        for number in range(ROW):
            delay_ms = life.failed()
            if delay_ms is None:
                break
            if passed_ms is not None:
                life.runs(delay_ms, passed_ms)
            if number == 1_100:
                bench.hit("beyond-a-thousand")
            if number % 100 == 0:
                del bench.steps[:-20]


def far_moments(bench: Bench) -> None:
    """Only differences of time count, at the beginning of a clock and far from it."""
    right = story(lasting(bench))
    for now_ms in FAR_MS:
        require_same(bench, right, story(lasting(bench, now_ms=now_ms)), f"from {now_ms:.0f} ms on it answers")


def any_failure(bench: Bench) -> None:
    """That of a job as a whole, with another cause, behind a first start: the rules of the kinds count each alike."""
    if bench.description.kind is None:
        raise CannotTry("it has a rule of its own, which may look at the cause")
    right = story(lasting(bench))
    for subtask, cause in (("", "a checkpoint too many has failed"), ("sink-11", "x")):
        life = lasting(bench)
        life.runs(0)
        require_same(bench, right, story(life, subtask=subtask, cause=cause), f"to {cause!r} of {subtask!r} it answers")


def many_attempts(bench: Bench) -> None:
    """As many as a number of one byte has no room for, and one more."""
    assert bench.description.kind is not None
    life = bench.life(HUNDREDS[bench.description.kind])
    for number in range(300):
        if life.failed() != 1_000:
            raise Violation(bench.rule, f"failure {number + 1} of 300 that are allowed is final, or waits otherwise.")
    life.expect_end("300 restarts are allowed, and were")


def unlimited(bench: Bench) -> None:
    """More failures than a number of two bytes has room for, each behind the restart from the one before. So many are
    asked without looking at each answer's type: that would take longer than the strategy."""
    assert bench.description.kind is not None
    life = bench.life(WITHOUT_A_LIMIT[bench.description.kind])
    failed, failure = cast("RestartStrategy", behind(life.strategy)).failed, Failure(cause="again", subtask="map-0")
    for number in range(BEYOND_TWO_BYTES):
        if (delay_ms := failed(failure, START_MS + 2_000 * number)) != 1_000:
            raise Violation(
                bench.rule, f"the answer to failure {number + 1} is {delay_ms}; without a limit 1000 is right."
            )


def no_clock(bench: Bench) -> None:
    """What calls a clock is seen, however it was imported. A record of a log has the time of day, and is none of
    this."""
    read: list[str] = []
    with _uncollected(), _watched(read):
        life = bench.life(now_ms=START_MS)
        _lived(life)
    if read:
        raise Violation(bench.rule, f"{read[0]} was called; `now_ms` is all the time that there is.")


def _lived(life: Life) -> None:
    for number in range(40):
        delay_ms = life.failed()
        if delay_ms is None:
            return
        life.runs(delay_ms, 1.0 + 7_000 * (number % 5))


@contextmanager
def _uncollected() -> Iterator[None]:
    """No garbage is collected: libraries have callbacks that time it, and these would be called from anywhere."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def _watched(read: list[str]) -> Iterator[None]:
    def saw(frame: FrameType, event: str, called: Any) -> None:
        if event != "c_call" or called.__name__ not in _CLOCKS or "logging" in str(frame.f_globals.get("__name__")):
            return
        of = called.__module__ or getattr(called.__self__, "__module__", "")
        if of in _MODULES:
            place = f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
            read.append(f"{of}.{called.__name__}() ({place})")

    before = sys.getprofile()
    sys.setprofile(saw)
    try:
        yield
    finally:
        sys.setprofile(before)


CHECKS = (
    Check("RST-07/long-rows", f"It answers {ROW} failures, if it gives up after none of them.", long_rows),
    Check("RST-07/far-moments", "Nor does it count how far the clock is from its beginning.", far_moments),
    Check("RST-07/any-failure", "Whose failure it is, and why, changes no answer of a kind.", any_failure),
    Check(
        "RST-03/hundreds",
        "Hundreds of restarts are counted to the end.",
        many_attempts,
        frozenset({StrategyKind.FIXED_DELAY}),
        ("gave-up",),
    ),
    Check(
        "RST-04/hundreds",
        "Hundreds of failures in a window are counted.",
        many_attempts,
        frozenset({StrategyKind.FAILURE_RATE}),
        ("gave-up",),
    ),
    Check("RST-03/unlimited", "Without a limit there is none.", unlimited, frozenset({StrategyKind.FIXED_DELAY})),
    Check("RST-06/unlimited", "Without a limit there is none.", unlimited, frozenset({StrategyKind.EXPONENTIAL_DELAY})),
    Check("RST-07/no-clock", "It reads no clock of its own.", no_clock),
)
