"""A bound on how long something may last, for tests of what must not take minutes."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def ends_within(seconds: float) -> Iterator[None]:
    """The block ends in time, on a processor that it does not share; on a busy machine that much later.

    Args:
        seconds: on an idle machine.
    """
    began_s = time.monotonic()
    yield
    lasted_s = time.monotonic() - began_s
    shared_by = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    assert lasted_s < seconds * shared_by, f"it lasted {lasted_s:.1f} s at {shared_by:.1f} processes to a processor"
