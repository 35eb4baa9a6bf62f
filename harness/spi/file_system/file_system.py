"""A file system: a place of named files, each of which is there whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from holdfast.harness.spi.file_system.description import FileSystemContext, FileSystemDescription
from holdfast.harness.spi.file_system.upload import Upload


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
