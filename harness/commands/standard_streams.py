"""Standard streams. Their reader may go, they may be closed or speak another alphabet: none of that ends the work.
Where standard output is for a result that a program reads, what parts, systems and libraries write there goes
elsewhere.

They write by `print`, from C, and from processes that they start. So the file descriptor itself leads to standard error
from `reserve` on, and the result alone is written to where it led before.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress
from typing import TextIO, cast

_STANDARD = (0, 1, 2)


class LastingStream(io.TextIOBase):
    """Writes to a stream; from the first write that fails, everything is dropped.

    Attributes:
        full: what was written is lost because there is no room for it, and not because its reader has gone.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.full = False

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError as error:
            self._drop(error)
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            self._drop(error)

    def close(self) -> None:
        """Leaves the stream as it is: it belongs to somebody else, who may have closed it before this object goes."""

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    def _drop(self, error: OSError) -> None:
        """Also what is written past us, and what is still buffered."""
        self.full |= error.errno in (errno.ENOSPC, errno.EDQUOT)
        with suppress(OSError), open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), self._stream.fileno())


def steady_streams() -> tuple[LastingStream, LastingStream]:
    """Let all of this process write to its standard output and error whatever they are; these two."""
    _occupy()
    sys.stdout, sys.stderr = (cast("TextIO", LastingStream(_writable(each))) for each in (sys.stdout, sys.stderr))
    return cast("LastingStream", sys.stdout), cast("LastingStream", sys.stderr)


def _occupy() -> None:
    """Keep the descriptors of closed standard streams occupied, so that no opened file takes their place."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) in _STANDARD:
        pass
    os.close(descriptor)


def _writable(stream: TextIO | None) -> TextIO:
    if stream is None:  # It was closed when the interpreter started.
        return open(os.devnull, "w", encoding="utf-8")
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return stream


_OUT, _ERROR = 1, 2


class _Reservation:
    """What stood in place of standard output, and where the result goes.

    Attributes:
        result: JSON is UTF-8, whatever the terminal's alphabet is. Who captures the output of this process by an object
            of its own gets it there.
    """

    def __init__(self) -> None:
        self._before = sys.stdout
        self._before.flush()
        self._descriptor = os.dup(_OUT)
        self._own = os.fdopen(os.dup(_OUT), "w", encoding="utf-8")
        self.result = LastingStream(self._own if _descriptor(self._before) == _OUT else self._before)
        os.dup2(_ERROR, _OUT)
        sys.stdout = sys.stderr

    def end(self) -> None:
        sys.stdout.flush()
        os.dup2(self._descriptor, _OUT)
        os.close(self._descriptor)
        self._own.close()
        sys.stdout = self._before


_reservation: _Reservation | None = None


def reserve() -> None:
    """Reserve standard output for the result from now on."""
    global _reservation
    if _reservation is None:
        _reservation = _Reservation()


def restore() -> None:
    """Take that back, where the process goes on with something else."""
    global _reservation
    if _reservation is not None:
        _reservation.end()
        _reservation = None


def result_stream() -> LastingStream:
    """Where results go."""
    return LastingStream(sys.stdout) if _reservation is None else _reservation.result


def lost_for_room() -> bool:
    """Whether a result was not written whole because there is no room."""
    return _reservation is not None and _reservation.result.full


def _descriptor(stream: TextIO) -> int | None:
    try:
        return stream.fileno()
    except (OSError, ValueError):  # It is no file.
        return None
