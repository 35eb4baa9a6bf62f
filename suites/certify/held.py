"""What a process holds that somebody has to give back: threads of Python, open files and sockets, children."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable
from typing import NamedTuple

from holdfast.suites.certify.check import Violation
from holdfast.suites.certify.children import children

LIVES = 3
"""So many are closed behind the first one, which may leave what the process keeps for all of them."""
PATIENCE_S = 5.0
"""How long threads that were told to end may take to do so, together."""


class Held(NamedTuple):
    """How many of each there are.

    Attributes:
        threads: that run Python.
        files: open files and sockets.
        children: processes.
    """

    threads: int
    files: int
    children: int


def held() -> Held:
    """What this process holds now."""
    gc.collect()
    return Held(len(sys._current_frames()), len(os.listdir("/proc/self/fd")), len(children()))


def require_given_back(rule: str, closed: str, live: Callable[[], object]) -> None:
    """Several lives that are closed hold no more than one.

    Args:
        rule: that is broken by one that does.
        closed: what was closed, in words.
        live: one life, which ends with its `close`; what it returns is kept, so that nothing is freed by chance.

    Raises:
        Violation: of the rule.
    """
    kept = [live()]
    first, known = held(), set(threading.enumerate())
    kept += [live() for _ in range(LIVES)]
    _await_threads(known)
    now = held()
    # Not by number: a thread of the first life may have ended since, and another have been left in its place.
    now = now._replace(threads=max(now.threads, first.threads + len(set(threading.enumerate()) - known)))
    for kind, one, several in zip(Held._fields, first, now, strict=True):
        if several >= one + LIVES:
            raise Violation(
                rule,
                f"close() of {LIVES} {closed} left {several - one} {kind} behind: {one} were there before them, and "
                f"{several} are there now; {one} is right.",
            )
    del kept


def _await_threads(known: set[threading.Thread]) -> None:
    """Where each life may have left one, let them come to their ends, for a moment. What does not end is counted."""
    new = set(threading.enumerate()) - known
    if len(new) < LIVES:
        return
    for thread in new:
        thread.join(PATIENCE_S / len(new))
