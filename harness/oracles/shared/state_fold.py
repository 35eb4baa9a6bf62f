"""What keyed sums must hold at a cut: the fold of the input below the source positions, by the oracle's own arithmetic.

All sums are modulo 2**64, so that it does not matter whether the system under test wraps its running sums.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np

from holdfast.harness.model.events import StateSummary
from holdfast.harness.model.records import Digests, InputLog
from holdfast.harness.oracles.shared.fold_model import identity_hashes
from holdfast.harness.oracles.shared.lineage import Lane

MODULUS = 1 << 64


def _prefix(summands: Digests) -> Digests:
    """Element n is the sum of the first n summands."""
    sums = np.zeros(len(summands) + 1, dtype=np.uint64)
    np.add.accumulate(summands, out=sums[1:])
    return sums


def _hashes(digest_key: int, lane: Lane) -> Digests:
    hashes = identity_hashes(digest_key, lane.partition, int(lane.offsets.max(initial=-1)) + 1)[lane.offsets]
    return hashes * np.uint64(lane.weight)


@lru_cache(maxsize=16)
def _digests(digest_key: int, lengths: tuple[int, ...]) -> tuple[Digests, ...]:
    """Prefix sums of the identity hashes: the same in every run over logs of these lengths."""
    return tuple(_prefix(identity_hashes(digest_key, partition, length)) for partition, length in enumerate(lengths))


Sums = tuple[int, int, int]
"""Number of records, sum of their values, sum of their hashes, these modulo 2**64."""


class StateFold:
    """The keyed sums of one input log, added up over all keys.

    Args:
        log: what was fed.
        digest_key: of the plan.
        lanes: what reaches the keyed operator; empty: each partition as it is.
    """

    def __init__(self, log: InputLog, digest_key: int, lanes: Sequence[Lane] = ()) -> None:
        self.lengths = log.lengths()
        self.first = log.first_offsets or (0,) * len(log.partitions)
        self.lanes = lanes
        if lanes:
            self.digests = tuple(_prefix(_hashes(digest_key, lane)) for lane in lanes)
            self.values = tuple(
                _prefix((log.partitions[lane.partition].value[lane.origins] * lane.sign).astype(np.uint64))
                for lane in lanes
            )
        else:
            self.digests = _digests(digest_key, self.lengths)
            self.values = tuple(_prefix(partition.value.astype(np.uint64)) for partition in log.partitions)

    def covers(self, positions: Mapping[int, int]) -> bool:
        """Whether positions name every partition, each inside its log."""
        return len(positions) == len(self.first) and all(
            first <= positions.get(partition, -1) <= length
            for partition, (first, length) in enumerate(zip(self.first, self.lengths, strict=True))
        )

    def below(self, positions: Mapping[int, int], *, since: Sequence[int] = (), everywhere: bool = False) -> Sums:
        """Everything below the positions: what counts for its own key, or what counts for every key.

        Args:
            positions: by partition, each inside its log.
            since: by partition, the first offset that still counts; empty: all do. Not where there are lanes.
            everywhere: what counts for every key.
        """
        records = value = digest = 0
        for start, end, values, digests in self._below(positions, since or self.first, everywhere):
            records += end - start
            value += int(values[end]) - int(values[start])
            digest += int(digests[end]) - int(digests[start])
        return records, value % MODULUS, digest % MODULUS

    def _below(
        self, positions: Mapping[int, int], since: Sequence[int], everywhere: bool
    ) -> Iterator[tuple[int, int, Digests, Digests]]:
        """Of each lane, its first record and its first behind its position, in which sums."""
        for number, (values, digests) in enumerate(zip(self.values, self.digests, strict=True)):
            if not self.lanes:
                if not everywhere:
                    yield min(since[number], positions[number]), positions[number], values, digests
            elif self.lanes[number].everywhere is everywhere:
                lane = self.lanes[number]
                yield 0, int(np.searchsorted(lane.origins, positions[lane.partition])), values, digests

    def culprit(self, records: int, digest: int) -> str:
        """The records that a difference of `records` in number and `digest` in digest stands for, in words.

        Searched as one contiguous range of offsets of one partition, as two records, and, where as many are extra as
        are missing, as one of each. Empty if it is none of these.
        """
        count = abs(records)
        wanted = np.uint64((digest if records >= 0 else -digest) % MODULUS)
        if count:
            for partition, sums in enumerate(self.digests):
                if count >= len(sums):
                    continue
                found = np.flatnonzero(sums[count:] - sums[: len(sums) - count] == wanted)
                if len(found):
                    return self._range(partition, int(found[0]), count)
        return self._pair(wanted, added=count == 2) if count in (0, 2) else ""

    def _pair(self, wanted: np.uint64, *, added: bool) -> str:
        """Two records whose hashes have this sum, or else this difference."""
        partitions = np.concatenate([np.full(len(sums) - 1, i) for i, sums in enumerate(self.digests)])
        offsets = np.concatenate([np.arange(len(sums) - 1) for sums in self.digests])
        hashes = np.concatenate([np.diff(sums) for sums in self.digests])
        partners = wanted - hashes if added else hashes - wanted
        order = np.argsort(hashes)
        places = np.minimum(np.searchsorted(hashes, partners, sorter=order), len(hashes) - 1)
        found = np.flatnonzero(hashes[order[places]] == partners)
        if not len(found):
            return ""
        one, other = int(found[0]), int(order[places[found[0]]])
        first, second = (self._range(int(partitions[each]), int(offsets[each]), 1) for each in (one, other))
        return f"{first} and {second}" if added else f"{first} instead of {second}"

    def _range(self, number: int, first: int, count: int) -> str:
        """So many records of a lane in words."""
        partition, last = number, first + count - 1
        if self.lanes:
            lane = self.lanes[number]
            partition, first, last = lane.partition, int(lane.offsets[first]), int(lane.offsets[last])
        if count == 1:
            return f"offset {first} of partition {partition}"
        return f"offsets {first} to {last} of partition {partition}"


def held_by(states: Iterable[StateSummary]) -> Sums:
    """What some states hold together."""
    records = value = digest = 0
    for state in states:
        records, value, digest = records + state.records, value + state.value, digest + state.digest
    return records, value, digest
