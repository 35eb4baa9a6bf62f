"""File systems, version 1: what a checkpoint storage needs of the place where its files lie (RULES STO-02).

That is little, so that almost every place has it: a disk, a mounted network, HDFS, an object store.

- A file appears whole or not at all, and its path is published once, and again behind its removal. Whether that is a
  rename without overwriting, a link, or a put on a condition is the file system's own. Nothing is ever appended, and
  nothing that is there changes.
- What was published is read by any process at once, in any range, and is found in any listing (STO-07).
- What `publish` returned for survives a crash of everything, and a loss of power (ASY-03).
- Removing is idempotent. What was removed or abandoned takes no room any more; a record that it was there may stay.
- Folders are no things: they are there when something is in them. No caller publishes one path as a file and as a
  folder of files, not even one behind the removal of the other: whether that works is the file system's own.

Threads. A file system is thread-safe; an upload is used by one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol, cast

import msgspec

from holdfast.harness.spi import SPI_VERSION
from holdfast.harness.spi.parts import part_of_scheme


class FileSystemDescription(msgspec.Struct, frozen=True, kw_only=True):
    """What `describe` returns.

    Attributes:
        name: of the file system, such as `s3`.
        max_file_bytes: longest file; one byte more raises Full. None: no limit of its own.
        outlives_process: files are there when the process that wrote them is gone.
        exclusive: of several uploads that publish one path at the same instant, one wins. Without it, only where they
            do so one after the other.
        options: key to (default, meaning in one line); a factory refuses others by ValueError.
        spi_version: that it was written for.
    """

    name: str
    max_file_bytes: int | None = None
    outlives_process: bool = True
    exclusive: bool = True
    options: Mapping[str, tuple[str, str]] = {}
    spi_version: int = SPI_VERSION


class FileSystemContext(msgspec.Struct, frozen=True, kw_only=True):
    """What a factory is given.

    Attributes:
        uri: the place, such as `hdfs://namenode:8020/checkpoints`. A slash at its end means nothing. The path of a
            `file` URI is percent-encoded (RFC 8089): `%20` is a blank.
        folder: one segment below it, in which all files lie: letters, digits, `.`, `_`, `-`, `~` and `%`. Those of
            other folders are not seen, nor touched (STO-08). Empty: the place itself. No caller uses that and its
            folders at a time: whether files of those are among its own is the file system's own.
        read_only: nothing will be written: nothing is made there, and nothing need be there.
        options: those of `FileSystemDescription.options` that the user has set. Keys and passwords never are among
            them.
    """

    uri: str
    folder: str = ""
    read_only: bool = False
    options: Mapping[str, str] = {}


class Upload(Protocol):
    """One file that is not visible yet. One thread uses it."""

    def write(self, content: bytes) -> None:
        """Append content.

        Raises:
            Transient: it is unknown what was written; the upload is of no use any more but for `abandon`.
            Full: nothing fits any more, or the file exceeds `max_file_bytes`; else as Transient.
        """

    def publish(self) -> None:
        """Make the file visible, whole and durable (STO-01, ASY-03).

        May be called again behind Transient, and behind a return: whoever called may have lost the answer to a caller
        of its own. As long as the file is there, that does nothing, or raises FileExistsError.

        Raises:
            FileExistsError: something is at its path. Nothing was changed (STO-02). It may be this very file, where an
                earlier call raised Transient: its reader finds out.
            Transient: it is visible or not.
            Full: it is not visible.
        """

    def abandon(self) -> None:
        """Remove what was written, and leave nothing (STO-02); never the published file. Idempotent.

        Raises:
            Transient: something may be left.
        """


class FileSystem(Protocol):
    """The files of one folder. Thread-safe. Every method but `describe` and `close` may raise Transient.

    A path has one or more segments with `/` between them. A segment consists of 1 to 200 ASCII letters, digits, `.`,
    `_` and `-`, and is neither `.` nor `..`.
    """

    def describe(self) -> FileSystemDescription:
        """What it can do. Also callable before anything else, and behind `close`."""

    def begin(self, path: str) -> Upload:
        """Begin a file. Several may be under way for one path; the first that is published gets it.

        Raises:
            Full: nothing fits any more.
        """

    def read(self, path: str, start: int, end: int) -> Iterator[bytes]:
        """Bytes of a file in pieces of any size, in order; fewer where it is shorter.

        Args:
            path: of it.
            start: first byte.
            end: behind the last byte; at least `start`.

        Raises:
            FileNotFoundError: it is not there, never was, or its path is one of a folder; at the latest with the first
                piece.
        """

    def tail(self, path: str, length: int) -> bytes:
        """The last bytes of a file; fewer where it is shorter.

        Raises:
            FileNotFoundError: as `read`.
        """

    def paths(self, folder: str) -> Sequence[str]:
        """All published files below a folder, at any depth, ascending.

        Args:
            folder: one or more whole segments; empty: everything. One that is not there has no files.
        """

    def remove(self, paths: Sequence[str]) -> Sequence[str]:
        """Remove files, one after the other; what is gone is no error. Returns those that could not be removed."""

    def abandon_uploads(self) -> None:
        """Remove everything that is under way in this folder, whoever began it (ASY-05).

        What somebody goes on with all the same is published whole, or raises Transient.
        """

    def close(self) -> None:
        """Free connections. Idempotent. Nothing that is stored changes."""


FileSystemFactory = Callable[[FileSystemContext], FileSystem]
"""Named as `module:name`, or found by the scheme of a URI. Raises ValueError in one sentence for an option or a URI
that it does not understand, and Transient or PermissionError where the place cannot be reached (CFG-05). One of another
scheme is none that it understands, unless the URI is but a name within this process (no `outlives_process`)."""


def file_system_factory(uri: str) -> FileSystemFactory:
    """The factory that is registered for the scheme of a URI (CFG-05), among `holdfast.parts`.

    Raises:
        ValueError: it has no scheme, or none that is registered, or what it needs is not installed.
    """
    return cast("FileSystemFactory", part_of_scheme("file-system", uri))
