"""Durations and sizes as Flink writes them, `10 s`, `5 min`, `20kb`; and durations rounded for readers."""

from __future__ import annotations

import math
import re
from functools import cache

_DURATION_MS = {
    "ns": 1e-6, "nano": 1e-6, "nanos": 1e-6, "nanosecond": 1e-6, "nanoseconds": 1e-6,
    "µs": 1e-3, "micro": 1e-3, "micros": 1e-3, "microsecond": 1e-3, "microseconds": 1e-3,
    "ms": 1, "milli": 1, "millis": 1, "millisecond": 1, "milliseconds": 1, "": 1,
    "s": 1_000, "sec": 1_000, "secs": 1_000, "second": 1_000, "seconds": 1_000,
    "m": 60_000, "min": 60_000, "minute": 60_000, "minutes": 60_000,
    "h": 3_600_000, "hour": 3_600_000, "hours": 3_600_000,
    "d": 86_400_000, "day": 86_400_000, "days": 86_400_000,
}  # fmt: skip
_SIZE_BYTES = {
    "": 1, "b": 1, "bytes": 1,
    "k": 1 << 10, "kb": 1 << 10, "kibibytes": 1 << 10,
    "m": 1 << 20, "mb": 1 << 20, "mebibytes": 1 << 20,
    "g": 1 << 30, "gb": 1 << 30, "gibibytes": 1 << 30,
    "t": 1 << 40, "tb": 1 << 40, "tebibytes": 1 << 40,
}  # fmt: skip
_QUANTITY = re.compile(r"\s*(\d+)\s*([a-zµ]*)\s*", re.IGNORECASE)


def _parse(text: str, units: dict[str, float] | dict[str, int], noun: str, example: str) -> int:
    match = _QUANTITY.fullmatch(text)
    if match is None or match[2].lower() not in units:
        raise ValueError(f"{text!r} is not a {noun}: write a whole number and a unit, such as {example}.")
    return int(int(match[1]) * units[match[2].lower()])


@cache
def duration_ms(text: str) -> int:
    """Milliseconds of a duration; a bare number is milliseconds.

    Raises:
        ValueError: `text` is not a non-negative whole number with a known unit.
    """
    return _parse(text, _DURATION_MS, "duration", "'10 s' or '5 min'")


@cache
def size_bytes(text: str) -> int:
    """Bytes of a memory size; a bare number is bytes.

    Raises:
        ValueError: `text` is not a non-negative whole number with a known unit.
    """
    return _parse(text, _SIZE_BYTES, "memory size", "'20kb' or '1 mb'")


def duration(milliseconds: float) -> str:
    """A duration rounded for readers, such as `1.5 s`: never more precise than it is useful."""
    if not math.isfinite(milliseconds):
        return "unknown"
    if milliseconds < 0.995:
        return f"{milliseconds:.2g} ms" if milliseconds > 0 else "0 ms"
    if milliseconds < 999.5:
        return f"{milliseconds:.3g} ms"
    seconds = milliseconds / 1_000
    if seconds < 59.95:
        return f"{seconds:.3g} s"
    minutes, seconds = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {seconds:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes:02d} min"
