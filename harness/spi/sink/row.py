"""A row of a sink."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """Bytes of any content and length; typed rows are encoded above. With UPSERT a row replaces that of its key."""

    key: bytes
    value: bytes
