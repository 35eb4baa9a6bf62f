"""A bound on how long something may last, for tests of what must not take minutes."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

LOOK_S = 0.05
"""Between two looks at how many threads of the machine could run."""
LOAD = Path("/proc/loadavg")
"""Its averages lag by a minute; what it says of this moment does not."""


class SharedProcessor:
    """How many threads of the whole machine there are to a processor, on average over the life of this."""

    def __init__(self) -> None:
        self._runnable = [_runnable()]
        self._over = Event()
        self._watching = Thread(target=self._watch, daemon=True)
        self._watching.start()

    def close(self) -> float:
        """End the watch; returns the average, which is at least 1."""
        self._over.set()
        self._watching.join()
        self._runnable.append(_runnable())
        return max(1.0, sum(self._runnable) / len(self._runnable) / (os.cpu_count() or 1))

    def _watch(self) -> None:
        while not self._over.wait(LOOK_S):
            self._runnable.append(_runnable())


@contextmanager
def ends_within(seconds: float) -> Iterator[None]:
    """The block ends in time, on a processor that it does not share; on a busy machine that much later.

    Args:
        seconds: on an idle machine.
    """
    began_s, shared = time.monotonic(), SharedProcessor()
    try:
        yield
    finally:
        lasted_s, shared_by = time.monotonic() - began_s, shared.close()
    assert lasted_s < seconds * shared_by, f"it lasted {lasted_s:.1f} s at {shared_by:.1f} threads to a processor"


def _runnable() -> int:
    """Threads that run or could run now, this one among them."""
    return int(LOAD.read_text().split()[3].partition("/")[0])
