"""Wall clocks: they are set, and they run fast or slow. The steady clock, which measures durations, is never wrong."""

from __future__ import annotations

from typing import Protocol

import msgspec

from holdfast.harness.model.target import Target


class ClockError(msgspec.Struct, frozen=True):
    """How wrong a wall clock is.

    Attributes:
        ahead_ms: what it is ahead by, at once; negative: behind.
        percent: how fast it runs from now on; 100 is right, 0 stands still.
    """

    ahead_ms: int = 0
    percent: int = 100


class ClockControl(Protocol):
    """The wall clocks of workers and of the coordinator, each of its own machine: they stay wrong for later lives."""

    def mislead(self, target: Target, error: ClockError) -> None:
        """Let a clock be wrong from now on. Replaces an earlier error."""

    def correct(self, target: Target, error: ClockError) -> None:
        """Undo one `mislead`. Any other that acts on the clock goes on, from now on, until it is undone itself."""

    def right(self, target: Target, error: ClockError) -> bool:
        """Whether this error does not act on the clock any more."""
