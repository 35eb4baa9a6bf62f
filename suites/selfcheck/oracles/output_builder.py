"""Committed output by hand: rows named by the records that they hold, repeats and gaps included."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from holdfast.harness.model.history import History, RunEnd
from holdfast.harness.model.records import (
    CommittedRows,
    FoldColumns,
    FoldRow,
    IdentityColumns,
    IdentityRow,
    Output,
    WindowRow,
)
from holdfast.suites.selfcheck.oracles.builder import MS, input_log
from holdfast.suites.selfcheck.oracles.legal import MASK, fold_row

INPUTS = input_log(6, 4)
"""Key `a` has the offsets 0, 2, 4 of partition 0 and 0, 2 of partition 1; key `b` has 1, 3, 5 and 1, 3."""
Row = FoldRow | IdentityRow | WindowRow
Rows = Sequence[FoldRow] | Sequence[IdentityRow] | Sequence[WindowRow]
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


def units(*contents: Row | Rows, final: bool = False) -> tuple[CommittedRows, ...]:
    """A unit for each content, a row or several, at a poll of its own; `final`: only the second read sees the last."""
    rows: list[Any] = [content if isinstance(content, Sequence) else [content] for content in contents]
    last = len(rows) - 1
    return tuple(CommittedRows(f"unit-{poll}", poll, each, final and poll == last) for poll, each in enumerate(rows))


MARKED = input_log(6, 4, marked=True)
MARKERS = fold("marker", (6,), (4,))


def columnar(history: History) -> History:
    """The same history with rows as columns."""
    converted = []
    for unit in history.output.units:
        rows = list[Row](unit.rows)
        folds = [row for row in rows if isinstance(row, FoldRow)]
        keys = tuple(sorted({row.key for row in folds}))
        fold_columns = FoldColumns(
            keys,
            np.array([keys.index(row.key) for row in folds]),
            np.array([row.value & MASK for row in folds], np.uint64).astype(np.int64),
            np.array([row.counts for row in folds]),
            np.array([row.digest for row in folds], np.uint64),
        )
        pairs = np.array([(row.partition, row.offset) for row in rows if isinstance(row, IdentityRow)], np.int64)
        partition, offset = pairs.reshape(-1, 2).T
        columns: FoldColumns | IdentityColumns = fold_columns if folds else IdentityColumns(partition, offset)
        converted.append(CommittedRows(unit.name, unit.poll, columns, unit.final))
    return History(history.plan, history.claims, history.inputs, Output(tuple(converted)), history.events, history.end)
