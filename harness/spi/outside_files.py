"""Untrusted files: they are examined before anything of them is read.

Rules of this file
- A file is opened once, without waiting, and examined through its descriptor: no pipe, device or socket is read, and
  the file cannot be replaced meanwhile.
- A link is followed only where a user named it.
- Its length is known before its content, and so is the number of values of a table. What is longer is refused; a user
  who wants it raises the limits with `holdfast --limits`.
"""

from __future__ import annotations

import gzip
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import suppress
from io import FileIO
from pathlib import Path

WRITTEN_BYTES = 1 << 20
"""Of what people write, such as a configuration: its parsers take a thousand bytes for each."""
DOCUMENT_BYTES = 32 << 20
"""Of a plan, a result, a table of a program: what is decoded as a whole, and takes ten bytes for each."""
EVENTS_BYTES = 64 << 20
"""Of the events of one node, which are decoded line by line."""
STATE_BYTES = 1 << 30
"""Of one file of a checkpoint, which is summed up in most cases."""
LOG_BYTES = 4 << 30
"""Of all packed logs of a folder, unpacked: drawn plans of eight hours on two processors fill three quarters of it."""
LINE_BYTES = 16 << 20
"""Of one line of such a log: the longest results of runs take a hundredth of it."""
TABLE_VALUES = 40_000_000
"""Of a Parquet file that is read as a whole: they take 0.4 GB as columns."""
OBJECT_ROWS = 1_000_000
"""Of rows that are read as objects of Python: they take 0.3 GB."""
RAISE = "raise the limits with `holdfast --limits FACTOR` if you trust it"
_KINDS = (
    (stat.S_ISLNK, "a link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_CHUNK_BYTES = 1 << 20
_factor = 1


class OutsideFileError(OSError, ValueError):
    """A file that is not read; one sentence without its name, which says what is allowed."""


def raise_limits(factor: int) -> None:
    """Let files be so many times as large, in this process.

    Raises:
        ValueError: the factor is none.
    """
    global _factor
    if factor < 1:
        raise ValueError(f"--limits is {factor}; allowed is a whole number from 1: give one.")
    _factor = factor


def raised(limit: int) -> int:
    """A limit as it is now; that of 1 is the factor, which is passed to processes that read for this one."""
    return limit * _factor


def read_outside(path: Path, largest_bytes: int = DOCUMENT_BYTES, *, follow: bool = False) -> bytes:
    """The content of a file.

    Args:
        path: of the file.
        largest_bytes: how long it may be, before limits are raised.
        follow: allow that it is a link to one; only where a user named it.

    Raises:
        OutsideFileError: it is no regular file, or too long.
        OSError: it is not there, or cannot be read.
    """
    with open_outside(path, follow=follow) as file:
        require_length(os.fstat(file.fileno()).st_size, largest_bytes)
        largest_bytes = raised(largest_bytes)
        content = bytearray()
        while chunk := file.read(largest_bytes + 1 - len(content)):
            content += chunk
            if len(content) > largest_bytes:
                raise OutsideFileError(f"grows beyond {largest_bytes:,} bytes, which are allowed; {RAISE}")
        return bytes(content)


def read_end(path: Path, most_bytes: int = DOCUMENT_BYTES) -> bytes:
    """The last bytes of a file that grows, such as the log of a process that never stops talking.

    Raises:
        As read_outside.
    """
    with open_outside(path) as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - most_bytes))
        return b"".join(_chunks(file, most_bytes))


def checksum_outside(path: Path, largest_bytes: int = DOCUMENT_BYTES) -> tuple[int, int]:
    """The length and the CRC-32 of a file, however long it is, in memory of a fixed size.

    Raises:
        As read_outside.
    """
    length = checksum = 0
    with open_outside(path) as file:
        require_length(os.fstat(file.fileno()).st_size, largest_bytes)
        for chunk in _chunks(file, raised(largest_bytes)):
            length, checksum = length + len(chunk), zlib.crc32(chunk, checksum)
    return length, checksum


def _chunks(file: FileIO, most_bytes: int) -> Iterator[bytes]:
    while most_bytes > 0 and (chunk := file.read(min(_CHUNK_BYTES, most_bytes))):
        most_bytes -= len(chunk)
        yield chunk


class PackedLines:
    """Lines of logs that were packed by gzip: all that are read by one of these may together be so long.

    Args:
        largest_bytes: of all, unpacked, before limits are raised.
    """

    def __init__(self, largest_bytes: int = LOG_BYTES) -> None:
        self._most_bytes = raised(largest_bytes)
        self._left_bytes = self._most_bytes

    def of(self, path: Path) -> Iterator[bytes]:
        """Each whole line, as it is unpacked; one that was cut off at the end, with its writer, is dropped.

        Raises:
            OutsideFileError: it is no regular file, or what it unpacks to is too long.
            OSError, zlib.error: it cannot be unpacked.
        """
        longest = raised(LINE_BYTES)
        with open_outside(path) as packed, gzip.open(packed, "rb") as file, suppress(EOFError):
            while line := file.readline(min(longest, self._left_bytes) + 1):
                self._left_bytes -= len(line)
                if len(line) > longest:
                    raise OutsideFileError(f"holds a line above {longest:,} bytes, which are allowed; {RAISE}")
                if self._left_bytes < 0:
                    raise OutsideFileError(
                        f"unpacks, with the logs beside it, to more than {self._most_bytes:,} bytes, which are "
                        f"allowed; {RAISE}"
                    )
                if line.endswith(b"\n"):
                    yield line


def require_length(length: int, largest_bytes: int = DOCUMENT_BYTES) -> None:
    """Refuse content that is longer than is read.

    Raises:
        OutsideFileError: see above.
    """
    if length > raised(largest_bytes):
        raise OutsideFileError(f"is {length:,} bytes long, allowed are {raised(largest_bytes):,}; {RAISE}")


def open_outside(path: Path, *, follow: bool = False) -> FileIO:
    """A regular file, opened to be read. Arguments and errors as of read_outside, but for its length."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY | (0 if follow else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except OSError:
        require_regular_mode(path, follow=follow)
        raise
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise OutsideFileError(_not_regular(mode))
    except BaseException:
        os.close(descriptor)
        raise
    return FileIO(descriptor)


def require_regular_mode(path: Path, *, follow: bool) -> None:
    """Refuse what is no regular file; nothing there is no objection.

    Raises:
        OutsideFileError: see above.
    """
    try:
        mode = (path.stat() if follow else path.lstat()).st_mode
    except (OSError, ValueError):
        return  # Whoever opens it says why it cannot be.
    if not stat.S_ISREG(mode):
        raise OutsideFileError(_not_regular(mode))


def kind_of(mode: int) -> str:
    """What a file is, in words."""
    return next((kind for check, kind in _KINDS if check(mode)), "a regular file")


def require_values(values: int, largest: int = TABLE_VALUES, noun: str = "values") -> None:
    """Refuse a table that holds more than is read as a whole.

    Raises:
        OutsideFileError: see above.
    """
    if values > raised(largest):
        raise OutsideFileError(f"holds {values:,} {noun}, allowed are {raised(largest):,}; {RAISE}")


def _not_regular(mode: int) -> str:
    return f"cannot be read, as it is {kind_of(mode)}; allowed is a regular file: name one"
