"""Paths below a folder that somebody else may have filled.

Rules of this module: nothing leads out of the folder, no link is followed, and only regular files are opened, because
a pipe would wait for ever and a device may act.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.spi.outside_files import OutsideFileError, kind_of, require_regular_mode


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
