"""Histories for WINDOW: one partition, two keys, and windows that hold two records each."""

from __future__ import annotations

import numpy as np

from holdfast.harness.model.history import History, RunEnd
from holdfast.harness.model.job import WATERMARK_DELAY_MS, WINDOW_MS
from holdfast.harness.model.jobs import WINDOW_SUM
from holdfast.harness.model.records import CommittedRows, InputLog, Partition, WindowRow
from holdfast.suites.selfcheck.oracles.builder import exhibits, story
from holdfast.suites.selfcheck.oracles.legal import fold_row

bad, near = exhibits("WINDOW")

RECORDS = 4 + 2 * WATERMARK_DELAY_MS // WINDOW_MS + 1
"""Two windows that the watermark passes, and what makes it pass them."""


def _log() -> InputLog:
    """A record every half window; even offsets have key `a`, odd ones `b`, and the value of offset n is n + 1."""
    key, value = np.arange(RECORDS) % 2, np.arange(1, RECORDS + 1)
    return InputLog(("a", "b"), (Partition(key, value, RECORDS, event_step_ms=WINDOW_MS // 2),))


def row(key: str, window: int, *offsets: int) -> WindowRow:
    """A row that holds these offsets."""
    held = fold_row(key, [(0, offset) for offset in offsets], 1)
    return WindowRow(key, window, held.value, held.digest)


FIRST = (row("a", 0, 0), row("b", 0, 1))
SECOND = (row("a", 1, 2), row("b", 1, 3))


def told(*rows: WindowRow, end: RunEnd | None = None) -> History:
    """A unit for each row."""
    units = tuple(CommittedRows(f"unit-{poll}", poll, (each,)) for poll, each in enumerate(rows))
    return story(job=WINDOW_SUM, inputs=_log(), units=units, end=end)


@bad("window-wrong")
def record_of_the_next_window() -> History:
    return told(row("a", 0, 0, 2), FIRST[1], *SECOND)


@bad("window-wrong")
def value_off_by_one() -> History:
    wrong = FIRST[0]
    return told(WindowRow(wrong.key, wrong.window, wrong.value + 1, wrong.digest), FIRST[1], *SECOND)


@near("window-wrong")
def digest_as_a_signed_number() -> History:
    signed = [WindowRow(each.key, each.window, each.value, each.digest - (1 << 64)) for each in FIRST]
    return told(*signed, *SECOND)


@bad("window-unknown")
def window_without_records() -> History:
    return told(*FIRST, *SECOND, row("a", 99))


@near("window-unknown")
def window_that_is_not_over_for_all() -> History:
    return told(*FIRST, *SECOND, row("a", 2, 4))


@bad("window-repeated")
def window_told_again() -> History:
    return told(*FIRST, *SECOND, FIRST[0])


@near("window-repeated")
def same_window_of_another_key() -> History:
    return told(*FIRST, *SECOND)


@bad("window-missing")
def window_never_told() -> History:
    return told(*FIRST, SECOND[0])


@near("window-missing")
def later_windows_are_not_over() -> History:
    return told(*SECOND, *FIRST)
