"""Who works in a folder: so that a sweep ends what a killed harness left, and never what a living one uses."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

_FILE = "owner.json"
_START_TIME_FIELD = 22
"""Of proc(5) stat, counted from 1."""


class Owner(msgspec.Struct, frozen=True):
    """A process. A pid alone may belong to somebody else by now; with the start time it cannot (0: not known)."""

    pid: int
    start_time: int


def write_owner(folder: Path) -> None:
    """This process works in a folder."""
    pid = os.getpid()
    (folder / _FILE).write_bytes(msgspec.json.encode(Owner(pid, _start_time(pid))))


def remove_owner(folder: Path) -> None:
    """The work in a folder is done."""
    (folder / _FILE).unlink(missing_ok=True)


def owner_lives(folder: Path) -> bool:
    """Whether the process that works in a folder still lives."""
    try:
        owner = msgspec.json.decode((folder / _FILE).read_bytes(), type=Owner)
        os.kill(owner.pid, 0)
    except PermissionError:
        return True
    except (OSError, msgspec.MsgspecError):
        return False
    return _start_time(owner.pid) == owner.start_time


def _start_time(pid: int) -> int:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0
    # The name of the process may hold spaces and brackets; field 3 comes behind it.
    return int(stat.rpartition(")")[2].split()[_START_TIME_FIELD - 3])
