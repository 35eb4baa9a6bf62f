"""A restart strategy: whether, and after which delay, a job that failed runs again. Version 1.

Threads. The coordinator's one thread makes the strategy and calls every method.

Time. No strategy reads a clock. Methods take `now_ms`, milliseconds since any moment, which never decreases and need
not be whole. Only differences count, from 0 on and however far the clock is, and none of them is read elsewhere.

Randomness. What `RestartContext.uniform` draws is all there is: the same calls and draws bring the same delays.

Life. A strategy lives as long as its coordinator; the next coordinator makes a new one, which remembers nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Protocol

import msgspec

from holdfast.harness.spi import SPI_VERSION

__all__ = [
    "Failure",
    "RestartContext",
    "RestartStrategy",
    "RestartStrategyDescription",
    "RestartStrategyFactory",
    "StrategyKind",
]


class StrategyKind(StrEnum):
    """Flink's strategies. Who declares one keeps its rule and understands its options; what is declared is tried."""

    NONE = "none"
    """The first failure is final (RST-05)."""
    FIXED_DELAY = "fixed-delay"
    """So many restarts, each after the same delay (RST-03). Each failure counts, and is answered by that delay."""
    FAILURE_RATE = "failure-rate"
    """So many failures in a window that slides (RST-04). Each counts, and is answered by the same delay."""
    EXPONENTIAL_DELAY = "exponential-delay"
    """Delays grow from restart to restart, and are short again behind a quiet time (RST-06), which is counted from the
    moment of the last restart: its delay is over then, and the job need not run yet. Jitter moves each to both sides,
    as far as the first delay and the maximum allow; the maximum may cut before that, too.

    A failure while the restart from an earlier failure is still to come is one with that: it does not count, and is
    answered by the time that is left until that restart."""


class RestartStrategyDescription(msgspec.Struct, frozen=True, kw_only=True):
    """What `describe` returns: the same value at every call, and for every strategy of one factory, whatever is set.

    Attributes:
        name: of the strategy, such as `fixed-delay`.
        kind: whose rule it keeps; None: one of its own.
        options: key to (default, meaning in one line). Keys are whole, and Flink's where Flink has the option, such as
            `restart-strategy.fixed-delay.delay`. A factory refuses others by ValueError (RST-07).
        spi_version: that it was written for.
    """

    name: str
    kind: StrategyKind | None = None
    options: Mapping[str, tuple[str, str]] = {}
    spi_version: int = SPI_VERSION


class RestartContext(msgspec.Struct, frozen=True, kw_only=True):
    """What a factory is given.

    Attributes:
        options: those of `RestartStrategyDescription.options` that are set, as they are written: `10 s`, `infinite`.
            A duration of a kind is a whole number and one of `ms`, `s`, `min`, `h` and `d`, with a blank between or
            without. A number may be as large as 2147483647.
        uniform: draws a number in [0, 1) from a stream that is this strategy's alone.
    """

    uniform: Callable[[], float]
    options: Mapping[str, str] = {}


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """Why all or a part of a job ended before its time.

    Attributes:
        cause: in words.
        subtask: that failed, such as `map-3`; empty: it is the job's own failure, such as a checkpoint too many.
        recoverable: False: the same would happen again, whatever is restarted.
    """

    cause: str
    subtask: str = ""
    recoverable: bool = True


class RestartStrategy(Protocol):
    """Whether, and after which delay, a job runs again. None of its methods raises, whatever the number of failures."""

    def describe(self) -> RestartStrategyDescription:
        """What it is. Also callable before anything else."""

    def failed(self, failure: Failure, now_ms: float) -> int | None:
        """A failure, in the order in which they are noticed; returns the delay of the restart in milliseconds, from 0.

        None: the job fails for good, and the strategy is not called again. It is the result for each failure that is
        not recoverable (RST-07).

        It may be called while the restart from an earlier failure is still to come; `StrategyKind` says how each kind
        counts that. Every answer counts from its own `now_ms`, and what failed again begins behind the last one.
        """

    def running(self, now_ms: float) -> None:
        """All of the job runs, for the first time or again. Called at most once for each restart; a job that fails
        before is never running."""


RestartStrategyFactory = Callable[[RestartContext], RestartStrategy]
"""Named as `module:name`. Raises ValueError in one sentence, which names the key, for an option that it does not have
or a value that it does not take."""
