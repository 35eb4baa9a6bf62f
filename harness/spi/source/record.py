"""A record of a source."""

from __future__ import annotations

from typing import NamedTuple


class SourceRecord(NamedTuple):
    """One record as it was read.

    Attributes:
        value: bytes of any content and any length, all of them; it is decoded above.
        timestamp_ms: event time, milliseconds since the epoch.
        position: where it lies, in words, such as `part-3 at 120`; the same whenever it is read, and no other's.
    """

    value: bytes
    timestamp_ms: int
    position: str
