"""How long the engine waits for something that must come.

On a machine that others use too, a bound counts the time in which whatever wanted to run could run. The time in which
something waited for a processor or a disk is granted on top, up to a limit, so that a run that hangs ends even there.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

MOST_TIMES = 4
"""So many times as long as its bound a wait lasts at most."""


class Patience:
    """One wait.

    Args:
        start_ms: when it begins, on the clock of the deployment.
        bound_ms: how long it lasts on a machine that is free.
        stalled_ms: for how long, since whenever, something on this machine has waited for a processor or a disk.
    """

    __slots__ = ("_most_ms", "_stalled_before_ms", "_stalled_ms", "_until_ms")

    def __init__(self, start_ms: float, bound_ms: float, stalled_ms: Callable[[], float]) -> None:
        self._until_ms = ceil(start_ms) + bound_ms
        self._most_ms = (MOST_TIMES - 1) * bound_ms
        self._stalled_ms = stalled_ms
        self._stalled_before_ms = stalled_ms()

    @property
    def until_ms(self) -> float:
        """When it is over, as far as can be told now."""
        return self._until_ms + min(self._stalled_ms() - self._stalled_before_ms, self._most_ms)
