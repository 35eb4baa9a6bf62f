"""The cyclic garbage collector during a run on the simulator.

Such a run keeps many objects, and makes hardly any that only a collector finds: about a thousand, most of them at its
end. To look for them as often as by default takes a twentieth of the time. The collector keeps looking, less often, so
memory stays bounded however long a run is.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

ALLOCATIONS = 100_000
"""Net allocations of containers between two looks at the youngest."""


@contextmanager
def rare_collections() -> Iterator[None]:
    """Let the collector look that rarely, for the whole process, until the end of the block."""
    youngest, *older = gc.get_threshold()
    if not 0 < youngest < ALLOCATIONS:  # It is off, or as rare already.
        yield
        return
    gc.set_threshold(ALLOCATIONS, *older)
    try:
        yield
    finally:
        gc.set_threshold(youngest, *older)
