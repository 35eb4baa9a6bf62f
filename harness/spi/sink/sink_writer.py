"""One subtask's writer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from holdfast.harness.spi.sink.committable import Committable
from holdfast.harness.spi.sink.row import Row


class SinkWriter(Protocol):
    """Of one subtask in one attempt. One thread, the task thread, calls every method.

    Behind an error the task fails, unless a method states otherwise.
    """

    def write(self, rows: Sequence[Row], *, now_ms: int) -> None:
        """Take rows. With TWO_PHASE none of them is visible (E2E-03).

        Raises:
            Transient: nothing can be said of them; the attempt ends.
            Fenced: a newer attempt has begun (TPC-06).
        """

    def prepare(self, checkpoint: int, *, now_ms: int) -> Sequence[Committable]:
        """First phase: all rows since the last call are durable, before the checkpoint is acknowledged (TPC-01).

        Returns what commits them, in the order in which that is to be done. Without rows it may return nothing. Without
        TWO_PHASE it returns nothing, and the rows are visible now. Whether the checkpoint completes or not, the writer
        goes on; what it returned goes into each later checkpoint, too, until it is committed (TPC-03).

        Args:
            checkpoint: its id. Ids grow within an attempt. The next one counts on from the checkpoint that it goes on
                from, so that an id of one that never completed may come again.
            now_ms: time.

        Raises:
            Transient: the rows are durable or not; the attempt ends.
            Fenced: a newer attempt has begun.
        """

    def close(self) -> None:
        """Free connections. Idempotent. Rows that were not prepared may be lost; prepared ones stay (FIN-03)."""
