"""The oracles' own interpretation of contract FOLD: what a key must show at every prefix of its input.

Rules of this file:
- It is written from the contract (`model.job.Contract`), and shares no code with any system.
- A prefix of a key is named by counts: how many of its records, by lane, have taken effect. A lane is a source
  partition or what a job makes of it (`lineage`). Records of a key and lane take effect in order.
- All sums are modulo 2**64, so a sum over any run of records is the difference of two prefix sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from heapq import nlargest
from typing import NamedTuple

import numpy as np

from holdfast.harness.model.records import Digests, InputLog, Integers, Partition
from holdfast.harness.oracles.shared.lineage import KeyedInput, Lane

MASK = (1 << 64) - 1
REMEMBERED = 4096
"""Hashes of so many first offsets of a partition are kept from run to run."""

Sums = tuple[int, int]
"""Sum of values and sum of identity hashes, both modulo 2**64."""

_Integers = tuple[list[int], list[int], list[int], list[int]]
"""Of one lane, what Prefixes holds besides offsets."""

_Lane = tuple[int, int, list[tuple[int, int, list[int], list[int]]]]
"""Of one key, what is to be added to its sums, and by partition where it starts and stops in which sums."""


def identity_hashes(digest_key: int, partition: int, count: int) -> Digests:
    """What stands for each of the first `count` records of a partition in a digest (formula in `Contract`)."""
    if count <= REMEMBERED:
        return _first_hashes(digest_key, partition)[:count]
    return _splitmix64(digest_key, partition, count)


@lru_cache(maxsize=64)
def _first_hashes(digest_key: int, partition: int) -> Digests:
    # Simulated runs are small and many, and share their digest key.
    return _splitmix64(digest_key, partition, REMEMBERED)


def _splitmix64(digest_key: int, partition: int, count: int) -> Digests:
    z = np.arange(count, dtype=np.uint64) + np.uint64((digest_key + (partition << 48) + 1) & MASK)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


class Prefixes(NamedTuple):
    """One lane, its records sorted by key and then by offset.

    Attributes:
        starts, stops: (keys,) where the records of each key start and stop.
        offsets: (n,) offset of each record.
        values: (n + 1,) sum of all values before each record.
        digests: (n + 1,) sum of all identity hashes before each record.
    """

    starts: Integers
    stops: Integers
    offsets: Integers
    values: Digests
    digests: Digests


class FoldModel:
    """Prefix sums by key and lane over the input that must have an effect.

    Args:
        inputs: what the system under test was fed.
        digest_key: of the plan.
        keyed: what reaches the keyed operator; None: each partition as it is.

    Attributes:
        keys: distinct keys as text.
        codes: position of each key in `keys`.
        partitions: the sums, by lane.
        sources: the source partition that each lane is made of.
        totals: by position of the key, the counts of its whole input.
        sides: see KeyedInput.
        digest_key: of the plan; None where what is keyed is not the input itself, so that hashes may have a weight.
        must_show: by position of the key, whether it must have a row in the end.
        additive: the value is the sum of all values, so that a record which takes effect twice is in it twice.
    """

    additive = True

    def __init__(self, inputs: InputLog, digest_key: int, keyed: KeyedInput | None = None) -> None:
        firsts = inputs.first_offsets or (0,) * len(inputs.partitions)
        self._inputs = inputs
        self._keyed = keyed
        self.keys = inputs.keys
        self.codes = {key: code for code, key in enumerate(inputs.keys)}
        if keyed is None:
            self.partitions = [
                _prefixes(partition, len(inputs.keys), number, first, digest_key)
                for number, (partition, first) in enumerate(zip(inputs.partitions, firsts, strict=True))
            ]
            self.sources = list(range(len(inputs.partitions)))
        else:
            self.partitions = [_lane_prefixes(lane, inputs, digest_key) for lane in keyed.lanes]
            self.sources = [lane.partition for lane in keyed.lanes]
        self.sides = keyed.sides if keyed is not None else ()
        self.digest_key = digest_key if keyed is None else None
        lengths = [(each.stops - each.starts).tolist() for each in self.partitions]
        self.totals: list[tuple[int, ...]] = list(zip(*lengths, strict=True)) or [()] * len(inputs.keys)
        self.must_show = [any(totals) and self._all_sides(totals) for totals in self.totals]
        self._integers: list[_Integers] | None = None
        self._lanes: dict[str, _Lane] = {}

    def expected(self, key: str, counts: Sequence[int]) -> Sums | None:
        """What a row of this key must hold, or None if the input has no such prefix."""
        lane = self._lanes.get(key) or self._lane(key)
        if lane is None or len(counts) != len(lane[2]) or (self.sides and not self._all_sides(counts)):
            return None
        value, digest, parts = lane
        for (start, stop, values, digests), count in zip(parts, counts, strict=True):
            end = start + count
            if not start <= end <= stop:
                return None
            value += values[end]
            digest += digests[end]
        return value & MASK, digest & MASK

    def tails(self) -> list[int | None]:
        """By lane, the position of the key of its last record; None if it has no record."""
        partitions = self._inputs.partitions
        if self._keyed is None:
            firsts = self._inputs.first_offsets or (0,) * len(partitions)
            ends = zip(partitions, firsts, strict=True)
            return [int(each.key[-1]) if len(each) > first else None for each, first in ends]
        lanes = self._keyed.lanes
        return [int(partitions[lane.partition].key[lane.origins[-1]]) if len(lane.origins) else None for lane in lanes]

    def _all_sides(self, counts: Sequence[int]) -> bool:
        return all(any(counts[lane] for lane in side) for side in self.sides)

    def _in_integers(self) -> list[_Integers]:
        # Single rows are compared in plain integers: indexing an array costs ten times as much.
        if self._integers is None:
            self._integers = [
                (each.starts.tolist(), each.stops.tolist(), each.values.tolist(), each.digests.tolist())
                for each in self.partitions
            ]
        return self._integers

    def _lane(self, key: str) -> _Lane | None:
        code = self.codes.get(key)
        if code is None:
            return None
        lanes = self._in_integers()
        parts = [(starts[code], stops[code], values, digests) for starts, stops, values, digests in lanes]
        before = (
            -sum(values[start] for start, _, values, _ in parts),
            -sum(digests[start] for start, _, _, digests in parts),
        )
        lane = self._lanes[key] = (*before, parts)
        return lane

    def offsets(self, key: str, partition: int) -> Integers:
        each, code = self.partitions[partition], self.codes[key]
        offsets: Integers = each.offsets[each.starts[code] : each.stops[code]]
        return offsets

    def values(self, key: str, partition: int) -> Digests:
        """Sum of values of a key before each of its records in a partition, and after the last."""
        return self._of(key, partition, self.partitions[partition].values)

    def digests(self, key: str, partition: int) -> Digests:
        """Sum of hashes of a key before each of its records in a partition, and after the last."""
        return self._of(key, partition, self.partitions[partition].digests)

    def _of(self, key: str, partition: int, sums: Digests) -> Digests:
        each, code = self.partitions[partition], self.codes[key]
        start = each.starts[code]
        here: Digests = sums[start : each.stops[code] + 1] - sums[start]
        return here


def _prefixes(partition: Partition, keys: int, number: int, first: int, digest_key: int) -> Prefixes:
    key = partition.key[first:]
    order = np.argsort(key, kind="stable")
    offsets = order + first
    hashes = identity_hashes(digest_key, number, len(partition))[offsets]
    bounds = np.searchsorted(key[order], np.arange(keys + 1))
    values = _before_each(partition.value[offsets].astype(np.uint64))
    return Prefixes(bounds[:-1], bounds[1:], offsets, values, _before_each(hashes))


def _lane_prefixes(lane: Lane, inputs: InputLog, digest_key: int) -> Prefixes:
    partition, keys = inputs.partitions[lane.partition], len(inputs.keys)
    key = np.zeros(len(lane.origins), np.int64) if lane.everywhere else partition.key[lane.origins]
    order = np.argsort(key, kind="stable")
    offsets = lane.offsets[order]
    hashes = identity_hashes(digest_key, lane.partition, int(offsets.max(initial=-1)) + 1)[offsets]
    hashes = hashes * np.uint64(lane.weight)
    values = (partition.value[lane.origins[order]] * lane.sign).astype(np.uint64)
    if lane.everywhere:
        starts, stops = np.zeros(keys, np.int64), np.full(keys, len(order))
    else:
        starts, stops = (np.searchsorted(key[order], np.arange(keys), side) for side in ("left", "right"))
    return Prefixes(starts, stops, offsets, _before_each(values), _before_each(hashes))


def _before_each(summands: Digests) -> Digests:
    sums = np.zeros(len(summands) + 1, np.uint64)
    np.add.accumulate(summands, out=sums[1:])
    return sums


class TopModel(FoldModel):
    """As FoldModel, for a job whose input reaches the operator as it is.

    Args:
        inputs: what the system under test was fed.
        digest_key: of the plan.
        top: how many values are summed.
    """

    additive = False

    def __init__(self, inputs: InputLog, digest_key: int, top: int) -> None:
        super().__init__(inputs, digest_key)
        self._input = inputs
        self._top = top
        self._known: dict[tuple[str, tuple[int, ...]], int] = {}

    def expected(self, key: str, counts: Sequence[int]) -> Sums | None:
        sums = super().expected(key, counts)
        if sums is None:
            return None
        prefix = key, tuple(counts)
        if prefix not in self._known:
            self._known[prefix] = self._largest(key, counts)
        return self._known[prefix] & MASK, sums[1]

    def _largest(self, key: str, counts: Sequence[int]) -> int:
        values = (
            int(value)
            for number, (partition, count) in enumerate(zip(self._input.partitions, counts, strict=True))
            for value in partition.value[self.offsets(key, number)[:count]]
        )
        return sum(nlargest(self._top, values))
