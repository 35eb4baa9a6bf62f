"""How often each number of a dense range was seen: never, once or more, in two bits a number.

Rules of this file:
- A counter may stop at two: the question is only for none, one and more.
- Four counters share a byte, so 1e9 numbers take 250 MB, and additions go out in blocks small enough that the bytes
  they touch stay in the processor's cache: this is what the speed rests on.
- It imports NumPy alone, so that it can be sent to a cluster where nothing of this project is installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

BLOCK_NUMBERS = 1 << 15
BLOCK_BYTES = 1 << 18
NAMED = 3
"""How many numbers of each kind a tally names."""

Integers = npt.NDArray[np.int64]
Counters = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
_LOW = np.uint64(0x5555555555555555)
_HIGH = np.uint64(0xAAAAAAAAAAAAAAAA)
_ONE = np.uint64(1)
_ONES = (1, 4, 16, 64)
"""One, in each of the four counters of a byte. No array: NumPy adds one that was pickled ten times slower, because its
type is not the very object that NumPy's own arrays have."""


class Tally(NamedTuple):
    """What the counters say.

    Attributes:
        lost: how many numbers were never seen.
        duplicated: how many were seen more than once.
        first_lost, first_duplicated: the smallest few.
    """

    lost: int
    duplicated: int
    first_lost: tuple[int, ...]
    first_duplicated: tuple[int, ...]


class TwoBitCounters:
    """Counts how often each of the numbers 0 to length - 1 was seen."""

    def __init__(self, length: int) -> None:
        self.length = length
        self._bytes: Counters = np.zeros(-(-length // 32) * 8, np.uint8)
        self._recorded = 0
        self._repetitive = False

    @property
    def packed(self) -> Counters:
        """The counters themselves: number n has the bits 2 * (n % 4) and up of byte n // 4."""
        return self._bytes

    def add(self, numbers: Integers) -> None:
        """Count numbers of the range, in any order and with any repeats. Few and large calls are fast."""
        # To see an overflow takes a look at all counters, which pays only for a call that is large.
        while len(numbers) >= len(self._bytes) >> 9:
            if self._repetitive:
                numbers = _not_yet_duplicated(self._bytes, numbers)
            if self._add_unless_overflowing(numbers):
                return
            if self._repetitive:
                break
            self._repetitive = True
        self._add_saturating(numbers)

    def merge(self, others: Counters) -> None:
        """Add the packed counters of others over the same numbers."""
        recorded = 0
        for (_, here), (_, there) in zip(_words(self._bytes), _words(others), strict=True):
            # Two-bit adders side by side: a carry out of a counter sets both of its bits.
            carry = here & there & _LOW
            low = (here ^ there) & _LOW
            high = here & _HIGH, there & _HIGH, carry << _ONE
            overflow = (high[0] & high[1]) | (high[0] & high[2]) | (high[1] & high[2])
            here[:] = low | (high[0] ^ high[1] ^ high[2]) | overflow | (overflow >> _ONE)
            recorded += _sum(here)
        self._recorded = recorded

    def tally(self) -> Tally:
        """What was seen up to now."""
        seen = duplicated = 0
        first_lost: list[int] = []
        first_duplicated: list[int] = []
        for start, words in _words(self._bytes):
            present = (words | words >> _ONE) & _LOW
            several = words >> _ONE & _LOW
            here, more = _ones(present), _ones(several)
            seen += here
            duplicated += more
            if here < min(len(words) * 32, self.length - start) and len(first_lost) < NAMED:
                self._name(first_lost, start, ~present & _LOW)
            if more and len(first_duplicated) < NAMED:
                self._name(first_duplicated, start, several)
        return Tally(self.length - seen, duplicated, tuple(first_lost), tuple(first_duplicated))

    def _add_unless_overflowing(self, numbers: Integers) -> bool:
        # Adding to all counters of a byte at once is exact as long as none of them overflows into its neighbour, and
        # then the sum of all counters says so: an overflow turns four into one or none. An addition is undone by a
        # subtraction, whatever overflowed.
        for index, increment in _increments(numbers):
            np.add.at(self._bytes, index, increment)
        recorded = sum(_sum(words) for _, words in _words(self._bytes))
        if recorded == self._recorded + len(numbers):
            self._recorded = recorded
            return True
        for index, increment in _increments(numbers):
            np.subtract.at(self._bytes, index, increment)
        return False

    def _add_saturating(self, numbers: Integers) -> None:
        ordered = np.sort(numbers)
        starts = np.flatnonzero(np.diff(ordered, prepend=-1))
        repeats = np.minimum(np.diff(starts, append=len(ordered)), 3).astype(np.uint8)
        index, shift = ordered[starts] >> 2, ((ordered[starts] & 3) << 1).astype(np.uint8)
        increments = np.minimum(repeats, 3 - (self._bytes[index] >> shift & 3))
        np.add.at(self._bytes, index, increments << shift)
        self._recorded += int(increments.sum(dtype=np.int64))

    def _name(self, names: list[int], start: int, marks: Words) -> None:
        """Append the first numbers of a block whose low bit is set in `marks`."""
        for word in np.flatnonzero(marks)[:NAMED].tolist():
            bits = int(marks[word])
            for counter in range(32):
                number = start + word * 32 + counter
                if bits >> 2 * counter & 1 and number < self.length and len(names) < NAMED:
                    names.append(number)


def _increments(numbers: Integers) -> Iterator[tuple[Integers, Counters]]:
    """Byte and addend of each number, block by block."""
    ones = np.array(_ONES, np.uint8)
    for start in range(0, len(numbers), BLOCK_NUMBERS):
        block = numbers[start : start + BLOCK_NUMBERS]
        yield block >> 2, ones[block & 3]


def _not_yet_duplicated(counters: Counters, numbers: Integers) -> Integers:
    """The numbers that were seen less than twice; of the others all is known."""
    fresh = []
    twos = np.array(_ONES, np.uint8) << 1
    for start in range(0, len(numbers), BLOCK_NUMBERS):
        block = numbers[start : start + BLOCK_NUMBERS]
        fresh.append(block[counters[block >> 2] & twos[block & 3] == 0])
    return np.concatenate(fresh) if fresh else numbers


def _words(counters: Counters) -> Iterator[tuple[int, Words]]:
    """First number and counters of each block, 32 counters to a word."""
    words = counters.view("<u8")
    for start in range(0, len(words), BLOCK_BYTES // 8):
        yield start * 32, words[start : start + BLOCK_BYTES // 8]


def _ones(words: Words) -> int:
    return int(np.bitwise_count(words).sum(dtype=np.int64))


def _sum(words: Words) -> int:
    return _ones(words) + _ones(words & _HIGH)
