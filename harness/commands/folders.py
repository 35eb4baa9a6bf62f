"""Where commands put their reports: a new folder below the output folder, and `latest` beside it."""

from __future__ import annotations

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
