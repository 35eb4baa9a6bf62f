"""The oracles' own interpretation of contract FOLD: what a key must show at every prefix of its input.

Rules of this file:
- It is written from the contract (`model.job.Contract`), and shares no code with any system.
- A prefix of a key is named by counts: how many of its records, by source partition, have taken effect. Records of a
  key and partition take effect in the order of their offsets.
- All sums are modulo 2**64, so a sum over any run of records is the difference of two prefix sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache

import msgspec
import numpy as np

from holdfast.harness.model.records import Digests, InputLog, Integers, Partition

MASK = (1 << 64) - 1
REMEMBERED = 4096
"""Hashes of so many first offsets of a partition are kept from run to run."""

Sums = tuple[int, int]
"""Sum of values and sum of identity hashes, both modulo 2**64."""

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


class Prefixes(msgspec.Struct, frozen=True, eq=False):
    """One partition, its records sorted by key and then by offset.

    Attributes:
        starts: (keys + 1,) where the records of each key start.
        offsets: (n,) offset of each record.
        values: (n + 1,) sum of all values before each record.
        digests: (n + 1,) sum of all identity hashes before each record.
    """

    starts: Integers
    offsets: Integers
    values: Digests
    digests: Digests


class FoldModel:
    """Prefix sums by key and partition over the input that is owed an effect.

    Args:
        inputs: what the accused was fed.
        digest_key: of the plan.

    Attributes:
        keys: distinct keys as text.
        codes: position of each key in `keys`.
        partitions: the sums.
        totals: by position of the key, the counts of its whole input.
    """

    def __init__(self, inputs: InputLog, digest_key: int) -> None:
        firsts = inputs.first_offsets or (0,) * len(inputs.partitions)
        self.keys = inputs.keys
        self.codes = {key: code for code, key in enumerate(inputs.keys)}
        self.partitions = [
            _prefixes(partition, len(inputs.keys), number, first, digest_key)
            for number, (partition, first) in enumerate(zip(inputs.partitions, firsts, strict=True))
        ]
        lengths = [np.diff(each.starts).tolist() for each in self.partitions]
        self.totals: list[tuple[int, ...]] = list(zip(*lengths, strict=True)) or [()] * len(inputs.keys)
        self._lanes: dict[str, _Lane] = {}

    def expected(self, key: str, counts: Sequence[int]) -> Sums | None:
        """What a row of this key must hold, or None if the input has no such prefix."""
        lane = self._lanes.get(key) or self._lane(key)
        if lane is None or len(counts) != len(lane[2]):
            return None
        value, digest, parts = lane
        for (start, stop, values, digests), count in zip(parts, counts, strict=True):
            end = start + count
            if not start <= end <= stop:
                return None
            value += values[end]
            digest += digests[end]
        return value & MASK, digest & MASK

    @cached_property
    def _plain(self) -> list[tuple[list[int], list[int], list[int]]]:
        # Single rows are compared in plain integers: indexing an array costs ten times as much.
        return [(each.starts.tolist(), each.values.tolist(), each.digests.tolist()) for each in self.partitions]

    def _lane(self, key: str) -> _Lane | None:
        code = self.codes.get(key)
        if code is None:
            return None
        parts = [(starts[code], starts[code + 1], values, digests) for starts, values, digests in self._plain]
        before = (
            -sum(values[start] for start, _, values, _ in parts),
            -sum(digests[start] for start, _, _, digests in parts),
        )
        lane = self._lanes[key] = (*before, parts)
        return lane

    def offsets(self, key: str, partition: int) -> Integers:
        """The offsets of a key's records in a partition."""
        each, code = self.partitions[partition], self.codes[key]
        offsets: Integers = each.offsets[each.starts[code] : each.starts[code + 1]]
        return offsets

    def values(self, key: str, partition: int) -> Digests:
        """Sum of values of a key before each of its records in a partition, and after the last."""
        return self._of(key, partition, self.partitions[partition].values)

    def digests(self, key: str, partition: int) -> Digests:
        """Sum of hashes of a key before each of its records in a partition, and after the last."""
        return self._of(key, partition, self.partitions[partition].digests)

    def _of(self, key: str, partition: int, sums: Digests) -> Digests:
        starts, code = self.partitions[partition].starts, self.codes[key]
        here: Digests = sums[starts[code] : starts[code + 1] + 1] - sums[starts[code]]
        return here


def _prefixes(partition: Partition, keys: int, number: int, first: int, digest_key: int) -> Prefixes:
    key = partition.key[first:]
    order = np.argsort(key, kind="stable")
    offsets = order + first
    hashes = identity_hashes(digest_key, number, len(partition))[offsets]
    starts = np.searchsorted(key[order], np.arange(keys + 1))
    return Prefixes(starts, offsets, _before_each(partition.value[offsets].astype(np.uint64)), _before_each(hashes))


def _before_each(summands: Digests) -> Digests:
    sums = np.zeros(len(summands) + 1, np.uint64)
    np.cumsum(summands, out=sums[1:])
    return sums
