"""What a reader returns."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from holdfast.harness.spi.source.record import SourceRecord


class ReaderStatus(StrEnum):
    """What may come next."""

    MORE = "more"
    """There may be more at once."""
    NOTHING_NOW = "nothing-now"
    """Nothing is there now; it may come, or another split may."""
    END = "end"
    """All splits are read to their ends, and `no_more_splits` was called. Nothing ever follows."""


class Batch(msgspec.Struct, frozen=True):
    """Records in order; those of one split as they lie there.

    Attributes:
        records: at most as many as were asked for.
        status: of the reader, behind them.
    """

    records: Sequence[SourceRecord]
    status: ReaderStatus
