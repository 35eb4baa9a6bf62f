"""Histories of two inputs in event time: an interval join, and a sum by rules.

Split 0 is of the first input, split 1 of the second. In both, even offsets have key `a`, odd ones `b`; offset n has the
value n + 1, and comes 10 ms behind the one before.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from holdfast.harness.model.history import History
from holdfast.harness.model.job import RIGHT_WEIGHT, VertexKind
from holdfast.harness.model.jobs import INTERVAL_JOIN, RULED_SUM
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.model.records import CommittedRows, FoldRow, WindowRow
from holdfast.suites.selfcheck.oracles.builder import exhibits, input_log, story
from holdfast.suites.selfcheck.oracles.histories.window import row
from holdfast.suites.selfcheck.oracles.legal import MASK, fold_row
from holdfast.suites.selfcheck.oracles.output_builder import units

bad_rows, near_rows = exhibits("EXACT")
bad_pairs, near_pairs = exhibits("WINDOW")

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
    one, other = fold_row(key, [(0, left)]), fold_row(key, [(1, right)])
    number = left << 31 | 1 << 24 | right
    return WindowRow(key, number, left - right, (one.digest + RIGHT_WEIGHT * other.digest) & MASK)


PAIRS = (pair(0, 0), pair(0, 2), pair(1, 1), pair(2, 2))
"""All that there are of three records on either side; those of offsets 0 and 2 are just 20 ms apart."""


def joined(*rows: WindowRow) -> History:
    shown = tuple(CommittedRows(f"unit-{poll}", poll, (each,)) for poll, each in enumerate(rows))
    return story(job=WITHIN_20_MS, inputs=input_log(3, 3), units=shown)


@near_pairs("window-unknown")
def every_pair_once() -> History:
    return joined(*PAIRS)


@near_pairs("window-missing")
def pairs_in_any_order() -> History:
    return joined(*reversed(PAIRS))


@bad_pairs("window-unknown")
def the_right_record_is_before_the_left_one() -> History:
    return joined(*PAIRS, pair(2, 0))


@bad_pairs("window-unknown")
def a_left_record_without_a_right_one() -> History:
    return joined(*PAIRS, row("a", 0, 0))


@bad_pairs("window-missing")
def two_records_just_in_reach_do_not_meet() -> History:
    return joined(*PAIRS[:1], *PAIRS[2:])


@bad_pairs("window-repeated")
def either_record_brings_the_pair() -> History:
    return joined(*PAIRS, PAIRS[2])


@bad_pairs("window-wrong")
def sides_change_places() -> History:
    first, *others = PAIRS
    return joined(replace(PAIRS[1], value=-PAIRS[1].value), first, *others[1:])


# --- rules: key a has factor 2 from 0 ms and 4 from 20 ms on, key b has 3 from 10 ms on ------------------------------


def ruled(*rows: FoldRow, expected: ExpectedEnd = ExpectedEnd.FINISHED) -> History:
    return story(job=RULED_SUM, inputs=input_log(6, 3), units=units(*([each] for each in rows)), expected=expected)


def summed(key: str, value: int, offsets: Collection[int]) -> FoldRow:
    """A row of these records."""
    return replace(fold_row(key, [(0, offset) for offset in offsets]), value=value)


A, B = summed("a", 1 * 2 + 3 * 4 + 5 * 4, (0, 2, 4)), summed("b", (2 + 4 + 6) * 3, (1, 3, 5))


@near_rows("row-wrong")
def each_record_by_the_rule_of_its_time() -> History:
    return ruled(A, B)


@near_rows("input-missing")
def records_wait_for_rules_that_are_not_there_yet() -> History:
    return ruled(summed("a", 2, (0,)), summed("b", 6, (1,)), expected=ExpectedEnd.RUNNING)


@bad_rows("row-wrong")
def the_newest_rule_for_all_records() -> History:
    return ruled(summed("a", (1 + 3 + 5) * 4, (0, 2, 4)), B)


@bad_rows("row-wrong")
def the_rule_of_the_other_key() -> History:
    return ruled(A, summed("b", 2 * 2 + 4 * 4 + 6 * 4, (1, 3, 5)))


@bad_rows("row-wrong")
def a_rule_takes_effect_behind_its_time() -> History:
    return ruled(summed("a", 1 * 2 + 3 * 2 + 5 * 4, (0, 2, 4)), B)


@bad_rows("row-wrong")
def a_rule_is_counted_as_a_record() -> History:
    return ruled(summed("a", 34 + 1, (0, 2, 4)), B)


@bad_rows("input-missing")
def records_wait_though_the_input_has_ended() -> History:
    return ruled(summed("a", 2, (0,)), B)
