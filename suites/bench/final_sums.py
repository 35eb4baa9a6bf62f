"""The committed output of a keyed sum against its whole input, in little memory: for runs too long for a model.

The last row of every key must hold the sum and the counts of all its records, and the digests of all last rows must add
up to the hash of every record. What it does not see is a wrong row that a later one corrects.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from holdfast.harness.model.history import History
from holdfast.harness.model.records import FoldColumns, Integers, Partition
from holdfast.harness.oracles.shared.fold_model import MASK

CHUNK = 1 << 22


def check_final_sums(history: History) -> None:
    """Compare.

    Raises:
        OSError: the output is wrong.
    """
    inputs = history.inputs
    counts = np.stack([_sums(each, len(inputs.keys), weighted=False) for each in inputs.partitions], axis=1)
    value = sum(_sums(each, len(inputs.keys), weighted=True) for each in inputs.partitions)
    digest = sum(_digest(history.plan.digest_key, index, len(each)) for index, each in enumerate(inputs.partitions))
    found = _LastRows(inputs.keys, len(inputs.partitions))
    for unit in history.output.units:
        assert isinstance(unit.rows, FoldColumns)
        found.add(unit.rows)
    wrong = not np.array_equal(found.counts, counts) or not np.array_equal(found.value, np.asarray(value))
    if found.strange or wrong:
        raise OSError("the run does not count: the last rows do not hold the sums of the whole input.")
    if int(found.digest.sum(dtype=np.uint64)) != digest & MASK:
        raise OSError("the run does not count: the digests of the last rows are not those of the whole input.")


def totals(history: History) -> tuple[int, int, int]:
    """Of the whole input: records, sum of the values, and sum of the digests modulo 2**64."""
    inputs = history.inputs
    digest = sum(_digest(history.plan.digest_key, index, len(each)) for index, each in enumerate(inputs.partitions))
    return inputs.total_records, sum(int(each.value.sum()) for each in inputs.partitions), digest & MASK


class _LastRows:
    """The last row of every key, as columns by key; a key without a row has zeros.

    Attributes:
        strange: a key that the input does not have came.
    """

    def __init__(self, keys: Sequence[str], partitions: int) -> None:
        self._codes = {key: code for code, key in enumerate(keys)}
        self.counts = np.zeros((len(keys), partitions), dtype=np.int64)
        self.value = np.zeros(len(keys), dtype=np.int64)
        self.digest = np.zeros(len(keys), dtype=np.uint64)
        self.strange = False

    def add(self, rows: FoldColumns) -> None:
        """Rows of a key are in the order of time within a unit, and units in the order of visibility."""
        last = np.full(len(rows.keys), -1, dtype=np.int64)
        last[rows.key] = np.arange(len(rows))  # of an index that comes twice the later value stays
        seen = np.flatnonzero(last >= 0)
        codes = np.array([self._codes.get(rows.keys[each], -1) for each in seen.tolist()], dtype=np.int64)
        self.strange |= bool((codes < 0).any())
        self.counts[codes] = rows.counts[last[seen]]
        self.value[codes] = rows.value[last[seen]]
        self.digest[codes] = rows.digest[last[seen]]


def _sums(partition: Partition, keys: int, *, weighted: bool) -> Integers:
    """By key: how many records, or the sum of their values. Minutes are small, so floating point adds them exactly."""
    found = np.zeros(keys, dtype=np.int64)
    for first in range(0, len(partition), CHUNK):
        chosen = slice(first, first + CHUNK)
        weights = partition.value[chosen] if weighted else None
        found += np.bincount(partition.key[chosen], weights, minlength=keys).astype(np.int64)
    return found


def _digest(digest_key: int, partition: int, count: int) -> int:
    """Sum of the identity hashes of the first records of a partition (the formula of the contract, in chunks)."""
    total = 0
    for first in range(0, count, CHUNK):
        offset = np.arange(first, min(count, first + CHUNK), dtype=np.uint64)
        z = offset + np.uint64((digest_key + (partition << 48) + 1) & MASK)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        total += int((z ^ (z >> np.uint64(31))).sum())
    return total
