"""What a file system says of itself, and what its factory is given."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from holdfast.harness.spi import SPI_VERSION


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
        read_only: nobody will write: nothing is made there, and nothing need be there.
        options: those of `FileSystemDescription.options` that the user has set. Keys and passwords never are among
            them.
    """

    uri: str
    folder: str = ""
    read_only: bool = False
    options: Mapping[str, str] = {}
