"""Histories of two inputs in event time: an interval join, and a sum by rules.

Split 0 is of the first input, split 1 of the second. In both, even offsets have key `a`, odd ones `b`; offset n has the
value n + 1, and comes 10 ms behind the one before.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from holdfast.harness.model.job import RIGHT_WEIGHT, VertexKind
from holdfast.harness.model.jobs import INTERVAL_JOIN, RULED_SUM
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.model.records import FoldRow, WindowRow
from holdfast.suites.selfcheck.oracles.builder import exhibits, input_log
from holdfast.suites.selfcheck.oracles.histories.window import row
from holdfast.suites.selfcheck.oracles.legal import MASK, fold_row
from holdfast.suites.selfcheck.oracles.output_builder import one_by_one

# --- a right record that is 0 to 20 ms behind a left one of its key --------------------------------------------------

WITHIN_20_MS = replace(
    INTERVAL_JOIN,
    vertices=tuple(
        replace(each, lower_ms=0, upper_ms=20) if each.kind is VertexKind.INTERVAL_JOIN else each
        for each in INTERVAL_JOIN.vertices
    ),
)


def pair(left: int, right: int) -> WindowRow:
    """The row of two offsets."""
    key = "ab"[left % 2]
    one, other = (fold_row(key, [(0, left)]), fold_row(key, [(1, right)]))
    number = left << 31 | 1 << 24 | right
    return WindowRow(key, number, left - right, one.digest + RIGHT_WEIGHT * other.digest & MASK)


PAIRS = (pair(0, 0), pair(0, 2), pair(1, 1), pair(2, 2))
"""All that there are of three records on either side; those of offsets 0 and 2 are just 20 ms apart."""


bad_pairs, near_pairs = exhibits("WINDOW", inputs=input_log(3, 3), job=WITHIN_20_MS)

near_pairs("window-unknown", "every pair once", units=one_by_one(*PAIRS))

near_pairs("window-missing", "pairs in any order", units=one_by_one(*reversed(PAIRS)))

bad_pairs("window-unknown", "the right record is before the left one", units=one_by_one(*PAIRS, pair(2, 0)))
bad_pairs("window-unknown", "a left record without a right one", units=one_by_one(*PAIRS, row("a", 0, 0)))

bad_pairs("window-missing", "two records just in reach do not meet", units=one_by_one(*PAIRS[:1], *PAIRS[2:]))

bad_pairs("window-repeated", "either record brings the pair", units=one_by_one(*PAIRS, PAIRS[2]))

bad_pairs(
    "window-wrong", "sides change places",
    units=one_by_one(replace(PAIRS[1], value=-PAIRS[1].value), PAIRS[0], *PAIRS[2:]),
)  # fmt: skip


# --- rules: key a has factor 2 from 0 ms and 4 from 20 ms on, key b has 3 from 10 ms on ------------------------------


def summed(key: str, value: int, offsets: Collection[int]) -> FoldRow:
    """A row of these records."""
    return replace(fold_row(key, [(0, offset) for offset in offsets]), value=value)


A, B = summed("a", 1 * 2 + 3 * 4 + 5 * 4, (0, 2, 4)), summed("b", (2 + 4 + 6) * 3, (1, 3, 5))

bad_rows, near_rows = exhibits("EXACT", inputs=input_log(6, 3), job=RULED_SUM)

near_rows("row-wrong", "each record by the rule of its time", units=one_by_one(A, B), expected=ExpectedEnd.FINISHED)

near_rows(
    "input-missing", "records wait for rules that are not there yet",
    units=one_by_one(summed("a", 2, (0,)), summed("b", 6, (1,))),
)  # fmt: skip

bad_rows(
    "row-wrong", "the newest rule for all records",
    units=one_by_one(summed("a", 36, (0, 2, 4)), B), expected=ExpectedEnd.FINISHED,
)  # fmt: skip
bad_rows(
    "row-wrong", "the rule of the other key",
    units=one_by_one(A, summed("b", 44, (1, 3, 5))), expected=ExpectedEnd.FINISHED,
)  # fmt: skip
bad_rows(
    "row-wrong", "a rule takes effect behind its time",
    units=one_by_one(summed("a", 28, (0, 2, 4)), B), expected=ExpectedEnd.FINISHED,
)  # fmt: skip
bad_rows(
    "row-wrong", "a rule is counted as a record",
    units=one_by_one(summed("a", 35, (0, 2, 4)), B), expected=ExpectedEnd.FINISHED,
)  # fmt: skip

bad_rows(
    "input-missing", "records wait though the input has ended",
    units=one_by_one(summed("a", 2, (0,)), B), expected=ExpectedEnd.FINISHED,
)  # fmt: skip
