"""Histories for STABLE: what the committed reader reported."""

from __future__ import annotations

from holdfast.harness.model.capability import OutputMode
from holdfast.harness.model.events import ReaderPolled, RowsChanged, RowsVisible
from holdfast.suites.selfcheck.oracles.builder import exhibits

SEEN = RowsVisible(name="unit-0", poll=3, records=2, checksum=7)
POLLED = ReaderPolled(polls=40, interval_ms=10)
TABLE = RowsVisible(name="orders", poll=3, records=2, checksum=7)
REPLACED = RowsChanged(name="orders", poll=6, vanished=False, records=2, compared=1)

bad, near = exhibits("STABLE")

bad("row-changed", "unit rewritten", SEEN, RowsChanged(name="unit-0", poll=9, vanished=False), POLLED)
near("row-changed", "another unit added", SEEN, RowsVisible(name="unit-1", poll=9, records=1, checksum=8), POLLED)

bad("row-vanished", "unit removed", SEEN, RowsChanged(name="unit-0", poll=9, vanished=True), POLLED)
near("row-vanished", "unit stays", SEEN, POLLED)

bad(
    "row-changed", "unit replaced where rows are appended",
    SEEN, RowsChanged(name="unit-0", poll=9, vanished=False, records=2), POLLED,
)  # fmt: skip

bad(
    "row-vanished", "row of an upserted table gone",
    TABLE, RowsChanged(name="orders", poll=9, vanished=False, records=1, gone=("order_id=7",)), POLLED,
    mode=OutputMode.UPSERT,
)  # fmt: skip
bad(
    "row-vanished", "upserted table dropped",
    TABLE, RowsChanged(name="orders", poll=9, vanished=True), POLLED, mode=OutputMode.UPSERT,
)  # fmt: skip
bad(
    "row-vanished", "row of an appended table gone",
    TABLE, RowsChanged(name="orders", poll=9, vanished=False, gone=("order_id=7",)), POLLED,
)  # fmt: skip
near("row-vanished", "rows of an upserted table replaced", TABLE, REPLACED, POLLED, mode=OutputMode.UPSERT)

bad(
    "row-rolled-back", "row goes back to an older version",
    TABLE, REPLACED, RowsChanged(name="orders", poll=12, vanished=False, records=2, compared=1, older=("order_id=7",)),
    POLLED, mode=OutputMode.UPSERT,
)  # fmt: skip
near(
    "row-rolled-back", "row replaced by a newer one",
    TABLE, REPLACED, RowsChanged(name="orders", poll=12, vanished=False, records=2, compared=1), POLLED,
    mode=OutputMode.UPSERT,
)  # fmt: skip

bad(
    "second-read-differs", "folder overwritten before the second read",
    SEEN, RowsChanged(name="unit-0", poll=40, vanished=False, final=True, records=3), POLLED, mode=OutputMode.OVERWRITE,
)  # fmt: skip
bad(
    "second-read-differs", "overwritten folder gone at the second read",
    SEEN, RowsChanged(name="unit-0", poll=40, vanished=True, final=True), POLLED, mode=OutputMode.OVERWRITE,
)  # fmt: skip
bad(
    "second-read-differs", "row replaced before the second read",
    TABLE, REPLACED, RowsChanged(name="orders", poll=40, vanished=False, final=True, records=2, compared=1), POLLED,
    mode=OutputMode.UPSERT,
)  # fmt: skip
near(
    "second-read-differs", "folder away while it is overwritten",
    SEEN, RowsChanged(name="unit-0", poll=9, vanished=True),
    RowsChanged(name="unit-0", poll=10, vanished=False, records=3), POLLED, mode=OutputMode.OVERWRITE,
)  # fmt: skip
bad(
    "second-read-differs", "unit gone at the second read",
    SEEN, RowsChanged(name="unit-0", poll=40, vanished=True, final=True), POLLED,
)  # fmt: skip
bad(
    "second-read-differs", "unit new at the second read",
    SEEN, RowsVisible(name="unit-1", poll=40, records=1, checksum=8, final=True), POLLED,
)  # fmt: skip
near(
    "second-read-differs", "empty unit at the second read",
    SEEN, RowsVisible(name="unit-1", poll=40, records=0, checksum=0, final=True), POLLED,
)  # fmt: skip

near("reader-too-slow", "ten polls per interval", SEEN, POLLED, options={"execution.checkpointing.interval": "100 ms"})
