"""The looks of a reader at an output: when the next one is due, and when there was none for too long."""

from __future__ import annotations

import select
import time
from collections.abc import Callable
from typing import IO

MOST_INTERVALS = 2
"""Who looks again after more than so many of its intervals has left a gap."""


class Looks:
    """All times are of the monotonic clock of the machine, in nanoseconds.

    Attributes:
        started_ns: since when the output is looked at.
        looked_ns: when the last look began.
        due_ns: when it is time for the next one.
        gaps: from when until when there was none.
    """

    def __init__(self, interval_ms: float, idle_per_look: int = 0) -> None:
        """
        Args:
            interval_ms: how often it is to look.
            idle_per_look: it is then idle for at least so many times what a look has taken.
        """
        self.started_ns = self.looked_ns = self.due_ns = 0
        self.gaps: list[tuple[int, int]] = []
        self._interval_ns = int(interval_ms * 1e6)
        self._idle_per_look = idle_per_look

    def start(self, at_ns: int) -> None:
        """It is looked at from here on."""
        self.started_ns = self.looked_ns = at_ns

    def note(self, at_ns: int) -> None:
        """A look began: note how long there was none, if that was too long."""
        if at_ns - self.looked_ns > MOST_INTERVALS * self._interval_ns:
            self.gaps.append((self.looked_ns, at_ns))
        self.looked_ns = at_ns

    def rest(self, now_ns: int, took_ns: int = 0) -> None:
        """A look has ended, and has taken so long of the processor. The next one is due by the clock, not by the end of
        this one; what was missed is not made up for."""
        self.due_ns = max(self.due_ns + self._interval_ns, now_ns + self._idle_per_look * took_ns)


def look_until_asked(look: Callable[[], int], orders: IO[bytes] | IO[str]) -> None:
    """Look, again and again, until a line asks for the last look, or whoever could ask has gone.

    Args:
        look: looks once, and returns when the next look is due, on the monotonic clock in nanoseconds.
        orders: where the line comes; nothing of it may be in a buffer.
    """
    asked = False
    while not asked:
        left_s = max(0.0, (look() - time.monotonic_ns()) / 1e9)
        asked = bool(select.select([orders], [], [], left_s)[0])
