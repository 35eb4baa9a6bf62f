"""Committed rows of contract FOLD against the model: which of them it does not expect.

Rows are scanned one by one with plain integers, which is fastest for the small outputs of simulated runs, or as columns
with NumPy where the reader hands over columns. Both find the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import ge
from typing import cast

import msgspec
import numpy as np
import numpy.typing as npt

from holdfast.harness.model.capability import Guarantee
from holdfast.harness.model.history import History
from holdfast.harness.model.job import VertexKind
from holdfast.harness.model.records import CommittedRows, FoldColumns, FoldRow, Integers, Output
from holdfast.harness.oracles.output.visibility import reordered, sighting
from holdfast.harness.oracles.shared.fold_model import MASK, FoldModel, TopModel
from holdfast.harness.oracles.shared.lineage import is_plain, keyed_input
from holdfast.harness.oracles.shared.ruled_model import ruled_model

NAMED = 3
"""How many rows of each kind a scan names."""
EXAMINED = 100
"""How many rows that do not rise are looked at for them."""

Pairs = list[tuple[int, int]]


class Scan(msgspec.Struct, frozen=True):
    """What a scan found. Rows are positions in the order of visibility; of each kind the first few are named.

    Attributes:
        output: what was scanned, in that order.
        rows: how many there are.
        successors: how many of them have an earlier row of their key.
        unknown: rows of keys that the input does not have, the last of each key.
        wrong: other rows that are not what the model has at their counts, the first of each key.
        repeated: pairs of rows of a key with equal counts.
        stepped_back: pairs of successive rows of a key, the second of which lacks records that the first holds.
        unfinished: by key, its last row where that is not the whole input, or None where there is none.
    """

    output: Output
    rows: int
    successors: int
    unknown: list[int]
    wrong: list[int]
    repeated: Pairs
    stepped_back: Pairs
    unfinished: dict[str, int | None]

    def row(self, position: int) -> FoldRow:
        return self._find(position)[1]

    def line(self, position: int) -> str:
        """The row at a position, and where it was seen."""
        return sighting(*self._find(position))

    def unit(self, position: int) -> CommittedRows:
        """The unit of output that holds the row at a position."""
        return self._find(position)[0]

    def _find(self, position: int) -> tuple[CommittedRows, FoldRow]:
        for unit in self.output.units:
            if position < len(unit.rows):
                return unit, cast(FoldRow, unit.rows[position])
            position -= len(unit.rows)
        raise IndexError(position)


_latest: tuple[History, FoldModel, Scan] | None = None


def judged(history: History) -> tuple[FoldModel, Scan]:
    """The model of a run of contract FOLD, and the scan of its output. Kept for the oracle that asks next."""
    global _latest
    latest = _latest
    if latest is None or latest[0] is not history:
        model = _model(history)
        _latest = latest = (history, model, scan(model, history.output))
    return latest[1], latest[2]


def in_order(history: History) -> bool:
    """Whether the records of a partition take effect in their order, so that counts name them. Where a source hands out
    a partition in several splits, they need not: then a row has a known answer only if it holds the whole input."""
    state = history.claims.state
    return Guarantee.NO_DUPLICATE not in state or Guarantee.KEY_ORDER in state


def wrong_in_any_order(model: FoldModel, found: Scan) -> list[int]:
    """Rows that are wrong whatever the order of records was: they count the whole input or more, and hold another."""
    last = {position for position in found.unfinished.values() if position is not None}

    def has_room(row: FoldRow) -> bool:
        totals = model.totals[model.codes[row.key]]
        return len(row.counts) == len(totals) and row.counts != totals and all(map(ge, totals, row.counts))

    return [position for position in sorted({*found.wrong, *last}) if not has_room(found.row(position))]


def _model(history: History) -> FoldModel:
    job, inputs, digest_key = history.plan.job, history.inputs, history.plan.digest_key
    if job.of_kind(VertexKind.RULED_SUM):
        return ruled_model(history.plan, inputs)
    if not is_plain(job):
        return FoldModel(inputs, digest_key, keyed_input(job, inputs))
    for vertex in job.of_kind(VertexKind.TOP_SUM):
        return TopModel(inputs, digest_key, vertex.top)
    return FoldModel(inputs, digest_key)


def scan(model: FoldModel, output: Output) -> Scan:
    """Compare the rows of an output with the model."""
    found = _scan(model, output)
    if not found.repeated and not found.stepped_back:
        return found
    otherwise = reordered(output)
    return found if otherwise.units == output.units else _scan(model, otherwise)


def _scan(model: FoldModel, output: Output) -> Scan:
    columns = [unit.rows for unit in output.units if isinstance(unit.rows, FoldColumns)]
    regular = all(each.counts.shape[1] == len(model.partitions) for each in columns)
    if model.additive and model.keys and any(map(len, columns)) and regular and len(columns) == len(output.units):
        return _scan_columns(model, output, columns)
    return _scan_rows(model, output)


def _scan_rows(model: FoldModel, output: Output) -> Scan:
    rows = cast("list[FoldRow]", [row for unit in output.units for row in unit.rows])
    wrong: dict[int, str] = {}
    fallen: list[int] = []
    last: dict[str, int] = {}
    expected = model.expected
    for position, row in enumerate(rows):
        key, counts = row.key, row.counts
        if expected(key, counts) != (row.value & MASK, row.digest & MASK) and key in model.codes:
            wrong[position] = key
        before = last.get(key)
        if before is not None and not _rises(rows[before].counts, counts):
            fallen.append(position)
        last[key] = position
    unfinished: dict[str, int | None] = {}
    for key, totals, must_show in zip(model.keys, model.totals, model.must_show, strict=True):
        there = last.get(key)
        if there is None:
            if must_show:
                unfinished[key] = None
        elif rows[there].counts != totals or there in wrong:
            unfinished[key] = there

    def earlier(position: int) -> list[int]:
        return [each for each in range(position) if rows[each].key == rows[position].key]

    repeated, stepped_back = _sort_out(fallen, earlier, lambda position: rows[position].counts)
    unknown = [position for key, position in last.items() if key not in model.codes]
    firsts = _first_of_each_key(wrong.items())
    return Scan(output, len(rows), len(rows) - len(last), unknown[:NAMED], firsts, repeated, stepped_back, unfinished)


def _rises(before: tuple[int, ...], after: tuple[int, ...]) -> bool:
    return before != after and all(map(ge, after, before))


def _scan_columns(model: FoldModel, output: Output, columns: Sequence[FoldColumns]) -> Scan:
    codes = dict(model.codes)
    in_model = [np.array([codes.setdefault(key, len(codes)) for key in each.keys], np.int64) for each in columns]
    key = np.concatenate([here[each.key] for here, each in zip(in_model, columns, strict=True)])
    counts = np.concatenate([each.counts for each in columns])
    right = _right(model, columns, key, counts)

    # Sorting is stable, so the rows of a key stay in the order of visibility; 16 bits are sorted by radix.
    order = np.argsort(key.astype(np.uint16) if len(codes) <= 1 << 16 else key, kind="stable")
    same_key = key[order[1:]] == key[order[:-1]]
    steps = np.diff(counts[order], axis=0)
    rises = (steps >= 0).all(axis=1) & (steps > 0).any(axis=1)
    fallen: list[int] = np.sort(order[1:][same_key & ~rises]).tolist()

    last = np.full(len(codes), -1)
    last[key] = np.arange(len(key))  # of several assignments to one place the last one stays
    last, unknown = np.split(last, [len(model.keys)])
    totals = np.array(model.totals)
    whole = (last >= 0) & right[last] & (counts[last] == totals).all(axis=1)
    short = np.flatnonzero(~whole & ((last >= 0) | np.array(model.must_show)))
    unfinished = {model.keys[code]: int(last[code]) if last[code] >= 0 else None for code in short.tolist()}

    def earlier(position: int) -> list[int]:
        found: list[int] = np.flatnonzero(key[:position] == key[position]).tolist()
        return found

    repeated, stepped_back = _sort_out(fallen, earlier, lambda position: tuple(counts[position].tolist()))
    wrong = np.flatnonzero(~right & (key < len(model.keys)))
    firsts = _first_of_each_key(zip(wrong.tolist(), key[wrong].tolist(), strict=True))
    strangers: list[int] = unknown[unknown >= 0][:NAMED].tolist()
    return Scan(output, len(key), int(same_key.sum()), strangers, firsts, repeated, stepped_back, unfinished)


def _right(model: FoldModel, columns: Sequence[FoldColumns], key: Integers, counts: Integers) -> npt.NDArray[np.bool_]:
    """Of each row, whether it is what the model has at its counts."""
    value = np.concatenate([each.value for each in columns]).astype(np.uint64)
    digest = np.concatenate([each.digest for each in columns])
    right = key < len(model.keys)
    code = np.where(right, key, 0)
    for partition, prefixes in enumerate(model.partitions):
        start = prefixes.starts[code]
        end = start + counts[:, partition]
        inside = (start <= end) & (end <= prefixes.stops[code])
        end = np.where(inside, end, start)
        value -= prefixes.values[end] - prefixes.values[start]
        digest -= prefixes.digests[end] - prefixes.digests[start]
        right &= inside
    for side in model.sides:
        right &= counts[:, side].any(axis=1)
    right &= (value == 0) & (digest == 0)
    return right


def _first_of_each_key(wrong: Iterable[tuple[int, str | int]]) -> list[int]:
    """Every later row of a key is wrong because the first is."""
    firsts: dict[str | int, int] = {}
    for position, key in wrong:
        firsts.setdefault(key, position)
        if len(firsts) == NAMED:
            break
    return list(firsts.values())


def _sort_out(
    fallen: Sequence[int], earlier: Callable[[int], Sequence[int]], counts: Callable[[int], tuple[int, ...]]
) -> tuple[Pairs, Pairs]:
    """Rows that do not rise above the row of their key before: those that repeat an earlier one, and the others."""
    repeated: Pairs = []
    stepped_back: Pairs = []
    for position in fallen[:EXAMINED]:
        before = earlier(position)
        same = next((each for each in before if counts(each) == counts(position)), None)
        if same is None:
            stepped_back.append((before[-1], position))
        else:
            repeated.append((same, position))
    return repeated[:NAMED], stepped_back[:NAMED]
