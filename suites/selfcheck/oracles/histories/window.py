"""Histories for WINDOW: one partition, two keys, and windows that hold two records each."""

from __future__ import annotations

import numpy as np

from holdfast.harness.model.history import History, RunEnd
from holdfast.harness.model.job import WATERMARK_DELAY_MS, WINDOW_MS
from holdfast.harness.model.jobs import WINDOW_SUM
from holdfast.harness.model.records import InputLog, Partition, WindowRow
from holdfast.suites.selfcheck.oracles.builder import exhibits, story
from holdfast.suites.selfcheck.oracles.legal import fold_row
from holdfast.suites.selfcheck.oracles.output_builder import one_by_one

RECORDS = 4 + 2 * WATERMARK_DELAY_MS // WINDOW_MS + 1
"""Two windows that the watermark passes, and what makes it pass them."""


def _log() -> InputLog:
    """A record every half window; even offsets have key `a`, odd ones `b`, and the value of offset n is n + 1."""
    key, value = (np.arange(RECORDS) % 2, np.arange(1, RECORDS + 1))
    return InputLog(("a", "b"), (Partition(key, value, RECORDS, event_step_ms=WINDOW_MS // 2),))


def row(key: str, window: int, *offsets: int) -> WindowRow:
    """A row that holds these offsets."""
    held = fold_row(key, [(0, offset) for offset in offsets], 1)
    return WindowRow(key, window, held.value, held.digest)


FIRST = (row("a", 0, 0), row("b", 0, 1))
SECOND = (row("a", 1, 2), row("b", 1, 3))


def told(*rows: WindowRow, end: RunEnd | None = None) -> History:
    """A unit for each row."""
    units = one_by_one(*rows)
    return story(job=WINDOW_SUM, inputs=_log(), units=units, end=end)


bad, near = exhibits("WINDOW", inputs=_log(), job=WINDOW_SUM)

bad("window-wrong", "record of the next window", units=one_by_one(row("a", 0, 0, 2), FIRST[1], *SECOND))
bad(
    "window-wrong", "value off by one",
    units=one_by_one(WindowRow(FIRST[0].key, FIRST[0].window, FIRST[0].value + 1, FIRST[0].digest), FIRST[1], *SECOND),
)  # fmt: skip
near(
    "window-wrong",
    "digest as a signed number",
    units=one_by_one(
        *[WindowRow(each.key, each.window, each.value, each.digest - (1 << 64)) for each in FIRST], *SECOND
    ),
)

bad("window-unknown", "window without records", units=one_by_one(*FIRST, *SECOND, row("a", 99)))
near("window-unknown", "window that is not over for all", units=one_by_one(*FIRST, *SECOND, row("a", 2, 4)))

bad("window-repeated", "window told again", units=one_by_one(*FIRST, *SECOND, FIRST[0]))
near("window-repeated", "same window of another key", units=one_by_one(*FIRST, *SECOND))

bad("window-missing", "window never told", units=one_by_one(*FIRST, SECOND[0]))
near("window-missing", "later windows are not over", units=one_by_one(*SECOND, *FIRST))
