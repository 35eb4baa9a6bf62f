"""A label in the environment: whatever a program starts inherits it, so that nothing of a run is left unfound.

It is the path of a folder. The command that ends what carries it has that folder, and nothing else shows whose a
process is: a pid in a file may belong to another process by now.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

NAME = "HOLDFAST_RUN"
_PREFIX = f"{NAME}=".encode()
_DEATH_LIMIT_MS = 5_000
"""For what was killed to be gone; it may wait for a disk."""
_PROCESSES = Path("/proc")
_BEGIN_TRIES = 1_000
_BEGIN_TRY_MS = 1


def end_labelled(folder: Path) -> int:
    """Kill every process but this one that carries the label of a folder, or of one below it.

    Returns:
        How many there were.
    """
    return sum(end_if_labelled(pid, folder) for pid in labelled(folder))


def labelled(folder: Path) -> Sequence[int]:
    """The pids of all processes but this one that carry the label of a folder, or of one below it."""
    if sys.platform != "linux":
        return []
    pids = [int(entry.name) for entry in os.scandir("/proc") if entry.name.isdigit()]
    return [pid for pid in pids if pid != os.getpid() and carries(pid, folder)]


def end_if_labelled(pid: int, folder: Path) -> bool:
    """Kill a process, if it carries the label of a folder, or of one below it; whether it was. It is gone by then, so
    that the folder that it wrote into can be removed."""
    try:
        process = os.pidfd_open(pid)
    except (OSError, OverflowError):  # No process has such a number.
        return False
    try:
        # Behind the opening: what a pidfd stands for cannot change, what a pid stands for can.
        if not carries(pid, folder):
            return False
        signal.pidfd_send_signal(process, signal.SIGKILL)
        death = select.poll()
        death.register(process, select.POLLIN)
        death.poll(_DEATH_LIMIT_MS)
    except OSError:
        return False
    finally:
        os.close(process)
    return True


def carries(pid: int, folder: Path) -> bool:
    """Whether the environment with which a process was started has the label of a folder, or of one below it."""
    label = label_of(pid)
    return label is not None and (label == folder or folder in label.parents)


def label_of(pid: int) -> Path | None:
    """The label of a process; None: it has none, is gone, or is somebody else's."""
    for variable in variables_of(pid):
        if variable.startswith(_PREFIX):
            return Path(os.fsdecode(variable[len(_PREFIX) :]))
    return None


def variables_of(pid: int) -> Sequence[bytes]:
    """The environment with which a process was started, each `NAME=value`; none: it is gone, or somebody else's."""
    process = _PROCESSES / str(pid)
    try:
        for _ in range(_BEGIN_TRIES):
            begun = _has_begun(process)  # Looked at first, so that what is read behind it holds.
            found = (process / "environ").read_bytes()
            if found or begun:
                return found.split(b"\0")
            select.poll().poll(_BEGIN_TRY_MS)
    except OSError:
        pass
    return ()


def _has_begun(process: Path) -> bool:
    """Whether a process has its arguments and its environment. Who started it takes it for begun as soon as its files
    that are closed for a new program are closed, and that is before the program is loaded."""
    if (process / "cmdline").read_bytes():
        return True
    try:
        os.readlink(process / "exe")
    except OSError:  # A thread of the kernel, or one that has ended.
        return True
    return False
