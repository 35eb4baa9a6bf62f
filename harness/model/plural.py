"""Numbers in sentences."""

from __future__ import annotations


def plural(number: int, one: str, several: str = "") -> str:
    """`1 record`, `7 records`; with both forms also `1 record is lost`, `7 records are lost`."""
    return f"{number} {one if number == 1 else several or one + 's'}"
