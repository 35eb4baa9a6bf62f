"""Bytes that mean something elsewhere: separators, quotes, escapes, no text, and text that is more than ASCII."""

from __future__ import annotations

AWKWARD = (
    bytes(range(256)), b"\t", b"\n", b"\r\n", b"\0", b"%", b"%09", b"+", b" ", b"\\N", b"\\", b'"', b"','",
    b"\xff" * 300, "\u00e4\u2028\U0001f600".encode(),
)  # fmt: skip
