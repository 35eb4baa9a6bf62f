"""Histories for STABLE: what the committed reader reported."""

from __future__ import annotations

from holdfast.harness.model.events import ReaderPolled, RowsChanged, RowsVisible
from holdfast.harness.model.history import History
from holdfast.suites.selfcheck.oracles.builder import exhibits, story

bad, near = exhibits("STABLE")

SEEN = RowsVisible(name="unit-0", poll=3, records=2, checksum=7)
POLLED = ReaderPolled(polls=40, interval_ms=10)


@bad("row-changed")
def unit_rewritten() -> History:
    return story(SEEN, RowsChanged(name="unit-0", poll=9, vanished=False), POLLED)


@near("row-changed")
def another_unit_added() -> History:
    return story(SEEN, RowsVisible(name="unit-1", poll=9, records=1, checksum=8), POLLED)


@bad("row-vanished")
def unit_removed() -> History:
    return story(SEEN, RowsChanged(name="unit-0", poll=9, vanished=True), POLLED)


@near("row-vanished")
def unit_stays() -> History:
    return story(SEEN, POLLED)


@bad("second-read-differs")
def unit_gone_at_the_second_read() -> History:
    return story(SEEN, RowsChanged(name="unit-0", poll=40, vanished=True, final=True), POLLED)


@bad("second-read-differs")
def unit_new_at_the_second_read() -> History:
    return story(SEEN, RowsVisible(name="unit-1", poll=40, records=1, checksum=8, final=True), POLLED)


@near("second-read-differs")
def empty_unit_at_the_second_read() -> History:
    return story(SEEN, RowsVisible(name="unit-1", poll=40, records=0, checksum=0, final=True), POLLED)


@near("reader-too-slow")
def ten_polls_per_interval() -> History:
    return story(SEEN, POLLED, options={"execution.checkpointing.interval": "100 ms"})
