"""One strategy in the life of one coordinator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.harness.spi.restart_strategy import Failure, RestartStrategy
from holdfast.suites.certify.check import Violation

if TYPE_CHECKING:
    from holdfast.suites.certify.restart_strategy.bench import Bench


class Life:
    """What the job goes through, as its strategy is told.

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

    def expect(self, least_ms: int, most_ms: int | None = None) -> int:
        """A failure now is followed by a restart after such a delay; returns it.

        Args:
            least_ms: the shortest that is right.
            most_ms: the longest; None: the same.

        Raises:
            Violation: it is not.
        """
        most_ms = least_ms if most_ms is None else most_ms
        delay_ms = self.failed()
        if delay_ms is None or not least_ms <= delay_ms <= most_ms:
            right = f"{least_ms} ms" if least_ms == most_ms else f"{least_ms} to {most_ms} ms"
            said = "the job gives up" if delay_ms is None else f"the delay is {delay_ms} ms"
            raise Violation(self.bench.rule, f"{said}; a restart after {right} is right.")
        return delay_ms

    def expect_end(self, why: str, *, recoverable: bool = True) -> None:
        """A failure now is final.

        Raises:
            Violation: it is not.
        """
        delay_ms = self.failed(recoverable=recoverable)
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
