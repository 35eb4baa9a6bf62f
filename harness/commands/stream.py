"""A standard stream whose reader may go: a closed terminal, or `| head`, must not end the work."""

from __future__ import annotations

import io
import os
from contextlib import suppress
from typing import TextIO


class LastingStream(io.TextIOBase):
    """Writes to a stream; from the first write that nobody takes, everything is dropped."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError:
            self._drop()
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError:
            self._drop()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    def _drop(self) -> None:
        """Also what is written past us, and what is still buffered."""
        with suppress(OSError), open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), self._stream.fileno())
