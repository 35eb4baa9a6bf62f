"""Committed output by hand: rows named by the records that they hold, repeats and gaps included."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np

from holdfast.harness.model.history import History, RunEnd
from holdfast.harness.model.records import (
    CommittedRows,
    FoldColumns,
    FoldRow,
    IdentityColumns,
    IdentityRow,
    InputLog,
    Output,
    Partition,
    WindowRow,
)
from holdfast.suites.selfcheck.oracles.builder import MS, input_log
from holdfast.suites.selfcheck.oracles.legal import MASK, fold_row

INPUTS = input_log(6, 4)
"""Key `a` has the offsets 0, 2, 4 of partition 0 and 0, 2 of partition 1; key `b` has 1, 3, 5 and 1, 3."""
Row = TypeVar("Row", FoldRow, WindowRow)
STOPPED = RunEnd(reached=False, reason="1 of 2 checkpoints completed", ended_ns=1_000 * MS, settled=True)
"""The settle window is over, and the system under test does not report its end."""


def fold(key: str, *offsets: Iterable[int]) -> FoldRow:
    """The row of a key that holds these offsets of each partition, as often as they are named."""
    held = [(partition, offset) for partition, each in enumerate(offsets) for offset in each]
    return fold_row(key, held, len(offsets))


WHOLE_A = fold("a", (0, 2, 4), (0, 2))
WHOLE_B = fold("b", (1, 3, 5), (1, 3))


def identities(*names: str) -> list[IdentityRow]:
    """Rows by partition and offset: `0:3` is offset 3 of partition 0."""
    return [IdentityRow(*map(int, name.split(":"))) for name in names]


def units(
    *contents: Sequence[FoldRow] | Sequence[IdentityRow] | Sequence[WindowRow], final: bool = False
) -> tuple[CommittedRows, ...]:
    """One unit for each content, each at a poll of its own; with `final` the last is seen by the second read only."""
    last = len(contents) - 1
    return tuple(
        CommittedRows(f"unit-{poll}", poll, rows, final and poll == last) for poll, rows in enumerate(contents)
    )


def one_by_one(*rows: Row) -> tuple[CommittedRows, ...]:
    """A unit for each row."""
    return units(*([row] for row in rows))


def marked(inputs: InputLog) -> InputLog:
    """The log with a marker behind each partition. Its key is `marker`, and its value goes on as those before."""
    code = len(inputs.keys)
    partitions = (
        Partition(np.append(each.key, code), np.append(each.value, len(each) + 1), each.preloaded, markers=1)
        for each in inputs.partitions
    )
    return InputLog((*inputs.keys, "marker"), tuple(partitions), inputs.first_offsets)


MARKED = marked(INPUTS)
MARKERS = fold("marker", (6,), (4,))


def columnar(history: History) -> History:
    """The same history with rows as columns."""
    output = Output(tuple(_columnar(unit) for unit in history.output.units))
    return History(history.plan, history.claims, history.inputs, output, history.events, history.end)


def _columnar(unit: CommittedRows) -> CommittedRows:
    rows = list[FoldRow | IdentityRow | WindowRow](unit.rows)
    folds = [row for row in rows if isinstance(row, FoldRow)]
    if not folds:
        pairs = np.array([(row.partition, row.offset) for row in rows if isinstance(row, IdentityRow)], np.int64)
        partition, offset = pairs.reshape(-1, 2).T
        return CommittedRows(unit.name, unit.poll, IdentityColumns(partition, offset), unit.final)
    keys = tuple(sorted({row.key for row in folds}))
    columns = FoldColumns(
        keys,
        np.array([keys.index(row.key) for row in folds]),
        np.array([row.value & MASK for row in folds], np.uint64).astype(np.int64),
        np.array([row.counts for row in folds]),
        np.array([row.digest for row in folds], np.uint64),
    )
    return CommittedRows(unit.name, unit.poll, columns, unit.final)
