"""When records arrive: at the times of the workload, and no faster than what is fed answers for them."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from holdfast.harness.model.records import Partition

PATIENCE_MS, GROWTH_BITS = 1_500, 3
"""Who answers for nothing for so long gets eight times as many: it may wait for more records."""
WINDOW_RECORDS = 10_000
"""So many records of a partition may be unanswered."""
WINDOW_SHARE, LEAST_WINDOW_RECORDS = 16, 16
"""At first no more than such a part of them may be, so that input lasts for several answers, however rarely they come:
faults that count these find input unread."""


def arrived(partition: Partition, now_ms: float, *, healed: bool) -> int:
    """How many records of a partition there are.

    Args:
        partition: of the input.
        now_ms: on the clock of the input.
        healed: its markers may be among them.
    """
    limit = partition.limit(healed=healed)
    if now_ms < partition.starts_ms:
        return partition.preloaded
    if not partition.records_per_second:
        return limit
    late_ms = now_ms - partition.starts_ms
    return min(limit, partition.preloaded + int(late_ms * partition.records_per_second / 1000))


def next_arrival_ms(partition: Partition, now_ms: float, *, healed: bool) -> float:
    """When the next record of a partition arrives; infinity: none will. Arguments as for `arrived`."""
    there = arrived(partition, now_ms, healed=healed)
    if there == partition.limit(healed=healed):
        return float("inf")
    if now_ms < partition.starts_ms or not partition.records_per_second:
        return partition.starts_ms
    return partition.starts_ms + ceil((there + 1 - partition.preloaded) * 1000 / partition.records_per_second)


class Window:
    """A feeder.Pace: no more of a partition than so many records may be unanswered. That is more, the longer no answer
    has come.

    Args:
        partitions: of the input.
        patience_ms: without an answer, until eight times as many may be.

    Attributes:
        answered: by partition, the offset up to which records are answered for, or were before.
    """

    def __init__(self, partitions: Sequence[Partition], patience_ms: float = PATIENCE_MS) -> None:
        self.answered = [0] * len(partitions)
        self._partitions = partitions
        self._patience_ms = patience_ms
        self._waited_since_ms = 0.0

    def hear(self, now_ms: float) -> None:
        """An answer has come, or none can be expected yet, at a time of the run in milliseconds."""
        self._waited_since_ms = now_ms

    def limit(self, partition: int, fed: int, there: int, now_ms: float) -> int:
        return min(there, self.answered[partition] + self._records(len(self._partitions[partition]), now_ms))

    def grows_ms(self, now_ms: float) -> float:
        return self._waited_since_ms + (self._growth(now_ms) + 1) * self._patience_ms

    def _records(self, length: int, now_ms: float) -> int:
        """How many of so many records may be unanswered now."""
        first = max(LEAST_WINDOW_RECORDS, length // WINDOW_SHARE)
        return min(WINDOW_RECORDS, first << min(GROWTH_BITS * self._growth(now_ms), WINDOW_RECORDS.bit_length()))

    def _growth(self, now_ms: float) -> int:
        """How often the window has grown since the last answer."""
        return int(max(0.0, now_ms - self._waited_since_ms) // self._patience_ms)
