"""Files and folders as every artefact needs them: made, written whole, read, or refused in one sentence."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.spi.outside_files import DOCUMENT_BYTES, OutsideFileError, read_outside


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
    """A reader finds the whole content or what was there before; a link that somebody laid there is not followed."""
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)
    with part.open("xb") as file:
        file.write(content)
    os.replace(part, path)


def write_readable(path: Path, value: msgspec.Struct) -> None:
    """A value as JSON on several lines, whole or not at all."""
    write_atomically(path, msgspec.json.format(msgspec.json.encode(value)) + b"\n")


def read_content(path: Path, largest_bytes: int = DOCUMENT_BYTES, *, follow: bool = True) -> bytes:
    """What is in a file that somebody else may have written.

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
