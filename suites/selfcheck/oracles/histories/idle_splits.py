"""Histories for WINDOW and TIME: a split that is idle holds back no window, and may be late when it comes again.

Windows of 60 ms, one every 30 ms, take records until the watermark has passed their end by 20 ms; it stays 20 ms behind
the records, which are 10 ms apart. A split is idle when it has brought no record for 100 ms. The first one begins with
the run and brings 200 records a second; the second one brings as many, and begins later.
"""

from __future__ import annotations

import numpy as np

from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import AttemptStarted, FaultInjected, RecordsDropped
from holdfast.harness.model.history import History
from holdfast.harness.model.jobs import IDLE_SPLITS
from holdfast.harness.model.records import CommittedRows, InputLog, Partition, WindowRow
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits, in_real_time, input_log, story
from holdfast.suites.selfcheck.oracles.histories.window import row

bad_row, near_row = exhibits("WINDOW")
bad_drop, near_drop = exhibits("TIME")


# --- nothing waits for the second split, which has no record; the first one has ten -----------------------------------


def told(*rows: WindowRow) -> History:
    """The windows up to number 0 are over where the furthest split has come."""
    units = tuple(CommittedRows(f"unit-{poll}", poll, (each,)) for poll, each in enumerate(rows))
    return story(job=IDLE_SPLITS, inputs=input_log(10, 0), units=units)


A, B = row("a", -1, 0, 2), row("b", -1, 1)


@bad_row("window-missing")
def an_idle_split_holds_back_a_window() -> History:
    return told(A)


@near_row("window-missing")
def what_no_split_has_passed_stays_open() -> History:
    return told(A, B)


# --- the second split drops a record ----------------------------------------------------------------------------------


def dropped(offset: int, window: int, *lines: Line, starts_ms: int) -> History:
    """It is of the second split."""
    late = RecordsDropped(subtask="sum[0]", records=((1, offset, window, 500),))
    partitions = (_split(100, 0), _split(100, starts_ms))
    return story(AttemptStarted(attempt=0), *lines, late, job=IDLE_SPLITS, inputs=InputLog(("a", "b"), partitions))


def _split(records: int, starts_ms: int) -> Partition:
    values = np.arange(records)
    return Partition(values % 2, values + 1, preloaded=0, starts_ms=starts_ms, records_per_second=200)


def acted(*may_cause: Consequence) -> FaultInjected:
    return FaultInjected(fault=0, fault_kind="knead", target="worker[0]", may_cause=may_cause)


@bad_drop("dropped-early")
def a_split_that_is_late_but_not_idle_drops_a_record() -> History:
    return dropped(0, -1, starts_ms=40)


@near_drop("dropped-early")
def what_comes_first_behind_idleness_is_late() -> History:
    return dropped(0, -1, starts_ms=150)


@bad_drop("dropped-early")
def a_split_that_came_again_does_not_count() -> History:
    """The other one had come to 390 ms when it came again, and this window ends at 420."""
    return dropped(38, 12, starts_ms=150)


@near_drop("dropped-early")
def nobody_says_how_far_the_other_was_behind_a_restart() -> History:
    return dropped(38, 12, acted(Consequence.ENDS_PROCESS), starts_ms=150)


@bad_drop("dropped-early")
def a_death_makes_no_split_idle() -> History:
    return dropped(0, -1, acted(Consequence.ENDS_PROCESS), starts_ms=40)


@near_drop("dropped-early")
def a_fault_held_its_records_up() -> History:
    return dropped(0, -1, acted(Consequence.HOLDS_UP_RECORDS), starts_ms=40)


@near_drop("dropped-early")
def the_machine_had_other_things_to_do() -> History:
    return in_real_time(dropped(0, -1, starts_ms=40))
