"""Where a check takes place: strategies that the kit makes, on a clock and streams that it owns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from holdfast.harness.sim.streams import Stream
from holdfast.harness.spi.restart_strategy import (
    RestartContext,
    RestartStrategy,
    RestartStrategyDescription,
    RestartStrategyFactory,
)
from holdfast.suites.certify.answers import Answers
from holdfast.suites.certify.restart_strategy.life import Life

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
