"""RST-07, and what holds for every strategy, whatever its kind: far counts and times, and a clock that none reads."""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, cast

from holdfast.harness.model import profile
from holdfast.harness.spi import SPI_VERSION
from holdfast.harness.spi.restart_strategy import Failure, RestartContext, RestartStrategy, StrategyKind
from holdfast.suites.certify.answers import behind
from holdfast.suites.certify.check import CannotTry, Check, Violation
from holdfast.suites.certify.restart_strategy.bench import START_MS, Bench, Life

PASSED_MS = (0.0, 1.0, 250.0, 5_000.0, 61_000.0, 4_000_000.0)
LONGEST = 40
LASTING: Mapping[StrategyKind, Mapping[str, str]] = {
    StrategyKind.FIXED_DELAY: {profile.FIXED_ATTEMPTS: "100"},
    StrategyKind.FAILURE_RATE: {profile.RATE_FAILURES: "12", profile.RATE_INTERVAL: "5 min"},
}
"""Where the defaults give up soon: options with which a story is told to its end."""
TWO_DAYS = ("172800000 ms", "172800 s", "2880 min", "48h", "2 d")
DURATIONS: Mapping[StrategyKind, Mapping[str, str]] = {
    StrategyKind.FIXED_DELAY: {profile.FIXED_DELAY: "1 s"},
    StrategyKind.FAILURE_RATE: {profile.RATE_INTERVAL: "1 s", profile.RATE_DELAY: "1 s"},
    StrategyKind.EXPONENTIAL_DELAY: {
        profile.EXPONENTIAL_INITIAL: "1 s",
        profile.EXPONENTIAL_MAX: "259200 s",
        profile.EXPONENTIAL_RESET: "259200 s",
    },
}
"""Options that are durations; each is written in other ways, while the others are these."""


def unrecoverable(bench: Bench) -> None:
    """Final as the first failure, behind restarts, and while one is awaited."""
    why = "no restart can help"
    bench.life().expect_end(why, recoverable=False)
    life = bench.life()
    delay_ms = life.failed()
    if delay_ms is not None:
        life.expect_end(why, recoverable=False)
        life = bench.life()
        life.runs(life.failed() or 0)
        life.expect_end(why, recoverable=False)


def options(bench: Bench) -> None:
    """An unknown key is refused by name."""
    _refused(bench, {"restart-strategy.no-such-option": "1"}, "restart-strategy.no-such-option")


def values(bench: Bench) -> None:
    """A value that cannot be read is refused, by the name of its key."""
    if not bench.description.options:
        raise CannotTry("it has no options")
    for key in bench.description.options:
        _refused(bench, {key: "certainly no value"}, key)


def _refused(bench: Bench, given: Mapping[str, str], key: str) -> None:
    bench.step(f"a strategy with {dict(given)}")
    try:
        bench.factory(RestartContext(uniform=bench.stream("uniform"), options=given))
    except ValueError as error:
        if key not in str(error) or "\n" in str(error):
            raise Violation(
                bench.rule, f"the factory raised {error!r}; one sentence that names {key} is right."
            ) from error
        return
    raise Violation(bench.rule, f"the factory took {dict(given)}; ValueError is right.")


def defaults(bench: Bench) -> None:
    """What is not given is as if the default were."""
    given = {key: default for key, (default, _) in bench.description.options.items()}
    require_same(bench, story(bench.life()), story(bench.life(given)), f"with the defaults given ({given}) it answers")


def durations(bench: Bench) -> None:
    """A duration is the same one, however it is written."""
    kind = bench.description.kind
    if kind is None or kind not in DURATIONS:
        raise CannotTry("its kind has no durations that the kit knows")
    for key in DURATIONS[kind]:
        options = {**DURATIONS[kind], key: TWO_DAYS[0]}
        right = story(bench.life(options))
        for written in TWO_DAYS[1:]:
            said = story(bench.life({**options, key: written}))
            require_same(bench, right, said, f"with {key} {written!r} in place of {TWO_DAYS[0]!r} it answers")


def description(bench: Bench) -> None:
    """The same at every call, whatever is set, and of this version."""
    if bench.description.spi_version != SPI_VERSION:
        raise Violation(bench.rule, f"spi_version is {bench.description.spi_version}; {SPI_VERSION} is right.")
    life = bench.life()
    for _ in range(3):
        _require_description(bench, life.strategy)
        delay_ms = life.failed()
        if delay_ms is None:
            break
        life.runs(delay_ms)
    for key, (default, _) in bench.description.options.items():
        other = re.sub(r"\d+", lambda number: str(int(number[0]) + 1), default, count=1)
        try:
            life = bench.life({key: other})
        except ValueError as error:  # It need not take every value.
            bench.step(f"    {error}")
        else:
            _require_description(bench, life.strategy)


def _require_description(bench: Bench, strategy: RestartStrategy) -> None:
    if strategy.describe() != bench.description:
        raise Violation(bench.rule, f"describe() returned {strategy.describe()}, and {bench.description} before.")


def repeatable(bench: Bench) -> None:
    """The same calls and draws bring the same answers."""
    require_same(bench, story(lasting(bench)), story(lasting(bench)), "with the same calls and draws it answers")


def moment(bench: Bench) -> None:
    """Only differences of time count."""
    later = lasting(bench, now_ms=START_MS + 86_412_345)
    require_same(bench, story(lasting(bench)), story(later), "a day later it answers")


def apart(bench: Bench) -> None:
    """Strategies of two jobs know nothing of each other."""
    alone = story(lasting(bench))
    one, two = lasting(bench), lasting(bench)
    both: list[tuple[int | None, int | None]] = []
    for passed_ms in _passing():
        both.append((one.failed(), two.failed()))
        if None in both[-1]:
            break
        for life in (one, two):
            life.runs(both[-1][0] or 0, passed_ms)
    require_same(bench, alone, [first for first, _ in both], "beside another job it answers")
    require_same(bench, alone, [second for _, second in both], "beside another job it answers")


def lasting(bench: Bench, *, now_ms: float = START_MS) -> Life:
    """A strategy that does not give up before a story ends, if its kind has options for that."""
    kind = bench.description.kind
    return bench.life(LASTING.get(kind) if kind else None, now_ms=now_ms)


def story(life: Life, *, subtask: str = "map-0", cause: str = "the record is poisoned") -> list[int | None]:
    """Failures with more and less time between them, up to the end; whose, and why."""
    answers: list[int | None] = []
    for passed_ms in _passing():
        answers.append(life.failed(subtask=subtask, cause=cause))
        if answers[-1] is None:
            break
        life.runs(answers[-1], passed_ms)
    return answers


def _passing() -> list[float]:
    return [PASSED_MS[(5 * number + number // 6) % len(PASSED_MS)] + 1 for number in range(LONGEST)]


def require_same(bench: Bench, right: list[int | None], said: list[int | None], when: str) -> None:
    """Two stories have the same answers.

    Raises:
        Violation: of the bench's rule.
    """
    if right != said:
        place = next((each for each, pair in enumerate(zip(right, said, strict=False)) if pair[0] != pair[1]), -1)
        raise Violation(bench.rule, f"{when} {said[place]} to failure {place + 1}; {right[place]} is right.")


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
    Check("RST-07/unrecoverable", "What no restart can help against is final.", unrecoverable, windows=("gave-up",)),
    Check("RST-07/options", "An option that it does not have is refused.", options),
    Check("RST-07/values", "A value that cannot be read is refused.", values),
    Check("RST-07/defaults", "The defaults are those that it describes.", defaults),
    Check("RST-07/durations", "A duration may be written in any unit.", durations),
    Check("RST-07/description", "It says the same of itself at every call.", description),
    Check("RST-07/repeatable", "The same calls and draws bring the same answers.", repeatable),
    Check("RST-07/moment", "What time of day it is does not count.", moment),
    Check("RST-07/apart", "Strategies of two jobs know nothing of each other.", apart),
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
