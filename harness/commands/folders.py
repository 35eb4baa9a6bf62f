"""Where commands put their reports: a new folder below the output folder, and `latest` beside it."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import datetime
from itertools import count
from pathlib import Path

from holdfast.harness.engine.errors import UsageError

LATEST = "latest"
RESULTS = "results.json"


def new_folder(root: Path) -> Path:
    """Make a folder of one's own, whoever else makes one at the same time; its name is the time.

    Raises:
        UsageError: none can be made there.
    """
    while True:
        folder = free_folder(root)
        try:
            folder.mkdir(parents=True)
        except OSError as error:
            if isinstance(error, FileExistsError) and os.path.lexists(folder):
                continue  # Somebody else was faster.
            raise UsageError(
                f"{root}: no folder can be made in it ({error.strerror}); choose another one with --out."
            ) from error
        return folder


def free_folder(root: Path) -> Path:
    """A name for a folder that does not exist yet, after the time; it is made by whoever begins to fill it."""
    stamp = datetime.now().strftime("%Y-%m-%d-%H%M%S")  # noqa: TID251 - a name for people
    names = (stamp if number == 1 else f"{stamp}-{number}" for number in count(1))
    return next(root / name for name in names if not os.path.exists(root / name))  # False where one may not look.


def way_back(folder: Path) -> str:
    """The path of the current folder from another one; empty if it is gone."""
    try:
        return os.path.relpath(Path.cwd(), folder.resolve())
    except FileNotFoundError:
        return ""


def point_latest(folder: Path) -> None:
    """Let `latest` beside a folder name it, where the platform allows such links."""
    folder = folder.resolve()  # A user may have named it by `latest` itself.
    link = folder.with_name(f".{LATEST}.{os.getpid()}")
    with suppress(OSError):
        link.symlink_to(folder.name, target_is_directory=True)
        os.replace(link, folder.with_name(LATEST))
