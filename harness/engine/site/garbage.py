"""How often the cyclic garbage collector of this process looks for what nothing else finds."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

ALLOCATIONS = 100_000
"""Net allocations of containers between two looks at the youngest."""


@contextmanager
def rare_collections() -> Iterator[None]:
    """Let it look that rarely, in the whole process, to the end of the block: a run on the simulator, or the tree of a
    source file, has many objects of which few are found only by it. Looking as often as by default takes a twentieth
    of the time of a run."""
    youngest, *older = gc.get_threshold()
    if not 0 < youngest < ALLOCATIONS:  # It is off, or as rare already.
        yield
        return
    gc.set_threshold(ALLOCATIONS, *older)
    try:
        yield
    finally:
        gc.set_threshold(youngest, *older)
