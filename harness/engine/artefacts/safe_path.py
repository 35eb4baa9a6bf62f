"""Paths below a folder that somebody else may have filled.

Rules of this module: nothing leads out of the folder, no link is followed, and only regular files are opened, because
a pipe would wait for ever and a device may act.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from holdfast.harness.engine.errors import UsageError

_KINDS = (
    (stat.S_ISLNK, "a link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def inside(folder: Path, name: str) -> Path:
    """The path of a file that somebody else named.

    Raises:
        UsageError: the name leads out of the folder, or to none in it.
    """
    if name in ("", ".", "..") or "/" in name or os.sep in name or "\0" in name:
        raise UsageError(f"{folder}: {name!r} is named in it, and is no name of a file in it; record the run again.")
    return folder / name


def require_regular(path: Path, *, follow: bool = False) -> Path:
    """The path itself; nothing there is no objection.

    Args:
        path: of a file.
        follow: allow that it is a link to one; only where a user named it.

    Raises:
        UsageError: it is something else, and is not touched.
    """
    mode = _mode(path, follow)
    if mode is not None and not stat.S_ISREG(mode):
        raise UsageError(f"{path}: cannot be read, as it is {_kind(mode)}; allowed is a regular file: name one.")
    return path


def require_folder(path: Path) -> Path:
    """The path itself; nothing there is no objection.

    Raises:
        UsageError: it is no folder, or a link to one.
    """
    mode = _mode(path, follow=False)
    if mode is not None and not stat.S_ISDIR(mode):
        raise UsageError(f"{path}: is {_kind(mode)}; allowed is a folder: record the run again.")
    return path


def is_own_folder(path: Path) -> bool:
    """Whether it is a folder, not a link to one, and belongs to the user who runs this."""
    try:
        status = path.lstat()
    except (OSError, ValueError):
        return False
    return stat.S_ISDIR(status.st_mode) and (not hasattr(os, "geteuid") or status.st_uid == os.geteuid())


def _mode(path: Path, follow: bool) -> int | None:
    try:
        return (path.stat() if follow else path.lstat()).st_mode
    except (OSError, ValueError):
        return None  # Whoever opens it says why it cannot be.


def _kind(mode: int) -> str:
    return next((kind for check, kind in _KINDS if check(mode)), "a regular file")
