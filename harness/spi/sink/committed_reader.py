"""Who reads what consumers of a sink see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from holdfast.harness.spi.sink.row import Row


class CommittedReader(Protocol):
    """Reads from outside, as a consumer that sees committed rows alone does.

    Two formats are read by others without it (`SinkDescription.committed_reader`), at a URI `file://FOLDER`:

    - `files`: every file below the folder whose path has no segment that begins with `.` or `_`; a line is key, tab,
      value, each percent-encoded. Files in the order of their names.
    - `sqlite`: FOLDER/rows.db, table `rows (key BLOB, value BLOB)`, by `rowid`.
    """

    def rows(self) -> Sequence[Row]:
        """All visible rows of all jobs there; with ORDERED those of a key in order."""

    def unfinished(self, job: str) -> int | None:
        """How many transactions of a job are neither committed nor aborted; None: that cannot be known."""

    def close(self) -> None:
        """Free connections. Idempotent."""
