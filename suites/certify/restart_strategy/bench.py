"""Where a check takes place: strategies that the kit makes, on a clock and streams that it owns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from holdfast.harness.sim.streams import Stream
from holdfast.harness.spi.restart_strategy import (
    Failure,
    RestartContext,
    RestartStrategy,
    RestartStrategyDescription,
    RestartStrategyFactory,
)
from holdfast.suites.certify.answers import Answers
from holdfast.suites.certify.check import Violation


class Life:
    """What the job goes through, as its strategy hears of it.

    Attributes:
        now_ms: what time it is.
    """

    def __init__(self, bench: Bench, strategy: RestartStrategy, now_ms: float) -> None:
        self.bench = bench
        self.strategy = strategy
        self.now_ms = now_ms

    def failed(
        self, *, recoverable: bool = True, subtask: str = "map-0", cause: str = "the record is poisoned"
    ) -> int | None:
        """A failure now; returns the answer.

        Raises:
            Violation: RST-07: the answer is neither None nor a whole number from 0.
        """
        failure = Failure(cause=cause, subtask=subtask, recoverable=recoverable)
        delay_ms = self.strategy.failed(failure, self.now_ms)
        kind = "" if recoverable else " that is not recoverable"
        self.bench.step(f"failure{kind} at {self.now_ms:.0f} ms: {delay_ms}")
        if delay_ms is not None and (type(delay_ms) is not int or delay_ms < 0):
            raise Violation("RST-07", f"failed() answered {delay_ms!r}; None or whole milliseconds from 0 are right.")
        return delay_ms

    def expect(self, least_ms: int, most_ms: int | None = None, *, subtask: str = "map-0") -> int:
        """A failure now is followed by a restart after such a delay; returns it.

        Args:
            least_ms: the shortest that is right.
            most_ms: the longest; None: the same.
            subtask: that fails.

        Raises:
            Violation: it is not.
        """
        most_ms = least_ms if most_ms is None else most_ms
        delay_ms = self.failed(subtask=subtask)
        if delay_ms is None or not least_ms <= delay_ms <= most_ms:
            right = f"{least_ms} ms" if least_ms == most_ms else f"{least_ms} to {most_ms} ms"
            said = "the job gives up" if delay_ms is None else f"the delay is {delay_ms} ms"
            raise Violation(self.bench.rule, f"{said}; a restart after {right} is right.")
        return delay_ms

    def expect_end(self, why: str, *, recoverable: bool = True, subtask: str = "map-0") -> None:
        """A failure now is final.

        Raises:
            Violation: it is not.
        """
        delay_ms = self.failed(recoverable=recoverable, subtask=subtask)
        self.bench.hit("gave-up")
        if delay_ms is not None:
            raise Violation(self.bench.rule, f"the job restarts after {delay_ms} ms; None is right: {why}.")

    def wait(self, passed_ms: float) -> None:
        """Time goes by."""
        self.now_ms += passed_ms

    def runs(self, delay_ms: int, after_ms: float = 1) -> None:
        """The restart comes, and the job runs.

        Args:
            delay_ms: until the restart.
            after_ms: from there until it runs.
        """
        self.wait(delay_ms + after_ms)
        self.bench.step(f"running at {self.now_ms:.0f} ms")
        self.bench.hit("restarted")
        self.strategy.running(self.now_ms)


IN_TURN = ("map-0", "map-1", "sink-0", "")
"""Subtasks that fail one after the other; the last one is the job itself."""
START_MS = 1_000_000.0
ANSWERS_RULE = "RST-07"
"""It is broken by an answer that is none, whatever was asked."""


class Bench:
    """One check's own world; no other check sees anything of it.

    Attributes:
        factory: makes the strategies.
        rule: that is broken by a wrong answer.
        seed: of random programs and of all streams.
        description: that a strategy without options gives.
        flags: its kind, if it declares one.
        steps: what was done so far: the witness.
        windows: what was met, by name.
        answers: of all strategies.
    """

    def __init__(self, factory: RestartStrategyFactory, rule: str, seed: int = 0) -> None:
        self.factory = factory
        self.rule = rule
        self.seed = seed
        self.steps: list[str] = []
        self.windows: Counter[str] = Counter()
        self.answers = Answers(ANSWERS_RULE)
        made = self.answers.made(factory, RestartStrategy, RestartContext(uniform=self.stream("describe")))
        self.description: RestartStrategyDescription = made.describe()
        self.flags = frozenset([self.description.kind] if self.description.kind else [])

    def stream(self, label: str) -> Callable[[], float]:
        """Draws that depend on the seed and the label alone."""
        return Stream(self.seed, label).random

    def life(
        self,
        options: Mapping[str, str] | None = None,
        *,
        now_ms: float = START_MS,
        uniform: Callable[[], float] | None = None,
    ) -> Life:
        """A new strategy, as a new coordinator makes one.

        Args:
            options: by key.
            now_ms: when it is made.
            uniform: what it draws; else a stream of the bench.
        """
        self.step(f"a strategy with {dict(options or {})}")
        context = RestartContext(uniform=uniform or self.stream("uniform"), options=options or {})
        return Life(self, self.answers.made(self.factory, RestartStrategy, context), now_ms)

    def step(self, step: str) -> None:
        self.steps.append(step)

    def hit(self, window: str) -> None:
        """A window was met."""
        self.windows[window] += 1

    def close(self) -> list[Exception]:
        """A strategy holds nothing."""
        return []
