"""Closes what a check has made, whatever that raises."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol


class Closable(Protocol):
    """Such as a writer or a backend."""

    def close(self) -> None:
        """Free it."""


def raised_by_closing(closables: Iterable[Closable], times: int = 1) -> list[Exception]:
    """What was raised when each of them was closed.

    Args:
        closables: in this order.
        times: how often each is closed, unless it raises; closing is idempotent where it is more than once.
    """
    failed: list[Exception] = []
    for closable in closables:
        try:
            for _ in range(times):
                closable.close()
        except Exception as error:
            failed.append(error)
    return failed
