"""Histories of jobs that keep more by key than a sum: a top list, repeats for a while, sessions.

One split: even offsets have key `a`, odd ones `b`; offset n has the value n + 1, and comes 10 ms behind the one before.
"""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.harness.model.history import History
from holdfast.harness.model.jobs import DEDUPLICATE, SESSION_SUM, TOP_SUM
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.model.records import CommittedRows, WindowRow
from holdfast.suites.selfcheck.oracles.builder import exhibits, input_log, story
from holdfast.suites.selfcheck.oracles.histories.window import row
from holdfast.suites.selfcheck.oracles.legal import fold_row
from holdfast.suites.selfcheck.oracles.output_builder import identities, units

bad_rows, near_rows = exhibits("EXACT")
bad_windows, near_windows = exhibits("WINDOW")


# --- the three largest values of a key -------------------------------------------------------------------------------


def listed(a: int, b: int = 4 + 6 + 8) -> History:
    """Last rows with these values, of four records each."""
    rows = [fold_row(key, [(0, offset) for offset in range(first, 8, 2)], 1) for first, key in enumerate("ab")]
    shown = [replace(each, value=value) for each, value in zip(rows, (a, b), strict=True)]
    return story(job=TOP_SUM, inputs=input_log(8), units=units(*([each] for each in shown)))


@near_rows("row-wrong")
def the_three_largest_of_four() -> History:
    return listed(3 + 5 + 7)


@bad_rows("row-wrong")
def all_four_are_summed() -> History:
    return listed(1 + 3 + 5 + 7)


def tied(value: int) -> History:
    """Two splits, of which each has one record of 1 of key a, and one of 2 of key b."""
    a, b = (fold_row(key, [(0, offset), (1, offset)], 2) for offset, key in enumerate("ab"))
    return story(job=TOP_SUM, inputs=input_log(2, 2), units=units([replace(a, value=value)], [b]))


@near_rows("row-wrong")
def equal_values_stand_side_by_side() -> History:
    return tied(2)


@bad_rows("row-wrong")
def equal_values_stand_once() -> History:
    return tied(1)


# --- repeats of a key within 200 ms ----------------------------------------------------------------------------------


def passed(*offsets: int) -> History:
    """These are handed on, of 22."""
    return story(job=DEDUPLICATE, inputs=input_log(22), units=units(identities(*(f"0:{each}" for each in offsets))))


@near_rows("row-unknown")
def a_repeat_when_the_first_has_expired() -> History:
    return passed(0, 1, 20, 21)


@bad_rows("row-unknown")
def a_repeat_before_the_first_has_expired() -> History:
    return passed(0, 1, 18, 20, 21)


@bad_rows("input-missing")
def a_repeat_is_dropped_for_too_long() -> History:
    return passed(0, 1, 20)


# --- sessions that end 40 ms behind their last record ----------------------------------------------------------------


def ended(*rows: WindowRow) -> History:
    """The input of ten records has ended."""
    shown = tuple(CommittedRows(f"unit-{poll}", poll, (each,)) for poll, each in enumerate(rows))
    return story(job=SESSION_SUM, inputs=input_log(10), units=shown, expected=ExpectedEnd.FINISHED)


B = row("b", 10, 1, 3, 5, 7, 9)


@near_windows("window-wrong")
def one_session_of_each_key() -> History:
    return ended(row("a", 0, 0, 2, 4, 6, 8), B)


@bad_windows("window-wrong")
def a_session_ends_while_records_come() -> History:
    return ended(row("a", 0, 0, 2, 4), B)


@bad_windows("window-missing")
def a_session_never_ends() -> History:
    return ended(row("a", 0, 0, 2, 4, 6, 8))
