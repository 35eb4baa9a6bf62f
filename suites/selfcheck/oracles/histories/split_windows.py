"""Histories for WINDOW: windows of 60 ms, one every 30 ms, and a record that comes late for one of them.

One split of ten records, 10 ms apart, of two keys in turn. The record at offset 6 is of -30 ms. The watermark has come
to 30 ms before it, and to 70 ms behind them all, so that the windows up to number -1 are over.
"""

from __future__ import annotations

from holdfast.harness.model.capability import AT_LEAST_ONCE, EXACTLY_ONCE, Guarantee
from holdfast.harness.model.checkpoint import SavepointFormat, StopMode
from holdfast.harness.model.events import SavepointCompleted, SavepointTriggered
from holdfast.harness.model.history import History
from holdfast.harness.model.jobs import SLIDING_SUM, TUMBLING_SUM
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


# --- a stop for good behind six of ten records; windows of 40 ms do not overlap --------------------------------------


def stopped(mode: StopMode, *rows: WindowRow) -> History:
    """A job is stopped with a savepoint, and none goes on from it."""
    lines = (
        SavepointTriggered(checkpoint=3, folder="savepoint/", format=SavepointFormat.CANONICAL, stop=mode),
        SavepointCompleted(checkpoint=3, path="savepoint/_metadata", files=(), positions=(6,), recovery_point=True),
    )
    units = tuple(CommittedRows(f"unit-{poll}", poll, (each,)) for poll, each in enumerate(rows))
    return story(*lines, job=TUMBLING_SUM, inputs=input_log(10), units=units, expected=ExpectedEnd.FINISHED)


PASSED = (row("a", 0, 0, 2), row("b", 0, 1, 3))
OPEN = (row("a", 1, 4), row("b", 1, 5))


@near("window-missing")
def a_stop_that_drains_emits_what_was_read_of_open_windows() -> History:
    return stopped(StopMode.DRAIN, *PASSED, *OPEN)


@near("window-missing")
def a_stop_leaves_open_windows_alone() -> History:
    return stopped(StopMode.SUSPEND, *PASSED)


@bad("window-missing")
def a_stop_that_drains_leaves_a_window_open() -> History:
    return stopped(StopMode.DRAIN, *PASSED, OPEN[0])


@bad("window-missing")
def a_stop_loses_a_window_that_was_over() -> History:
    return stopped(StopMode.SUSPEND, PASSED[0])


@bad("window-wrong")
def a_drained_window_holds_a_record_behind_the_savepoint() -> History:
    return stopped(StopMode.DRAIN, *PASSED, row("a", 1, 4, 6), OPEN[1])
