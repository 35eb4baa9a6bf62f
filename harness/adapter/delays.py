"""When input that is due had to wait: the harness feeds a system no faster than it comes after."""

from __future__ import annotations

from collections.abc import Callable

from holdfast.harness.model.events import InputDelayed


class Delays:
    """Since when each partition waits.

    Args:
        record: takes a delay when it is over.
    """

    def __init__(self, record: Callable[[InputDelayed], None]) -> None:
        self._record = record
        self._since_ns: dict[int, int] = {}

    def note(self, partition: int, now_ms: float, *, waits: bool) -> None:
        """Whether records of a partition wait that are due, at a time of the run."""
        if waits:
            self._since_ns.setdefault(partition, int(now_ms * 1e6))
        elif partition in self._since_ns:
            self._record(InputDelayed(partition=partition, since_ns=self._since_ns.pop(partition)))
