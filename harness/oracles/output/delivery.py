"""Delivery by counting, not joining: offsets are dense, so two bits an identity show lost, delivered, duplicated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from holdfast.harness.model.records import Integers
from holdfast.harness.oracles.output.two_bit_counters import NAMED, TwoBitCounters

Identity = tuple[int, int]


class Delivery(msgspec.Struct, frozen=True):
    """What counting found. Records are named in the order of partition and offset, so every way to count finds the same
    ones.

    Attributes:
        lost: how many expected identities were never seen.
        duplicated: how many identities were seen more than once.
        unknown: how many rows stand for no expected identity.
        disordered: how many rows have a smaller offset than the row of their partition before them.
        first_lost, first_duplicated, first_unknown, first_disordered: the first few of each.
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
        self._counters = tuple(map(TwoBitCounters, self._lengths))
        self._previous = [0] * len(lengths)
        self._ordered = ordered
        self._unknown = 0
        self._disordered = 0
        self._first_unknown: tuple[Identity, ...] = ()
        self._first_disordered: tuple[Identity, ...] = ()

    def count(self, partition: int, offsets: Integers) -> None:
        """Count one row for each of these offsets of a partition, in any order and with any repeats."""
        offsets = np.ascontiguousarray(offsets, np.int64)
        if not 0 <= partition < len(self._lengths):
            self._set_aside(partition, offsets)
            return
        if not len(offsets):
            return
        first, length = self._firsts[partition], self._lengths[partition]
        if first:
            offsets = offsets - first
        if int(offsets.view(np.uint64).max()) >= length:  # a negative offset is a huge one here
            known = offsets.view(np.uint64) < length
            self._set_aside(partition, offsets[~known] + first)
            offsets = offsets[known]
        if self._ordered and len(offsets):
            self._check_order(partition, offsets)
        self._counters[partition].add(offsets)

    def merge(self, other: DeliveryCounter) -> None:
        """Add what another counter over the same identities saw. Order is judged within each counter only.

        Raises:
            ValueError: the other counts other identities.
        """
        if (self._lengths, self._firsts) != (other._lengths, other._firsts):
            raise ValueError(
                "counters of other identities cannot be merged: both need equal lengths and first offsets."
            )
        for mine, others in zip(self._counters, other._counters, strict=True):
            mine.merge(others.packed)
        self._unknown += other._unknown
        self._disordered += other._disordered
        self._first_unknown = _first(self._first_unknown + other._first_unknown)
        self._first_disordered = _first(self._first_disordered + other._first_disordered)

    def verdict(self) -> Delivery:
        """What was found up to now."""
        tallies = [counters.tally() for counters in self._counters]
        return Delivery(
            sum(tally.lost for tally in tallies),
            sum(tally.duplicated for tally in tallies),
            self._unknown,
            self._disordered,
            self._named(tally.first_lost for tally in tallies),
            self._named(tally.first_duplicated for tally in tallies),
            self._first_unknown,
            self._first_disordered,
        )

    def _named(self, numbers: Iterable[Sequence[int]]) -> tuple[Identity, ...]:
        """The first few identities, given the first few numbers of each partition."""
        of_partitions = enumerate(zip(self._firsts, numbers, strict=True))
        return tuple((partition, first + each) for partition, (first, some) in of_partitions for each in some)[:NAMED]

    def _set_aside(self, partition: int, offsets: Integers) -> None:
        self._unknown += len(offsets)
        self._first_unknown = _first(self._first_unknown + _smallest(partition, offsets))

    def _check_order(self, partition: int, offsets: Integers) -> None:
        before = np.concatenate(([self._previous[partition]], offsets[:-1]))
        back = offsets[offsets < before]
        self._previous[partition] = int(offsets[-1])
        self._disordered += len(back)
        found = _smallest(partition, back + self._firsts[partition])
        self._first_disordered = _first(self._first_disordered + found)


def _smallest(partition: int, offsets: Integers) -> tuple[Identity, ...]:
    if len(offsets) > NAMED:
        offsets = np.partition(offsets, NAMED)[:NAMED]
    return tuple((partition, offset) for offset in offsets.tolist())


def _first(identities: tuple[Identity, ...]) -> tuple[Identity, ...]:
    return tuple(sorted(identities)[:NAMED])
