"""Histories for WINDOW: windows of 60 ms, one every 30 ms, and a record that comes late for one of them.

One split of ten records, 10 ms apart, of two keys in turn. The record at offset 6 is of -30 ms. The watermark has come
to 30 ms before it, and to 70 ms behind them all, so that the windows up to number -1 are over.
"""

from __future__ import annotations

from holdfast.harness.model.capability import AT_LEAST_ONCE, EXACTLY_ONCE, Guarantee
from holdfast.harness.model.history import History
from holdfast.harness.model.jobs import SLIDING_SUM
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.model.records import CommittedRows, WindowRow
from holdfast.suites.selfcheck.oracles.builder import exhibits, input_log, story
from holdfast.suites.selfcheck.oracles.histories.window import row

bad, near = exhibits("WINDOW")

IN_TIME = row("a", -1, 0, 2, 6)
"""The lateness that is allowed lets the late record in."""
OTHER = row("b", -1, 1)
LATE = row("a", -2, 6)


def told(
    *rows: WindowRow,
    expected: ExpectedEnd = ExpectedEnd.RUNNING,
    claimed: frozenset[Guarantee] = EXACTLY_ONCE,
) -> History:
    """A unit for each row."""
    units = tuple(CommittedRows(f"unit-{poll}", poll, (each,)) for poll, each in enumerate(rows))
    return story(job=SLIDING_SUM, inputs=input_log(10), units=units, expected=expected, claimed=claimed)


@bad("window-wrong")
def a_record_that_was_in_time_is_missing() -> History:
    return told(row("a", -1, 0, 2), OTHER)


@bad("window-wrong")
def a_late_record_is_there_twice() -> History:
    return told(row("a", -2, 6, 6), IN_TIME, OTHER)


@near("window-wrong")
def a_late_record_is_counted() -> History:
    return told(LATE, IN_TIME, OTHER)


@near("window-missing")
def a_late_record_is_dropped() -> History:
    return told(IN_TIME, OTHER)


@bad("window-missing")
def where_the_input_ends_every_window_is_due() -> History:
    return told(IN_TIME, OTHER, expected=ExpectedEnd.FINISHED)


@bad("window-repeated")
def a_late_record_opens_a_window_again() -> History:
    return told(IN_TIME, OTHER, IN_TIME)


@near("window-missing")
def records_may_take_effect_twice() -> History:
    return told(row("a", -1, 0, 0, 2, 6), OTHER, claimed=AT_LEAST_ONCE)
