"""Expected identities in one line of numbers, cut into chunks of equal length."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class NumberLine:
    """
    Args:
        lengths: by partition, the number of its identities.
        first_offsets: by partition, the first expected offset; empty: 0 everywhere.
        chunk_length: a multiple of 32.

    Attributes:
        chunks: how many cover the line.
        padding: how many numbers of the last one stand for nothing.
    """

    def __init__(self, lengths: Sequence[int], first_offsets: Sequence[int], chunk_length: int) -> None:
        self._lengths = np.array(lengths, np.int64)
        self._firsts = np.array(first_offsets or [0] * len(lengths), np.int64)
        ends = np.cumsum(np.maximum(self._lengths - self._firsts, 0))
        self._starts = np.concatenate([[0], ends])
        self._total = int(self._starts[-1])
        self.chunk_length = chunk_length
        self.chunks = -(-self._total // chunk_length)
        self.padding = self.chunks * chunk_length - self._total

    def numbers(self, partition: Integers, offset: Integers) -> tuple[Integers, Mask]:
        """The number of each row, and which rows stand for an expected identity; the number of another is any."""
        inside = (partition >= 0) & (partition < len(self._lengths))
        if not len(self._lengths):
            return offset, inside
        lane = np.where(inside, partition, 0)
        known = inside & (offset >= self._firsts[lane]) & (offset < self._lengths[lane])
        return offset + (self._starts[:-1] - self._firsts)[lane], known

    def identities(self, numbers: Iterable[int]) -> tuple[tuple[int, int], ...]:
        """Partition and offset of each number that stands for something."""
        found = []
        for number in numbers:
            if number < self._total:
                partition = int(np.searchsorted(self._starts, number, "right")) - 1
                found.append((partition, int(number - self._starts[partition] + self._firsts[partition])))
        return tuple(found)
