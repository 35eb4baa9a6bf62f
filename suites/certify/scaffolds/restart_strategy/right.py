"""A restart strategy: each delay is the sum of the two before it, up to one minute.

The contract is `holdfast.harness.spi.restart_strategy`. No strategy reads a clock or draws random numbers of its own:
times are arguments, and `RestartContext.uniform` draws.
"""

from __future__ import annotations

from holdfast.harness.spi.restart_strategy import Failure, RestartContext, RestartStrategyDescription

FIRST_DELAY_MS = 100
LONGEST_DELAY_MS = 60_000


class Strategy:
    """Of one job: what it counts is its own, and no other job's."""

    def __init__(self, context: RestartContext) -> None:
        for key in context.options:
            raise ValueError(f"option {key!r} is unknown; this strategy has none.")
        self.last_ms, self.next_ms = 0, FIRST_DELAY_MS

    def describe(self) -> RestartStrategyDescription:
        return RestartStrategyDescription(name="example")

    def failed(self, failure: Failure, now_ms: float) -> int | None:
        # The same would happen again, whatever is restarted: None is the answer, and is final.
        if not failure.recoverable:
            return None
        delay_ms = self.next_ms
        self.last_ms, self.next_ms = delay_ms, min(self.last_ms + delay_ms, LONGEST_DELAY_MS)
        return delay_ms

    def running(self, now_ms: float) -> None:
        """Delays are short again for a job that runs."""
        self.last_ms, self.next_ms = 0, FIRST_DELAY_MS
