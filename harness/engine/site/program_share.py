"""How many of its random programs a kit runs in this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import ceil

LEAST = 25
"""Programs that are run at least, where there are so many: fewer miss mistakes that these find."""
_share: ContextVar[float] = ContextVar("program_share", default=1.0)


@contextmanager
def fewer_programs(share: float) -> Iterator[None]:
    """Run only a part of each number of programs.

    Args:
        share: of them, above 0 and at most 1.
    """
    before = _share.set(share)
    try:
        yield
    finally:
        _share.reset(before)


def programs_of(number: int) -> int:
    """How many of a number of programs are run."""
    return max(min(number, LEAST), ceil(number * _share.get()))
