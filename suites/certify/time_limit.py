"""A limit on how long what is judged may keep a check waiting."""

from __future__ import annotations

import signal
import threading
import time  # noqa: TID251 - how much is left of an alarm of somebody else
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from holdfast.harness.engine.site.interruption import note_hanging

AGAIN_S = 10.0
"""Whoever is broken off and waits once more, as for a thread that hangs, is broken off so soon."""


class Overdue(BaseException):
    """The limit has passed. No error, so that nobody takes it for one of what is judged."""


class Progress:
    """The progress of a sequence of steps. `count`: how many of them were begun."""

    def __init__(self) -> None:
        self.count = 0

    def begin(self) -> None:
        """The next thing begins."""
        self.count += 1


programs = Progress()
"""Random programs of this process."""


@contextmanager
def limited(what: str, limit_s: float, progress: Callable[[], int] = lambda: 0) -> Iterator[None]:
    """Break off what waits for longer. Only the main thread can be broken off, and no native code that waits.

    Args:
        what: may take so long, in words.
        limit_s: how long, from the last progress on. If an alarm of somebody else, such as pytest, comes first, there
            is none of ours.
        progress: how much is done; while it grows, nothing is broken off.

    Raises:
        Overdue: it took longer.
    """
    theirs_s, again_s = signal.getitimer(signal.ITIMER_REAL)
    if threading.current_thread() is not threading.main_thread() or 0 < theirs_s < limit_s:
        yield
        return
    done = progress()

    def overdue(_number: int, _frame: FrameType | None) -> None:
        nonlocal done
        if (now := progress()) != done:
            done = now
            signal.setitimer(signal.ITIMER_REAL, limit_s, AGAIN_S)
            return
        note_hanging(what)
        raise Overdue

    before = signal.signal(signal.SIGALRM, overdue)
    began_s = time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, limit_s, AGAIN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if theirs_s:
            left_s = theirs_s - (time.monotonic() - began_s)
            signal.setitimer(signal.ITIMER_REAL, max(left_s, 0.001), again_s)
