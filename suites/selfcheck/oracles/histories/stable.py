"""Histories for STABLE: what the committed reader reported."""

from __future__ import annotations

from holdfast.harness.model.capability import OutputMode
from holdfast.harness.model.events import ReaderPolled, RowsChanged, RowsVisible
from holdfast.harness.model.history import History
from holdfast.suites.selfcheck.oracles.builder import exhibits, story

bad, near = exhibits("STABLE")

SEEN = RowsVisible(name="unit-0", poll=3, records=2, checksum=7)
POLLED = ReaderPolled(polls=40, interval_ms=10)
TABLE = RowsVisible(name="orders", poll=3, records=2, checksum=7)
REPLACED = RowsChanged(name="orders", poll=6, vanished=False, records=2, compared=1)


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


@bad("row-changed")
def unit_replaced_where_rows_are_appended() -> History:
    return story(SEEN, RowsChanged(name="unit-0", poll=9, vanished=False, records=2), POLLED)


@bad("row-vanished")
def row_of_an_upserted_table_gone() -> History:
    gone = RowsChanged(name="orders", poll=9, vanished=False, records=1, gone=("order_id=7",))
    return story(TABLE, gone, POLLED, mode=OutputMode.UPSERT)


@bad("row-vanished")
def upserted_table_dropped() -> History:
    return story(TABLE, RowsChanged(name="orders", poll=9, vanished=True), POLLED, mode=OutputMode.UPSERT)


@bad("row-vanished")
def row_of_an_appended_table_gone() -> History:
    return story(TABLE, RowsChanged(name="orders", poll=9, vanished=False, gone=("order_id=7",)), POLLED)


@near("row-vanished")
def rows_of_an_upserted_table_replaced() -> History:
    return story(TABLE, REPLACED, POLLED, mode=OutputMode.UPSERT)


@bad("row-rolled-back")
def row_goes_back_to_an_older_version() -> History:
    back = RowsChanged(name="orders", poll=12, vanished=False, records=2, compared=1, older=("order_id=7",))
    return story(TABLE, REPLACED, back, POLLED, mode=OutputMode.UPSERT)


@near("row-rolled-back")
def row_replaced_by_a_newer_one() -> History:
    newer = RowsChanged(name="orders", poll=12, vanished=False, records=2, compared=1)
    return story(TABLE, REPLACED, newer, POLLED, mode=OutputMode.UPSERT)


@bad("second-read-differs")
def folder_overwritten_before_the_second_read() -> History:
    late = RowsChanged(name="unit-0", poll=40, vanished=False, final=True, records=3)
    return story(SEEN, late, POLLED, mode=OutputMode.OVERWRITE)


@bad("second-read-differs")
def overwritten_folder_gone_at_the_second_read() -> History:
    gone = RowsChanged(name="unit-0", poll=40, vanished=True, final=True)
    return story(SEEN, gone, POLLED, mode=OutputMode.OVERWRITE)


@bad("second-read-differs")
def row_replaced_before_the_second_read() -> History:
    late = RowsChanged(name="orders", poll=40, vanished=False, final=True, records=2, compared=1)
    return story(TABLE, REPLACED, late, POLLED, mode=OutputMode.UPSERT)


@near("second-read-differs")
def folder_away_while_it_is_overwritten() -> History:
    away = RowsChanged(name="unit-0", poll=9, vanished=True)
    back = RowsChanged(name="unit-0", poll=10, vanished=False, records=3)
    return story(SEEN, away, back, POLLED, mode=OutputMode.OVERWRITE)


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
