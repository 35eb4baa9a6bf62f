"""Random programs by Hypothesis, of failures, restarts and time, beside a model of each kind (RULES RST)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, NamedTuple, Protocol

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from holdfast.harness.model import profile
from holdfast.harness.model.units import duration_ms
from holdfast.harness.spi.restart_strategy import StrategyKind
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.programs import run_machine
from holdfast.suites.certify.restart_strategy.bench import Bench, Life


class Right(NamedTuple):
    """Which delays are right, in milliseconds; None: the job must fail."""

    least_ms: float
    most_ms: float


class Model(Protocol):
    """One life of a strategy."""

    def failed(self, now_ms: float) -> Right | None:
        """What is right for a recoverable failure now."""

    def answered(self, now_ms: float, delay_ms: int) -> None:
        """What the strategy said, which was right."""


class NoneModel:
    """No restart (RST-05)."""

    def failed(self, now_ms: float) -> Right | None:
        return None

    def answered(self, now_ms: float, delay_ms: int) -> None:
        """Never called: it does not restart."""


class FixedModel:
    """So many times the same (RST-03)."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self.left = int(options[profile.FIXED_ATTEMPTS])
        self.delay_ms = duration_ms(options[profile.FIXED_DELAY])

    def failed(self, now_ms: float) -> Right | None:
        return Right(self.delay_ms, self.delay_ms) if self.left else None

    def answered(self, now_ms: float, delay_ms: int) -> None:
        self.left -= 1


class RateModel:
    """So many in any window (RST-04)."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self.allowed = int(options[profile.RATE_FAILURES])
        self.window_ms = duration_ms(options[profile.RATE_INTERVAL])
        self.delay_ms = duration_ms(options[profile.RATE_DELAY])
        self.moments: list[float] = []

    def failed(self, now_ms: float) -> Right | None:
        before = sum(now_ms - moment < self.window_ms for moment in self.moments)
        return Right(self.delay_ms, self.delay_ms) if before < self.allowed else None

    def answered(self, now_ms: float, delay_ms: int) -> None:
        self.moments.append(now_ms)


class ExponentialModel:
    """A row that a quiet time ends (RST-06)."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self.first_ms = duration_ms(options[profile.EXPONENTIAL_INITIAL])
        self.longest_ms = duration_ms(options[profile.EXPONENTIAL_MAX])
        self.factor = float(options[profile.EXPONENTIAL_MULTIPLIER])
        self.quiet_ms = duration_ms(options[profile.EXPONENTIAL_RESET])
        self.jitter = float(options[profile.EXPONENTIAL_JITTER])
        most = options[profile.EXPONENTIAL_ATTEMPTS]
        self.most = profile.UNLIMITED if most == "infinite" else int(most)
        self.row = 0
        self.restart_ms = float("-inf")

    def failed(self, now_ms: float) -> Right | None:
        if now_ms < self.restart_ms:
            return Right(self.restart_ms - now_ms, self.restart_ms - now_ms + 1)
        row = 0 if now_ms - self.restart_ms > self.quiet_ms else self.row
        if row >= self.most:
            return None
        # The maximum cuts before jitter is added, behind it, or both: what Flink does has changed.
        grown_ms = self.first_ms * self.factor**row
        least_ms = min(grown_ms, self.longest_ms) * (1 - self.jitter) - 1
        return Right(self._within(least_ms), self._within(grown_ms * (1 + self.jitter) + 1))

    def _within(self, delay_ms: float) -> float:
        return max(self.first_ms, min(delay_ms, self.longest_ms))

    def answered(self, now_ms: float, delay_ms: int) -> None:
        if now_ms < self.restart_ms:
            return
        self.row = 1 if now_ms - self.restart_ms > self.quiet_ms else self.row + 1
        self.restart_ms = now_ms + delay_ms


class Tried(NamedTuple):
    """How random programs try a kind: a model, and sets of options."""

    model: Callable[[Mapping[str, str]], Model]
    options: tuple[Mapping[str, str], ...]


def _exponential(jitter: str, attempts: str, quiet: str) -> Mapping[str, str]:
    return {
        profile.EXPONENTIAL_INITIAL: "40 ms",
        profile.EXPONENTIAL_MAX: "300 ms",
        profile.EXPONENTIAL_MULTIPLIER: "2.0",
        profile.EXPONENTIAL_RESET: quiet,
        profile.EXPONENTIAL_JITTER: jitter,
        profile.EXPONENTIAL_ATTEMPTS: attempts,
    }


TRIED: Mapping[StrategyKind, Tried] = {
    StrategyKind.NONE: Tried(lambda options: NoneModel(), ({},)),
    StrategyKind.FIXED_DELAY: Tried(
        FixedModel,
        tuple(
            {profile.FIXED_ATTEMPTS: most, profile.FIXED_DELAY: delay}
            for most, delay in (("4", "20 ms"), ("1", "0 ms"), ("0", "1 s"))
        ),
    ),
    StrategyKind.FAILURE_RATE: Tried(
        RateModel,
        tuple(
            {profile.RATE_FAILURES: most, profile.RATE_INTERVAL: window, profile.RATE_DELAY: "20 ms"}
            for most, window in (("1", "151 ms"), ("3", "301 ms"))
        ),
    ),
    StrategyKind.EXPONENTIAL_DELAY: Tried(
        ExponentialModel,
        (
            _exponential("0.0", "3", "555 ms"),
            _exponential("0.3", "infinite", "555 ms"),
            _exponential("1.0", "5", "1 h"),
        ),
    ),
}


EXAMPLES = 80
STEPS = 25


class RestartMachine(RuleBasedStateMachine):
    """One coordinator after the other, with the same options."""

    outer: ClassVar[Bench]
    life: Life
    model: Model

    @initialize(number=st.integers(0, 2))
    def begin(self, number: int) -> None:
        kind = self.outer.description.kind
        assert kind is not None
        self.tried = TRIED[kind]
        self.options = self.tried.options[number % len(self.tried.options)]
        self.restart()

    def restart(self) -> None:
        """A new coordinator."""
        self.life = self.outer.life(self.options)
        self.model = self.tried.model(self.options)
        self.awaited: float | None = None

    @rule()
    def fail(self) -> None:
        now_ms = self.life.now_ms
        right = self.model.failed(now_ms)
        delay_ms = self.life.failed()
        if right is None:
            self.outer.hit("gave-up")
            if delay_ms is not None:
                raise Violation(self.outer.rule, f"the job restarts after {delay_ms} ms; None is right.")
            self.restart()
            return
        if delay_ms is None or not right.least_ms <= delay_ms <= right.most_ms:
            raise Violation(
                self.outer.rule,
                f"the answer is {delay_ms}; a delay of {right.least_ms:.0f} to {right.most_ms:.0f} ms is right.",
            )
        self.model.answered(now_ms, delay_ms)
        self.awaited = now_ms + delay_ms

    @rule()
    def fail_for_good(self) -> None:
        self.life.expect_end("no restart can help", recoverable=False)
        self.restart()

    @precondition(lambda self: self.awaited is not None)
    @rule(after_ms=st.sampled_from([1, 100, 600]))
    def run(self, after_ms: int) -> None:
        assert self.awaited is not None
        self.life.runs(max(0, int(self.awaited - self.life.now_ms)), after_ms)
        self.awaited = None

    @rule(after_ms=st.sampled_from([1, 100, 600]))
    def fail_and_run(self, after_ms: int) -> None:
        self.fail()
        if self.awaited is not None:
            self.run(after_ms)

    @rule(failures=st.sampled_from([2, 4, 8]), after_ms=st.sampled_from([1, 300]))
    def fail_in_a_row(self, failures: int, after_ms: int) -> None:
        """Delays grow, and none of the times between them is a quiet one."""
        for _ in range(failures):
            self.fail_and_run(after_ms)

    @rule(passed_ms=st.sampled_from([1, 10, 100, 600]))
    def wait(self, passed_ms: int) -> None:
        """Not up to the very moment of a restart: whether that is before or behind it is not said."""
        self.life.wait(passed_ms + 0.5)


def program(bench: Bench) -> None:
    run_machine(RestartMachine, bench, EXAMPLES, STEPS)


MACHINES = tuple(
    Check(f"{number}/program", "Random programs of failures, restarts and time.", program, frozenset({kind}), windows)
    for number, kind, windows in (
        ("RST-03", StrategyKind.FIXED_DELAY, ("gave-up", "restarted")),
        ("RST-04", StrategyKind.FAILURE_RATE, ("gave-up", "restarted")),
        ("RST-05", StrategyKind.NONE, ("gave-up",)),
        ("RST-06", StrategyKind.EXPONENTIAL_DELAY, ("gave-up", "restarted")),
    )
)
