"""Delivery is counting, not joining: offsets are dense, so two bits per identity tell lost, delivered and duplicated.

Rules of this file:
- A counter may stop at two: the verdict asks only for none, one and more.
- Four counters share a byte, so 1e9 identities take 250 MB, and additions go out in blocks small enough that the bytes
  they touch stay in the processor's cache: this is what the speed rests on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from holdfast.harness.model.records import Integers

BLOCK_RECORDS = 1 << 15
BLOCK_BYTES = 1 << 18
NAMED = 3
"""How many identities of each kind a verdict names."""

Words = npt.NDArray[np.uint64]
_LOW = np.uint64(0x5555555555555555)
_HIGH = np.uint64(0xAAAAAAAAAAAAAAAA)
_ONE = np.uint64(1)
_ONES = np.array([1, 4, 16, 64], np.uint8)
"""One, in each of the four counters of a byte."""
_TWOS = _ONES << 1

Identity = tuple[int, int]


class Delivery(msgspec.Struct, frozen=True):
    """What counting found.

    Attributes:
        lost: how many expected identities were never seen.
        duplicated: how many identities were seen more than once.
        unknown: how many rows stand for no expected identity.
        disordered: how many rows have a smaller offset than the row of their partition before them.
        first_lost: the first few, by partition and offset.
        first_duplicated: the first few, by partition and offset.
        first_unknown: the first few as they came.
        first_disordered: the first few as they came.
    """

    lost: int
    duplicated: int
    unknown: int
    disordered: int
    first_lost: tuple[Identity, ...]
    first_duplicated: tuple[Identity, ...]
    first_unknown: tuple[Identity, ...]
    first_disordered: tuple[Identity, ...]


class DeliveryCounter:
    """Counts how often each identity (partition, offset) was delivered.

    Args:
        lengths: by partition, the number of its identities: offsets 0 to length - 1.
        first_offsets: by partition, the first expected offset; empty: 0 everywhere. What is below is unknown.
        ordered: look for offsets that step back within a partition, too.
    """

    def __init__(self, lengths: Sequence[int], *, first_offsets: Sequence[int] = (), ordered: bool = False) -> None:
        self._firsts = tuple(first_offsets) or (0,) * len(lengths)
        self._lengths = tuple(max(length - first, 0) for length, first in zip(lengths, self._firsts, strict=True))
        self._counters = [np.zeros(-(-length // 32) * 8, np.uint8) for length in self._lengths]
        self._recorded = [0] * len(lengths)
        self._repetitive = [False] * len(lengths)
        self._previous = [0] * len(lengths)
        self._ordered = ordered
        self._unknown = 0
        self._disordered = 0
        self._first_unknown: list[Identity] = []
        self._first_disordered: list[Identity] = []

    def count(self, partition: int, offsets: Integers) -> None:
        """Count one row for each of these offsets of a partition, in any order and with any repeats."""
        offsets = np.ascontiguousarray(offsets, np.int64)
        if not 0 <= partition < len(self._lengths):
            self._set_aside(partition, offsets)
            return
        if not len(offsets):
            return
        if self._firsts[partition]:
            offsets = offsets - self._firsts[partition]
        length = self._lengths[partition]
        if int(offsets.view(np.uint64).max()) >= length:  # a negative offset is a huge one here
            known = offsets.view(np.uint64) < length
            self._set_aside(partition, offsets[~known] + self._firsts[partition])
            offsets = offsets[known]
        if self._ordered and len(offsets):
            self._check_order(partition, offsets)
        self._add(partition, offsets)

    def merge(self, other: DeliveryCounter) -> None:
        """Add what another counter over the same identities saw. Order is judged within each counter only.

        Raises:
            ValueError: the other counts other identities.
        """
        if (self._lengths, self._firsts) != (other._lengths, other._firsts):
            raise ValueError(
                "counters of other identities cannot be merged: both need equal lengths and first offsets."
            )
        for partition, (mine, others) in enumerate(zip(self._counters, other._counters, strict=True)):
            recorded = 0
            for (_, here), (_, there) in zip(_blocks(mine), _blocks(others), strict=True):
                # Two-bit adders side by side: a carry out of a counter sets both of its bits.
                carry = here & there & _LOW
                low = (here ^ there) & _LOW
                high = here & _HIGH, there & _HIGH, carry << _ONE
                overflow = (high[0] & high[1]) | (high[0] & high[2]) | (high[1] & high[2])
                here[:] = low | (high[0] ^ high[1] ^ high[2]) | overflow | (overflow >> _ONE)
                recorded += _sum(here)
            self._recorded[partition] = recorded
        self._unknown += other._unknown
        self._disordered += other._disordered
        self._first_unknown = (self._first_unknown + other._first_unknown)[:NAMED]
        self._first_disordered = (self._first_disordered + other._first_disordered)[:NAMED]

    def verdict(self) -> Delivery:
        """What was found up to now."""
        lost = duplicated = 0
        first_lost: list[Identity] = []
        first_duplicated: list[Identity] = []
        for partition, length in enumerate(self._lengths):
            seen = 0
            for start, words in _blocks(self._counters[partition]):
                present = (words | words >> _ONE) & _LOW
                several = words >> _ONE & _LOW
                identities = min(len(words) * 32, length - start)
                here, more = _ones(present), _ones(several)
                seen += here
                duplicated += more
                if here < identities and len(first_lost) < NAMED:
                    self._name(first_lost, partition, start, ~present & _LOW)
                if more and len(first_duplicated) < NAMED:
                    self._name(first_duplicated, partition, start, several)
            lost += length - seen
        return Delivery(
            lost,
            duplicated,
            self._unknown,
            self._disordered,
            tuple(first_lost),
            tuple(first_duplicated),
            tuple(self._first_unknown),
            tuple(self._first_disordered),
        )

    def _add(self, partition: int, offsets: Integers) -> None:
        # To see an overflow takes a look at all counters, which pays only for a call that is large.
        while len(offsets) >= len(self._counters[partition]) >> 9:
            if self._repetitive[partition]:
                offsets = _not_yet_duplicated(self._counters[partition], offsets)
            if self._add_unless_overflowing(partition, offsets):
                return
            if self._repetitive[partition]:
                break
            self._repetitive[partition] = True
        self._add_saturating(partition, offsets)

    def _add_unless_overflowing(self, partition: int, offsets: Integers) -> bool:
        # Adding to all counters of a byte at once is exact as long as none of them overflows into its neighbour, and
        # then the sum of all counters says so: an overflow turns four into one or none. An addition is undone by a
        # subtraction, whatever overflowed.
        counters = self._counters[partition]
        for index, increment in _increments(offsets):
            np.add.at(counters, index, increment)
        recorded = sum(_sum(words) for _, words in _blocks(counters))
        if recorded == self._recorded[partition] + len(offsets):
            self._recorded[partition] = recorded
            return True
        for index, increment in _increments(offsets):
            np.subtract.at(counters, index, increment)
        return False

    def _add_saturating(self, partition: int, offsets: Integers) -> None:
        counters = self._counters[partition]
        ordered = np.sort(offsets)
        starts = np.flatnonzero(np.diff(ordered, prepend=-1))
        repeats = np.minimum(np.diff(starts, append=len(ordered)), 3).astype(np.uint8)
        index, shift = ordered[starts] >> 2, ((ordered[starts] & 3) << 1).astype(np.uint8)
        increments = np.minimum(repeats, 3 - (counters[index] >> shift & 3))
        np.add.at(counters, index, increments << shift)
        self._recorded[partition] += int(increments.sum(dtype=np.int64))

    def _set_aside(self, partition: int, offsets: Integers) -> None:
        self._unknown += len(offsets)
        wanted = NAMED - len(self._first_unknown)
        self._first_unknown += [(partition, offset) for offset in offsets[:wanted].tolist()]

    def _check_order(self, partition: int, offsets: Integers) -> None:
        before = np.concatenate(([self._previous[partition]], offsets[:-1]))
        back = np.flatnonzero(offsets < before)
        self._previous[partition] = int(offsets[-1])
        self._disordered += len(back)
        wanted = NAMED - len(self._first_disordered)
        first = self._firsts[partition]
        self._first_disordered += [(partition, first + offset) for offset in offsets[back[:wanted]].tolist()]

    def _name(self, names: list[Identity], partition: int, start: int, marks: Words) -> None:
        """Append the first identities of a block whose low bit is set in `marks`."""
        first, length = self._firsts[partition], self._lengths[partition]
        for word in np.flatnonzero(marks)[:NAMED].tolist():
            bits = int(marks[word])
            for counter in range(32):
                offset = start + word * 32 + counter
                if bits >> 2 * counter & 1 and offset < length and len(names) < NAMED:
                    names.append((partition, first + offset))


def _increments(offsets: Integers) -> Iterator[tuple[Integers, npt.NDArray[np.uint8]]]:
    """Byte and addend of each offset, block by block."""
    for start in range(0, len(offsets), BLOCK_RECORDS):
        block = offsets[start : start + BLOCK_RECORDS]
        yield block >> 2, _ONES[block & 3]


def _not_yet_duplicated(counters: npt.NDArray[np.uint8], offsets: Integers) -> Integers:
    """The offsets that were counted less than twice; of the others all is known."""
    fresh = []
    for start in range(0, len(offsets), BLOCK_RECORDS):
        block = offsets[start : start + BLOCK_RECORDS]
        fresh.append(block[counters[block >> 2] & _TWOS[block & 3] == 0])
    return np.concatenate(fresh) if fresh else offsets


def _blocks(counters: npt.NDArray[np.uint8]) -> Iterator[tuple[int, Words]]:
    """First offset and counters of each block, 32 counters to a word."""
    words = counters.view("<u8")
    for start in range(0, len(words), BLOCK_BYTES // 8):
        yield start * 32, words[start : start + BLOCK_BYTES // 8]


def _ones(words: Words) -> int:
    return int(np.bitwise_count(words).sum(dtype=np.int64))


def _sum(words: Words) -> int:
    """Sum of the counters."""
    return _ones(words) + _ones(words & _HIGH)
