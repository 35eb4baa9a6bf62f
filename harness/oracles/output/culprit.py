"""Which records a digest holds twice or not at all.

A row of contract FOLD names a prefix of its key by counts. Where its digest is not that prefix's, some lane holds
a shorter prefix and repeats, or a longer prefix with gaps. Hashes are 64 random bits, so records whose hashes add up to
the digest are the records: the search is for one record, two records, or one contiguous run of records in each
lane, which is what a rewound or a skipped source leaves behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import msgspec
import numpy as np

from holdfast.harness.model.records import Digests, FoldRow, Integers
from holdfast.harness.model.sentence import plural
from holdfast.harness.model.verdict import Damage
from holdfast.harness.oracles.shared.fold_model import MASK, FoldModel, Sums

CANDIDATES = 1 << 20
"""How many sums a search may form."""


class Share(msgspec.Struct, frozen=True):
    """Some records of a key in one lane: one, two, or the whole run between two offsets.

    Attributes:
        lane: whose place in `counts` holds them.
        partition: of the source that the lane is made of.
        first, last: offsets, both included.
        records: how many of the key there are.
    """

    lane: int
    partition: int
    first: int
    last: int
    records: int

    def __str__(self) -> str:
        if self.records == 1:
            return f"partition {self.partition}, offset {self.first}"
        if self.records == 2:
            return f"partition {self.partition}, offsets {self.first} and {self.last}"
        return (
            f"partition {self.partition}, offsets {self.first}..{self.last} "
            f"({plural(self.records, 'record')} of the key)"
        )


def sums_of(model: FoldModel, key: str, share: Share) -> Sums:
    """What some records of a key add up to."""
    first, last = np.searchsorted(model.offsets(key, share.lane), [share.first, share.last]).tolist()
    within = [first, last] if share.records == 2 else slice(first, last + 1)
    value, digest = (
        int(np.diff(sums)[within].sum(dtype=np.uint64))
        for sums in (model.values(key, share.lane), model.digests(key, share.lane))
    )
    return value, digest


class Culprit(msgspec.Struct, frozen=True):
    """What explains a digest.

    Attributes:
        repeated: took effect twice.
        lost: took no effect.
    """

    repeated: tuple[Share, ...] = ()
    lost: tuple[Share, ...] = ()

    @property
    def damage(self) -> Damage | None:
        """What it does to a user; None where both or nothing happened."""
        if bool(self.repeated) == bool(self.lost):
            return None
        return Damage.DUPLICATE if self.repeated else Damage.LOSS

    def __str__(self) -> str:
        repeated = [f"{share} took effect twice" for share in self.repeated]
        lost = [f"{share} took no effect" for share in self.lost]
        return "; ".join(repeated + lost)


def explain(model: FoldModel, key: str, counts: Sequence[int], digest: int, *, losses: bool = True) -> Culprit | None:
    """The records whose repetition or, with `losses`, absence makes a row of a prefix of its key.

    Args:
        model: of the input.
        key: of the model.
        counts: how many records of each lane the row claims to hold.
        digest: of the row.
        losses: whether records may be missing.

    Returns:
        Nothing repeated and nothing lost if the row is a prefix; None if the search finds nothing.
    """

    def holdings(lane: int, budget: int) -> _Holdings:
        return _holdings(model.digests(key, lane), counts[lane], budget, losses=losses)

    if len(counts) != len(model.partitions) or min(counts, default=0) < 0:
        return None
    lanes = range(len(counts))
    plain = [holdings(lane, 0) for lane in lanes]
    for lane in lanes:  # most often only one is off
        trial = [*plain[:lane], holdings(lane, CANDIDATES), *plain[lane + 1 :]]
        if found := _match(trial, digest):
            return _culprit(model, key, found)
    if losses and (swapped := _swapped(model, key, counts, digest)):
        return swapped
    half = -(-len(counts) // 2)
    found = _match([holdings(lane, int(CANDIDATES ** (1 / half))) for lane in lanes], digest)
    return _culprit(model, key, found) if found else None


def explain_row(model: FoldModel, row: FoldRow) -> Culprit | None:
    """As `explain`, for a row that may lack records as well as repeat them."""
    expected = model.expected(row.key, row.counts)
    if expected is not None and expected[1] == row.digest & MASK:
        return Culprit()  # most rows are prefixes, and this is all that they cost
    return explain(model, row.key, row.counts, row.digest)


def describe_culprit(culprit: Culprit | None) -> str:
    """An explanation in words, or that there is none."""
    return str(culprit) if culprit else "no record, pair or run of records explains its digest"


def with_remainder(model: FoldModel, row: FoldRow, culprit: Culprit) -> Culprit:
    """The explanation of a last row, with the records behind its prefix, which took no effect either."""
    counts = list(row.counts)
    for share in culprit.repeated:
        counts[share.lane] -= share.records
    for share in culprit.lost:
        counts[share.lane] += share.records
    lost = list(culprit.lost)
    for lane, count in enumerate(counts):
        records = len(model.offsets(row.key, lane))
        if count < records:
            lost.append(_share(model, row.key, lane, records - count, count, records - 1))
    return Culprit(culprit.repeated, tuple(lost))


class _Holdings(msgspec.Struct, frozen=True, eq=False):
    """What one lane may hold of a key, a candidate per position.

    Attributes:
        sums: the digest.
        records: how many records it holds twice; negative: how many it lacks.
        first: position of the first of them among the records of the key.
        last: position of the last.
    """

    sums: Digests
    records: Integers
    first: Integers
    last: Integers


_Found = list[tuple[int, int, int]]
"""By lane: records, first and last of the candidate that was chosen."""


def _holdings(sums: Digests, count: int, budget: int, *, losses: bool) -> _Holdings:
    total, formed, hashes = len(sums) - 1, 0, np.diff(sums)
    plain, nothing = sums[count : count + 1], np.zeros(int(count <= total), np.int64)
    blocks = [(plain, nothing, nothing, nothing)]
    for records in range(max(1, count - total), total + 1):
        for sign in (1, -1) if losses else (1,):
            end = count - sign * records  # the prefix that the records are repeated on top of, or missing from
            if not records <= end <= total or formed > budget - end:
                continue
            if records == 2 and formed + end * end // 2 <= budget:
                first, last = np.triu_indices(end, 1)
            else:
                first = np.arange(end - records + 1)
                last = first + records - 1
            theirs = hashes[first] + hashes[last] if records == 2 else sums[last + 1] - sums[first]
            held = sums[end] + theirs if sign > 0 else sums[end] - theirs
            blocks.append((held, np.full(len(first), sign * records), first, last))
            formed += len(first)
    return _Holdings(*(np.concatenate(column) for column in zip(*blocks, strict=True)))


def _match(trial: Sequence[_Holdings], digest: int) -> _Found | None:
    """One candidate of each lane, so that they add up to the digest: two halves that meet in the middle."""

    def totals(half: Sequence[_Holdings]) -> Digests:
        nothing = np.zeros(1, np.uint64)
        return reduce(lambda sums, each: np.add.outer(sums, each.sums).ravel(), half, nothing)

    middle = len(trial) // 2
    halves = trial[:middle], trial[middle:]
    lower, upper = map(totals, halves)
    wanted = np.uint64(digest & MASK) - lower
    hits = np.flatnonzero(np.isin(wanted, upper))
    if not len(hits):
        return None
    chosen = int(hits[0]), int(np.flatnonzero(upper == wanted[hits[0]])[0])
    found: _Found = []
    for half, index in zip(halves, chosen, strict=True):
        places = np.unravel_index(index, [len(each.sums) for each in half]) if half else ()
        for each, place in zip(half, places, strict=True):
            found.append((int(each.records[place]), int(each.first[place]), int(each.last[place])))
    return found


def _swapped(model: FoldModel, key: str, counts: Sequence[int], digest: int) -> Culprit | None:
    """One record that took no effect and another of its lane that took effect twice."""
    expected = model.expected(key, counts)
    if expected is None:
        return None
    excess = np.uint64((digest - expected[1]) & MASK)
    for lane in range(len(counts)):
        hashes = np.diff(model.digests(key, lane))
        lost = np.flatnonzero(np.isin(hashes + excess, hashes))
        if excess and len(lost):
            repeated = np.flatnonzero(hashes == (hashes + excess)[lost[0]])
            shares = (_share(model, key, lane, 1, int(where[0]), int(where[0])) for where in (repeated, lost))
            return Culprit(*((share,) for share in shares))
    return None


def _culprit(model: FoldModel, key: str, found: _Found) -> Culprit:
    repeated: list[Share] = []
    lost: list[Share] = []
    for lane, (records, first, last) in enumerate(found):
        if records:
            share = _share(model, key, lane, abs(records), first, last)
            (repeated if records > 0 else lost).append(share)
    return Culprit(tuple(repeated), tuple(lost))


def _share(model: FoldModel, key: str, lane: int, records: int, first: int, last: int) -> Share:
    offsets = model.offsets(key, lane)
    return Share(lane, model.sources[lane], int(offsets[first]), int(offsets[last]), records)
