"""Random programs, by Hypothesis: failures, restarts and time beside a model of the kind."""

from __future__ import annotations

from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from holdfast.harness.spi.restart_strategy import StrategyKind
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.programs import run_machine
from holdfast.suites.certify.restart_strategy.bench import Bench, Life
from holdfast.suites.certify.restart_strategy.models import TRIED, Model

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
