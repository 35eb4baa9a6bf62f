"""Histories for WINDOW, TIME and EXACT: windows, idle and late splits, and more state by key than a sum."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from holdfast.harness.model.capability import AT_LEAST_ONCE, EXACTLY_ONCE, Claims
from holdfast.harness.model.checkpoint import SavepointFormat, StopMode
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import FaultInjected, RecordsDropped, SavepointCompleted, SavepointTriggered
from holdfast.harness.model.job import WATERMARK_DELAY_MS, WINDOW_MS
from holdfast.harness.model.jobs import (
    DEDUPLICATE, IDLE_SPLITS, SESSION_SUM, SLIDING_SUM, TOP_SUM, TUMBLING_SUM, WINDOW_SUM,
)  # fmt: skip
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.model.records import InputLog, Partition, WindowRow
from holdfast.suites.selfcheck.oracles.builder import exhibits, input_log
from holdfast.suites.selfcheck.oracles.legal import fold_row
from holdfast.suites.selfcheck.oracles.lines import attempt
from holdfast.suites.selfcheck.oracles.output_builder import fold, identities, units

# --- WINDOW: one partition, two keys, and windows that hold two records each ------------------------------------------


RECORDS = 4 + 2 * WATERMARK_DELAY_MS // WINDOW_MS + 1
"""Two windows that the watermark passes, and what makes it pass them."""

INPUTS = InputLog(
    ("a", "b"), (Partition(np.arange(RECORDS) % 2, np.arange(1, RECORDS + 1), RECORDS, event_step_ms=WINDOW_MS // 2),),
)  # fmt: skip
"""A record every half window; even offsets have key `a`, odd ones `b`, and the value of offset n is n + 1."""


def row(key: str, window: int, *offsets: int) -> WindowRow:
    """A row that holds these offsets."""
    held = fold_row(key, [(0, offset) for offset in offsets], 1)
    return WindowRow(key, window, held.value, held.digest)


FIRST = (row("a", 0, 0), row("b", 0, 1))
SECOND = (row("a", 1, 2), row("b", 1, 3))

bad, near = exhibits("WINDOW", inputs=INPUTS, job=WINDOW_SUM)

bad("window-wrong", "record of the next window", units=units(row("a", 0, 0, 2), FIRST[1], *SECOND))
bad("window-wrong", "value off by one",
    units=units(WindowRow(FIRST[0].key, FIRST[0].window, FIRST[0].value + 1, FIRST[0].digest), FIRST[1],
                *SECOND))  # fmt: skip
bad("window-wrong", "record of the next window, of state that nobody can read",
    units=units(row("a", 0, 0, 2), FIRST[1], *SECOND), claimed=Claims(output=EXACTLY_ONCE))  # fmt: skip
near("window-wrong", "right windows, of state that nobody can read",
     units=units(*FIRST, *SECOND), claimed=Claims(output=EXACTLY_ONCE))  # fmt: skip
near("window-wrong", "digest as a signed number",
     units=units(*[WindowRow(each.key, each.window, each.value, each.digest - (1 << 64)) for each in FIRST],
                 *SECOND))  # fmt: skip

bad("window-unknown", "window without records", units=units(*FIRST, *SECOND, row("a", 99)))
near("window-unknown", "window that is not over for all", units=units(*FIRST, *SECOND, row("a", 2, 4)))

bad("window-repeated", "window told again", units=units(*FIRST, *SECOND, FIRST[0]))
near("window-repeated", "same window of another key", units=units(*FIRST, *SECOND))

bad("window-missing", "window never told", units=units(*FIRST, SECOND[0]))
near("window-missing", "later windows are not over", units=units(*SECOND, *FIRST))

# --- WINDOW: windows of 60 ms, one every 30 ms, and a record that comes late for one of them --------------------------

IN_TIME = row("a", -1, 0, 2, 6)
"""The lateness that is allowed lets the late record in."""
OTHER = row("b", -1, 1)
LATE = row("a", -2, 6)

bad, near = exhibits("WINDOW", inputs=input_log(10), job=SLIDING_SUM, units=units(IN_TIME, OTHER))

bad("window-wrong", "a record that was in time is missing", units=units(row("a", -1, 0, 2), OTHER))
bad("window-wrong", "a late record is there twice", units=units(row("a", -2, 6, 6), IN_TIME, OTHER))
near("window-wrong", "a late record is counted", units=units(LATE, IN_TIME, OTHER))

near("window-missing", "a late record is dropped")
bad("window-missing", "where the input ends every window is due", expected=ExpectedEnd.FINISHED)

bad("window-repeated", "a late record opens a window again", units=units(IN_TIME, OTHER, IN_TIME))

near("window-missing", "records may take effect twice",
     units=units(row("a", -1, 0, 0, 2, 6), OTHER), claimed=AT_LEAST_ONCE)  # fmt: skip

# --- a stop for good behind six of ten records; windows of 40 ms do not overlap --------------------------------------

PASSED = (row("a", 0, 0, 2), row("b", 0, 1, 3))
OPEN = (row("a", 1, 4), row("b", 1, 5))
SAVED = SavepointCompleted(checkpoint=3, path="savepoint/_metadata", files=(), positions=(6,), recovery_point=True)

DRAINS = SavepointTriggered(checkpoint=3, folder="savepoint/", format=SavepointFormat.CANONICAL, stop=StopMode.DRAIN)

# A job is stopped with a savepoint, and none goes on from it.
near("window-missing", "a stop that drains emits what was read of open windows",
     DRAINS, SAVED, job=TUMBLING_SUM, units=units(*PASSED, *OPEN), expected=ExpectedEnd.FINISHED)  # fmt: skip
SUSPENDS = SavepointTriggered(
    checkpoint=3, folder="savepoint/", format=SavepointFormat.CANONICAL, stop=StopMode.SUSPEND,
)  # fmt: skip

near("window-missing", "a stop leaves open windows alone",
     SUSPENDS, SAVED, job=TUMBLING_SUM, units=units(*PASSED), expected=ExpectedEnd.FINISHED)  # fmt: skip
bad("window-missing", "a stop that drains leaves a window open",
    DRAINS, SAVED, job=TUMBLING_SUM, units=units(*PASSED, OPEN[0]), expected=ExpectedEnd.FINISHED)  # fmt: skip
bad("window-missing", "a stop loses a window that was over",
    SUSPENDS, SAVED, job=TUMBLING_SUM, units=units(PASSED[0]), expected=ExpectedEnd.FINISHED)  # fmt: skip

bad("window-wrong", "a drained window holds a record behind the savepoint",
    DRAINS, SAVED, job=TUMBLING_SUM, units=units(*PASSED, row("a", 1, 4, 6), OPEN[1]),
    expected=ExpectedEnd.FINISHED)  # fmt: skip

# --- WINDOW and TIME: a split that is idle holds back no window, and may be late when it comes again ------------------

# --- nothing waits for the second split, which has no record; the first one has ten -----------------------------------

A, B = row("a", -1, 0, 2), row("b", -1, 1)

bad_row, near_row = exhibits("WINDOW", inputs=input_log(10, 0), job=IDLE_SPLITS)

# The windows up to number 0 are over where the furthest split has come.
bad_row("window-missing", "an idle split holds back a window", units=units(A))
near_row("window-missing", "what no split has passed stays open", units=units(A, B))


# --- the second split drops a record ----------------------------------------------------------------------------------

EARLY, A_LITTLE_LATER, IDLE_AT_FIRST = (
    Partition(np.arange(100) % 2, np.arange(1, 101), preloaded=0, starts_ms=starts_ms, records_per_second=200)
    for starts_ms in (0, 40, 150)
)

bad_drop, near_drop = exhibits("TIME", attempt(), inputs=InputLog(("a", "b"), (EARLY, A_LITTLE_LATER)), job=IDLE_SPLITS)

FIRST_DROPPED = RecordsDropped(subtask="sum[0]", records=((1, 0, -1, 500),))

bad_drop("dropped-early", "a split that is late but not idle drops a record", FIRST_DROPPED)
near_drop("dropped-early", "what comes first behind idleness is late",
          FIRST_DROPPED, inputs=InputLog(("a", "b"), (EARLY, IDLE_AT_FIRST)))  # fmt: skip

# The other one had come to 390 ms when it came again, and this window ends at 420.
bad_drop("dropped-early", "a split that came again does not count",
         RecordsDropped(subtask="sum[0]", records=((1, 38, 12, 500),)),
         inputs=InputLog(("a", "b"), (EARLY, IDLE_AT_FIRST)))  # fmt: skip
near_drop("dropped-early", "nobody says how far the other was behind a restart",
          FaultInjected(fault=0, fault_kind="knead", target="worker[0]", may_cause=(Consequence.ENDS_PROCESS,)),
          RecordsDropped(subtask="sum[0]", records=((1, 38, 12, 500),)),
          inputs=InputLog(("a", "b"), (EARLY, IDLE_AT_FIRST)))  # fmt: skip
bad_drop("dropped-early", "a death makes no split idle",
         FaultInjected(fault=0, fault_kind="knead", target="worker[0]", may_cause=(Consequence.ENDS_PROCESS,)),
         FIRST_DROPPED)  # fmt: skip
near_drop("dropped-early", "a fault held its records up",
          FaultInjected(fault=0, fault_kind="knead", target="worker[0]", may_cause=(Consequence.HOLDS_UP_RECORDS,)),
          FIRST_DROPPED)  # fmt: skip
near_drop("dropped-early", "the machine had other things to do", FIRST_DROPPED, real_time=True)

# --- jobs that keep more by key than a sum: a top list, repeats for a while, sessions ---------------------------------

# --- the three largest values of a key -------------------------------------------------------------------------------

bad_rows, near_rows = exhibits("EXACT", inputs=input_log(22), job=TOP_SUM)

A_OF_FOUR, B_OF_FOUR = (
    fold_row(key, [(0, offset) for offset in range(first, 8, 2)], 1) for first, key in enumerate("ab")
)
"""The last rows of both keys, of four records each."""

near_rows("row-wrong", "the three largest of four",
          inputs=input_log(8), units=units(replace(A_OF_FOUR, value=15), replace(B_OF_FOUR, value=18)))  # fmt: skip
bad_rows("row-wrong", "all four are summed",
         inputs=input_log(8), units=units(replace(A_OF_FOUR, value=16), replace(B_OF_FOUR, value=18)))  # fmt: skip

# Two splits, of which each has one record of 1 of key a, and one of 2 of key b.
near_rows("row-wrong", "equal values stand side by side",
          inputs=input_log(2, 2),
          units=units(replace(fold("a", (0,), (0,)), value=2), fold("b", (1,), (1,))))  # fmt: skip
bad_rows("row-wrong", "equal values stand once",
         inputs=input_log(2, 2),
         units=units(replace(fold("a", (0,), (0,)), value=1), fold("b", (1,), (1,))))  # fmt: skip

# --- repeats of a key within 200 ms ----------------------------------------------------------------------------------

# These are handed on, of 22.
near_rows("row-unknown", "a repeat when the first has expired",
          job=DEDUPLICATE, units=units(identities(*(f"0:{each}" for each in (0, 1, 20, 21)))))  # fmt: skip
bad_rows("row-unknown", "a repeat before the first has expired",
         job=DEDUPLICATE, units=units(identities(*(f"0:{each}" for each in (0, 1, 18, 20, 21)))))  # fmt: skip

bad_rows("input-missing", "a repeat is dropped for too long",
         job=DEDUPLICATE, units=units(identities(*(f"0:{each}" for each in (0, 1, 20)))))  # fmt: skip

# --- sessions that end 40 ms behind their last record ----------------------------------------------------------------

SESSION = row("b", 10, 1, 3, 5, 7, 9)

bad_windows, near_windows = exhibits("WINDOW", expected=ExpectedEnd.FINISHED, inputs=input_log(10), job=SESSION_SUM)

near_windows("window-wrong", "one session of each key", units=units(row("a", 0, 0, 2, 4, 6, 8), SESSION))
bad_windows("window-wrong", "a session ends while records come", units=units(row("a", 0, 0, 2, 4), SESSION))

bad_windows("window-missing", "a session never ends", units=units(row("a", 0, 0, 2, 4, 6, 8)))
