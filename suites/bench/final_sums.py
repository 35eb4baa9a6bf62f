"""The committed output of a keyed sum against its whole input, in little memory: for runs too long for a model.

The last row of every key must hold the sum and the counts of all its records, and the digests of all last rows must add
up to the hash of every record. What it does not see is a wrong row that a later one corrects.
"""

from __future__ import annotations

import numpy as np

from holdfast.harness.model.history import History
from holdfast.harness.model.records import FoldColumns, Integers, Partition
from holdfast.harness.oracles.fold_model import MASK

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
    last: dict[str, tuple[int, tuple[int, ...], int]] = {}
    for unit in history.output.units:
        rows = unit.rows
        assert isinstance(rows, FoldColumns)
        # Rows of a key are in the order of time within a unit, and units in the order of visibility.
        key, index = np.unique(rows.key[::-1], return_index=True)
        for code, row in zip(key.tolist(), (len(rows) - 1 - index).tolist(), strict=True):
            last[rows.keys[code]] = int(rows.value[row]), tuple(rows.counts[row].tolist()), int(rows.digest[row])
    expected = {
        name: (int(total), tuple(each))
        for name, total, each in zip(inputs.keys, np.asarray(value), counts.tolist(), strict=True)
        if any(each)
    }
    if {name: row[:2] for name, row in last.items()} != expected:
        raise OSError("the run does not count: the last rows do not hold the sums of the whole input.")
    if sum(row[2] for row in last.values()) & MASK != digest & MASK:
        raise OSError("the run does not count: the digests of the last rows are not those of the whole input.")


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
