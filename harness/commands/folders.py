"""Where commands put their reports: a new folder below the output folder, and `latest` beside it."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import datetime
from itertools import count
from pathlib import Path

LATEST = "latest"
RESULTS = "results.json"


def free_folder(root: Path) -> Path:
    """A name for a folder that does not exist yet, after the time; it is made by whoever begins to fill it."""
    stamp = datetime.now().strftime("%Y-%m-%d-%H%M%S")  # noqa: TID251 - a name for people
    names = (stamp if number == 1 else f"{stamp}-{number}" for number in count(1))
    return next(root / name for name in names if not (root / name).exists())


def point_latest(folder: Path) -> None:
    """Let `latest` beside a folder name it, where the platform allows such links."""
    link = folder.with_name(f".{LATEST}.{os.getpid()}")
    with suppress(OSError):
        link.symlink_to(folder.name, target_is_directory=True)
        os.replace(link, folder.with_name(LATEST))
