"""Leases: what outlives a process that is killed names its owner, so that a sweep finds it, and nothing else.

A lease is a temporary folder with a note of its owner, and the label of all processes that are started for it.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import platform
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from holdfast.harness.adapter.process import process_stat
from holdfast.harness.label import end_labelled
from holdfast.harness.model.sentence import plural
from holdfast.harness.spi.outside_files import read_outside

_OWNER = re.compile(r"([0-9]+):([0-9]+)(?:@([0-9a-f]{12}))?")
_FIRST_SPACE = "pid:[4026531836]"
"""Of pids: that of a machine, outside of all containers. Its number is a constant of the kernel."""
_PREFIX = "holdfast-"
_NAME = re.compile(rf"{_PREFIX}.+-([0-9]{{1,7}})-[a-z0-9_]{{8}}")
"""With the pid of who has made it; none on Linux has more digits."""
_NOTE = ".holdfast-owner"


def start_time(pid: int) -> int:
    """When a process was started, in clock ticks since the machine was; 0: it is gone. A pid alone may belong to
    somebody else by now; with the start time it cannot."""
    found = process_stat(pid)
    return 0 if found is None else found.start_time


def this_process() -> str:
    """The owner that this process is, as text."""
    pid = os.getpid()
    return f"{pid}:{start_time(pid)}@{this_place()}"


@cache
def this_place() -> str:
    """Where a pid means this process: one space of pids on one machine. Two containers, or two machines, may share a
    folder for temporary files or a Docker engine, and see no process of each other."""
    space = ""
    with suppress(OSError):
        space = os.readlink("/proc/self/ns/pid")
    machine = ""
    with suppress(OSError):
        machine = Path("/etc/machine-id").read_text().strip()
    if space != _FIRST_SPACE or not machine:  # Containers of one image may have one id.
        machine += f" {platform.node()}"
    # On a machine it survives a crash. The id is confidential, so a digest has to do.
    return hashlib.sha256(f"{space} {machine}".encode()).hexdigest()[:12]


def lives(owner: str) -> bool:
    """Whether an owner lives, or may live; see process_lives. No other text does."""
    found = _OWNER.fullmatch(owner)
    if found is None:
        return False
    pid, started, place = found.groups()
    return process_lives(int(pid), int(started), place or "")


def is_elsewhere(place: str) -> bool:
    """Whether a place is not this one; as of process_lives."""
    return place not in ("", this_place())


def process_lives(pid: int, started: int, place: str) -> bool:
    """Whether a process lives, or may live: of another place that cannot be known.

    Args:
        pid: its number.
        started: see start_time.
        place: see this_place; empty, as earlier versions wrote it: this one.
    """
    if is_elsewhere(place):
        return True
    if not started:  # The time was not known.
        return not Path("/proc/self/stat").exists() and _responds(pid)
    return started == start_time(pid)


def _responds(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # It is another user's.
        return True
    return True


class Lease:
    """One of this process, with which it ends.

    Attributes:
        folder: new; also the label of the processes that work in it. Its path has no link.
    """

    def __init__(self, kind: str) -> None:
        """
        Args:
            kind: a part of its name, such as `services`.
        """
        self.folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{kind}-{os.getpid()}-")).resolve()
        (self.folder / _NOTE).write_text(this_process())
        self._owner = os.getpid()
        atexit.register(self.close)

    @property
    def room(self) -> Path:
        """A folder in it for somebody else's code, beside the note."""
        room = self.folder / "room"
        room.mkdir(exist_ok=True)
        return room

    def end_processes(self) -> None:
        """End all that carries its label."""
        end_labelled(self.folder)

    def close(self) -> None:
        """Remove it. Idempotent; does nothing in a process that has only inherited it."""
        if os.getpid() == self._owner and _remove(self.folder, this_process()):
            atexit.unregister(self.close)  # Else again at the end: nothing is removed where no file can be opened.

    def __enter__(self) -> Path:
        return self.room

    def __exit__(self, *_: object) -> None:
        self.end_processes()
        self.close()


def abandoned() -> Sequence[Path]:
    """The folders of those that outlived their owner."""
    return tuple(folder for folder, _ in _abandoned())


def sweep() -> Iterator[str]:
    """Remove those, and end what carries one as its label; what was done, one sentence each."""
    for folder, note in _abandoned():
        ended = end_left(folder)
        removed = "removed" if _remove(folder, note) else "cannot be removed whole"
        yield f"{folder}: {removed}{', ' if ended else ''}{ended}."


def end_left(folder: Path) -> str:
    """End what carries the label of a folder, or of one below it; what was done, in words; empty: nothing."""
    ended = end_labelled(folder)
    return f"{plural(ended, 'process', 'processes')} ended" if ended else ""


def _remove(folder: Path, note: str) -> bool:
    """Whether all of it is gone. No link is followed."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        _open(folder)
        shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        with suppress(OSError):
            (folder / _NOTE).write_text(note)  # So that it is found again.
    return not folder.exists()


def _open(folder: Path) -> None:
    """Let its owner remove what is in folders that somebody else's code has closed."""
    with suppress(OSError):
        folder.chmod(stat.S_IRWXU)
    for place, names, _ in os.walk(folder):
        for each in (os.path.join(place, name) for name in names):
            if not os.path.islink(each):
                with suppress(OSError):
                    os.chmod(each, stat.S_IRWXU)


def _abandoned() -> Iterator[tuple[Path, str]]:
    """Each with its note. A folder without the note of an owner is somebody else's, or is just being made."""
    for folder in sorted(Path(tempfile.gettempdir()).resolve().glob(f"{_PREFIX}*")):
        if _is_half_made(folder):
            yield folder, ""
            continue
        with suppress(OSError, UnicodeDecodeError):  # None, or no regular file: it is none of ours, and is not opened.
            note = read_outside(folder / _NOTE).decode()
            if _OWNER.fullmatch(note) and not lives(note) and is_own_folder(folder):
                yield folder, note


def _is_half_made(folder: Path) -> bool:
    """Whether it is empty because its owner was killed before the note was whole."""
    found = _NAME.fullmatch(folder.name)
    if found is None or not is_own_folder(folder) or _responds(int(found[1])):
        return False
    with suppress(OSError):
        return all(each.name == _NOTE and not each.lstat().st_size for each in folder.iterdir())
    return False


def is_own_folder(path: Path) -> bool:
    """Whether it is a folder, not a link to one, and belongs to the user who runs this."""
    try:
        status = path.lstat()
    except (OSError, ValueError):
        return False
    return stat.S_ISDIR(status.st_mode) and (not hasattr(os, "geteuid") or status.st_uid == os.geteuid())
