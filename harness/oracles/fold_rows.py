"""One pass over committed rows of contract FOLD: which of them the model does not expect.

Rows are scanned one by one with plain integers, which is fastest for the small outputs of simulated runs, or as columns
with NumPy where the reader hands over columns. Both find the same.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from operator import ge
from typing import cast

import msgspec
import numpy as np
import numpy.typing as npt

from holdfast.harness.model.records import CommittedRows, FoldColumns, FoldRow, Integers, Output
from holdfast.harness.oracles.fold_model import MASK, FoldModel

NAMED = 3
"""How many rows of each kind a scan names."""
EXAMINED = 100
"""How many rows that do not rise are looked at for them."""


class Scan(msgspec.Struct, frozen=True):
    """What one pass found. Rows are positions in the order of visibility; of each kind the first few are named.

    Attributes:
        rows: how many were looked at.
        successors: how many of them had an earlier row of their key.
        wrong: rows that are not what the model has at their counts, the first of each key.
        repeated: pairs of rows of a key with equal counts.
        stepped_back: pairs of successive rows of a key, the second of which lacks records that the first holds.
        unfinished: by key, its last row where that is not the whole input, or None where there is none.
    """

    rows: int
    successors: int
    wrong: list[int]
    repeated: list[tuple[int, int]]
    stepped_back: list[tuple[int, int]]
    unfinished: dict[str, int | None]


class Sighting(msgspec.Struct, frozen=True):
    """A row and the unit of output that it was seen in."""

    unit: CommittedRows
    row: FoldRow

    def __str__(self) -> str:
        row = self.row
        when = "second read" if self.unit.final else f"poll {self.unit.poll}"
        counts = ", ".join(map(str, row.counts))
        return f"{self.unit.name}, {when}: key {row.key!r}, value {row.value}, counts ({counts}), {row.digest:#018x}"


class Sightings:
    """The rows of an output by position in the order of visibility."""

    def __init__(self, output: Output) -> None:
        self._units = output.units
        self._starts = list(accumulate((len(unit.rows) for unit in output.units), initial=0))

    def __getitem__(self, position: int) -> Sighting:
        number = bisect(self._starts, position) - 1
        unit = self._units[number]
        return Sighting(unit, cast(FoldRow, unit.rows[position - self._starts[number]]))


def scan(model: FoldModel, output: Output) -> Scan:
    """Compare the rows of an output with the model."""
    columns = [unit.rows for unit in output.units if isinstance(unit.rows, FoldColumns)]
    regular = all(each.counts.shape[1] == len(model.partitions) for each in columns)
    if model.keys and columns and regular and len(columns) == len(output.units):
        return _scan_columns(model, columns)
    return _scan_rows(model, cast("list[FoldRow]", list(output.rows())))


def _scan_rows(model: FoldModel, rows: Sequence[FoldRow]) -> Scan:
    wrong: dict[int, str] = {}
    fallen: list[int] = []
    last: dict[str, int] = {}
    expected = model.expected
    for position, row in enumerate(rows):
        key, counts = row.key, row.counts
        if expected(key, counts) != (row.value & MASK, row.digest & MASK):
            wrong[position] = key
        before = last.get(key)
        if before is not None and not _rises(rows[before].counts, counts):
            fallen.append(position)
        last[key] = position
    unfinished: dict[str, int | None] = {}
    for key, totals in zip(model.keys, model.totals, strict=True):
        there = last.get(key)
        if there is None:
            if any(totals):
                unfinished[key] = None
        elif rows[there].counts != totals or there in wrong:
            unfinished[key] = there

    def earlier(position: int) -> Iterable[int]:
        return (each for each in range(position) if rows[each].key == rows[position].key)

    repeated, stepped_back = _sort_out(fallen, earlier, lambda position: rows[position].counts)
    return Scan(len(rows), len(rows) - len(last), _first_of_each_key(wrong.items()), repeated, stepped_back, unfinished)


def _rises(before: tuple[int, ...], after: tuple[int, ...]) -> bool:
    return before != after and all(map(ge, after, before))


def _scan_columns(model: FoldModel, columns: Sequence[FoldColumns]) -> Scan:
    codes = dict(model.codes)
    in_model = [np.array([codes.setdefault(key, len(codes)) for key in each.keys], np.int64) for each in columns]
    key = np.concatenate([here[each.key] for here, each in zip(in_model, columns, strict=True)])
    counts = np.concatenate([each.counts for each in columns])
    right = _right(model, key, counts, columns)
    wrong = np.flatnonzero(~right)

    # Sorting is stable: the rows of a key stay in the order of visibility. NumPy sorts 16 bits by radix.
    order = np.argsort(key.astype(np.uint16) if len(codes) <= 1 << 16 else key, kind="stable")
    same_key = key[order[1:]] == key[order[:-1]]
    steps = np.diff(counts[order], axis=0)
    rises = (steps >= 0).all(axis=1) & (steps > 0).any(axis=1)
    fallen = np.sort(order[1:][same_key & ~rises])

    ends = order[np.append(~same_key, True)] if len(order) else order
    last = np.full(len(codes), -1)
    last[key[ends]] = ends
    last = last[: len(model.keys)]
    totals = np.array(model.totals)
    finished = (last >= 0) & right[last] & (counts[last] == totals).all(axis=1) if len(order) else last >= 0
    owed = totals.any(axis=1) | (last >= 0)
    unfinished = {
        model.keys[code]: None if last[code] < 0 else int(last[code])
        for code in np.flatnonzero(owed & ~finished).tolist()
    }

    def earlier(position: int) -> Iterable[int]:
        found: list[int] = np.flatnonzero(key[:position] == key[position]).tolist()
        return found

    repeated, stepped_back = _sort_out(fallen.tolist(), earlier, lambda position: tuple(counts[position].tolist()))
    named = _first_of_each_key(zip(wrong.tolist(), key[wrong].tolist(), strict=True))
    return Scan(len(key), int(same_key.sum()), named, repeated, stepped_back, unfinished)


def _right(model: FoldModel, key: Integers, counts: Integers, columns: Sequence[FoldColumns]) -> npt.NDArray[np.bool_]:
    """Of each row, whether it is what the model has at its counts."""
    value = np.concatenate([each.value for each in columns]).astype(np.uint64)
    digest = np.concatenate([each.digest for each in columns])
    known = key < len(model.keys)
    code = np.where(known, key, 0)
    right: npt.NDArray[np.bool_] = known
    for number, each in enumerate(model.partitions):
        start = each.starts[code]
        end = start + counts[:, number]
        inside = (start <= end) & (end <= each.starts[code + 1])
        end = np.where(inside, end, start)
        value -= each.values[end] - each.values[start]
        digest -= each.digests[end] - each.digests[start]
        right &= inside
    right &= (value == 0) & (digest == 0)
    return right


def _first_of_each_key(rows: Iterable[tuple[int, str]] | Iterable[tuple[int, int]]) -> list[int]:
    """Of wrong rows with their keys: every later row of the key is wrong because the first is."""
    firsts: dict[str | int, int] = {}
    for position, key in rows:
        firsts.setdefault(key, position)
        if len(firsts) == NAMED:
            break
    return list(firsts.values())


Pairs = list[tuple[int, int]]


def _sort_out(
    fallen: Sequence[int], earlier: Callable[[int], Iterable[int]], counts: Callable[[int], tuple[int, ...]]
) -> tuple[Pairs, Pairs]:
    """Rows that do not rise above the row of their key before: the ones that repeat one, and the others."""
    repeated: Pairs = []
    stepped_back: Pairs = []
    for position in fallen[:EXAMINED]:
        before = list(earlier(position))
        same = next((each for each in before if counts(each) == counts(position)), None)
        if same is None:
            stepped_back.append((before[-1], position))
        else:
            repeated.append((same, position))
    return repeated[:NAMED], stepped_back[:NAMED]
