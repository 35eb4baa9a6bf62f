"""Who works in a folder: so that a sweep ends what a killed harness left, and never what a living one uses, nor what is
not ours at all."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec

from holdfast.harness.engine.artefacts.files import read_content, require_regular, write_atomically
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.lease import is_elsewhere, process_lives, start_time, this_place

OURS: Final = "holdfast"
FILE = "owner.json"
_Pid = Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]
_Ticks = Annotated[int, msgspec.Meta(ge=0)]
_Place = Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{12})?$")]


class Owner(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A process of ours. A pid alone may belong to somebody else by now; with the start time (0: not known) and the
    place it cannot."""

    pid: _Pid
    start_time: _Ticks
    owner: Literal["holdfast"]
    place: _Place = ""


def claim(folder: Path) -> bool:
    """Begin to work in a folder; False: another process does. Of several that try at once, one succeeds."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # Some network file systems have no locks.
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if owner_lives(folder):
            return False
        write_owner(folder)
        return True
    finally:
        os.close(descriptor)


def write_owner(folder: Path) -> None:
    """Record this process as the owner of a folder that no other one knows of."""
    pid = os.getpid()
    write_atomically(folder / FILE, msgspec.json.encode(Owner(pid, start_time(pid), OURS, this_place())))


def remove_owner(folder: Path) -> None:
    """Remove the record of the owner of a folder, as its work is done."""
    (folder / FILE).unlink(missing_ok=True)


def owner_of(folder: Path) -> Owner | None:
    """The process that works, or worked, in a folder; None: no record there is one of ours."""
    try:
        return msgspec.json.decode(read_content(require_regular(folder / FILE)), type=Owner)
    except (UsageError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def owner_lives(folder: Path, *, claimed: bool = False) -> bool:
    """Whether the process that works in a folder still lives, or may live: see process_lives.

    Args:
        folder: of a certification, or of a run below one.
        claimed: this process has claimed the certification, so that at no other place anybody works on it.
    """
    if claimed and owner_elsewhere(folder):
        return False
    owner = owner_of(folder)
    return owner is not None and process_lives(owner.pid, owner.start_time, owner.place)


def owner_elsewhere(folder: Path) -> bool:
    """Whether a process of another container or machine works, or worked, in a folder."""
    owner = owner_of(folder)
    return owner is not None and is_elsewhere(owner.place)
