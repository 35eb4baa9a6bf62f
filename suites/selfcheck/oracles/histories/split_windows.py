"""Histories for WINDOW: windows of 60 ms, one every 30 ms, and a record that comes late for one of them.

One split of ten records, 10 ms apart, of two keys in turn. The record at offset 6 is of -30 ms. The watermark has come
to 30 ms before it, and to 70 ms behind them all, so that the windows up to number -1 are over.
"""

from __future__ import annotations

from holdfast.harness.model.capability import AT_LEAST_ONCE
from holdfast.harness.model.checkpoint import StopMode
from holdfast.harness.model.jobs import SLIDING_SUM, TUMBLING_SUM
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.suites.selfcheck.oracles.builder import exhibits, input_log
from holdfast.suites.selfcheck.oracles.histories.window import row
from holdfast.suites.selfcheck.oracles.lines import savepoint_completed, savepoint_triggered
from holdfast.suites.selfcheck.oracles.output_builder import one_by_one

IN_TIME = row("a", -1, 0, 2, 6)
"""The lateness that is allowed lets the late record in."""
OTHER = row("b", -1, 1)
LATE = row("a", -2, 6)


bad, near = exhibits("WINDOW", inputs=input_log(10), job=SLIDING_SUM, units=one_by_one(IN_TIME, OTHER))

bad("window-wrong", "a record that was in time is missing", units=one_by_one(row("a", -1, 0, 2), OTHER))
bad("window-wrong", "a late record is there twice", units=one_by_one(row("a", -2, 6, 6), IN_TIME, OTHER))
near("window-wrong", "a late record is counted", units=one_by_one(LATE, IN_TIME, OTHER))

near("window-missing", "a late record is dropped")
bad("window-missing", "where the input ends every window is due", expected=ExpectedEnd.FINISHED)

bad("window-repeated", "a late record opens a window again", units=one_by_one(IN_TIME, OTHER, IN_TIME))

near(
    "window-missing", "records may take effect twice",
    units=one_by_one(row("a", -1, 0, 0, 2, 6), OTHER), claimed=AT_LEAST_ONCE,
)  # fmt: skip


# --- a stop for good behind six of ten records; windows of 40 ms do not overlap --------------------------------------


PASSED = (row("a", 0, 0, 2), row("b", 0, 1, 3))
OPEN = (row("a", 1, 4), row("b", 1, 5))

near(
    "window-missing", "a stop that drains emits what was read of open windows",
    savepoint_triggered(3, "savepoint/", StopMode.DRAIN),
    savepoint_completed(3, "savepoint/_metadata", positions=(6,), recovery_point=True), job=TUMBLING_SUM,
    units=one_by_one(*PASSED, *OPEN), expected=ExpectedEnd.FINISHED,
)  # fmt: skip
near(
    "window-missing", "a stop leaves open windows alone",
    savepoint_triggered(3, "savepoint/", StopMode.SUSPEND),
    savepoint_completed(3, "savepoint/_metadata", positions=(6,), recovery_point=True), job=TUMBLING_SUM,
    units=one_by_one(*PASSED), expected=ExpectedEnd.FINISHED,
)  # fmt: skip
bad(
    "window-missing", "a stop that drains leaves a window open",
    savepoint_triggered(3, "savepoint/", StopMode.DRAIN),
    savepoint_completed(3, "savepoint/_metadata", positions=(6,), recovery_point=True), job=TUMBLING_SUM,
    units=one_by_one(*PASSED, OPEN[0]), expected=ExpectedEnd.FINISHED,
)  # fmt: skip
bad(
    "window-missing", "a stop loses a window that was over",
    savepoint_triggered(3, "savepoint/", StopMode.SUSPEND),
    savepoint_completed(3, "savepoint/_metadata", positions=(6,), recovery_point=True), job=TUMBLING_SUM,
    units=one_by_one(PASSED[0]), expected=ExpectedEnd.FINISHED,
)  # fmt: skip

bad(
    "window-wrong", "a drained window holds a record behind the savepoint",
    savepoint_triggered(3, "savepoint/", StopMode.DRAIN),
    savepoint_completed(3, "savepoint/_metadata", positions=(6,), recovery_point=True), job=TUMBLING_SUM,
    units=one_by_one(*PASSED, row("a", 1, 4, 6), OPEN[1]), expected=ExpectedEnd.FINISHED,
)  # fmt: skip
