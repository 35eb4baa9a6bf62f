"""Standard output for a result that a program reads: what parts, systems and libraries write there goes elsewhere.

They write by `print`, from C, and from processes that they start. So the file descriptor itself leads to standard
error from `reserve` on, and the result alone is written to where it led before.
"""

from __future__ import annotations

import os
import sys
from typing import TextIO

from holdfast.harness.commands.stream import LastingStream

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
    """From now on nothing but the result reaches standard output."""
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
