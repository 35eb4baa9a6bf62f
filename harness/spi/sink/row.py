"""A row of a sink."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """Bytes of any content; typed rows are encoded above. With UPSERT a row replaces the one of the same key."""

    key: bytes
    value: bytes
