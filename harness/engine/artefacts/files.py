"""Files and folders as every artefact needs them: made, written whole, read, or refused in one sentence.

Of a folder that somebody else may have filled, nothing leads out, no link is followed, and only regular files are
opened, because a pipe would wait for ever and a device may act.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

import msgspec

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.spi.outside_files import (
    DOCUMENT_BYTES,
    OutsideFileError,
    kind_of,
    read_outside,
    require_regular_mode,
)


def make_folder(folder: Path) -> None:
    """Make a new folder.

    Raises:
        UsageError: it cannot be made there.
    """
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise UsageError(
            f"{folder.parent}: no folder can be made in it ({error.strerror}); choose another one with --out."
        ) from error


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that a reader finds all of it or the former content; a link at its path is not followed."""
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)
    with part.open("xb") as file:
        file.write(content)
    os.replace(part, path)


def write_readable(path: Path, value: msgspec.Struct) -> None:
    """Write a value as JSON on several lines, completely or not at all."""
    write_atomically(path, msgspec.json.format(msgspec.json.encode(value)) + b"\n")


def read_content(path: Path, largest_bytes: int = DOCUMENT_BYTES, *, follow: bool = True) -> bytes:
    """The content of an untrusted file.

    Args:
        path: of the file.
        largest_bytes: how long it may be.
        follow: a user named it, perhaps by a link.

    Raises:
        UsageError: it is no regular file, too long, or cannot be read.
    """
    try:
        return read_outside(path, largest_bytes, follow=follow)
    except OutsideFileError as error:
        raise UsageError(f"{path}: {error}.") from error
    except ValueError as error:
        raise UsageError(
            f"{str(path)!r} is no name of a file ({error}); name an existing file or run folder."
        ) from error
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror}); name an existing file or run folder.") from error


def inside(folder: Path, name: str) -> Path:
    """The path of a file that somebody else named.

    Raises:
        UsageError: the name leads out of the folder, or to none in it.
    """
    if name in ("", ".", "..") or "/" in name or os.sep in name or "\0" in name:
        raise UsageError(f"{folder}: {name!r} is named in it, and is no name of a file in it; record the run again.")
    return folder / name


def require_regular(path: Path) -> Path:
    """The path itself; nothing there is no objection.

    Raises:
        UsageError: it is something else than a file, such as a link to one, and is not touched.
    """
    try:
        require_regular_mode(path, follow=False)
    except OutsideFileError as error:
        raise UsageError(f"{path}: {error}.") from error
    return path


def require_folder(path: Path) -> Path:
    """The path itself; nothing there is no objection.

    Raises:
        UsageError: it is no folder, or a link to one.
    """
    try:
        mode = path.lstat().st_mode
    except (OSError, ValueError):
        return path  # Whoever opens it says why it cannot be.
    if not stat.S_ISDIR(mode):
        raise UsageError(f"{path}: is {kind_of(mode)}; allowed is a folder: record the run again.")
    return path
