"""A process that is starting a child, for as long as a test likes: it waits in `vfork`, where no signal stops it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from holdfast.harness.adapter.process_stat import children_by_parent, process_stat

_PROGRAM = """
import os, sys
opened = (os.POSIX_SPAWN_OPEN, 5, sys.argv[1], os.O_RDONLY, 0)
child = os.posix_spawn(sys.executable, ["python", "-c", "import time; time.sleep(600)"], {}, file_actions=[opened])
os.waitpid(child, 0)
"""


def spawns(fifo: Path) -> list[str]:
    """The command of one whose child runs its program when somebody has opened this FIFO, which is made here."""
    os.mkfifo(fifo)
    return [sys.executable, "-c", _PROGRAM, str(fifo)]


def states(pid: int) -> Sequence[str]:
    """Of a process and of its children, as process_stat has them."""
    family = (pid, *children_by_parent()[pid])
    return [stat.state for stat in map(process_stat, family) if stat is not None]


def stop_pending(pid: int) -> bool:
    """Whether a signal to stop has reached a process that does not follow it yet."""
    status = Path(f"/proc/{pid}/status").read_text()
    return any(
        int(line.partition(":")[2], 16) >> (signal.SIGSTOP - 1) & 1
        for line in status.splitlines()
        if line.startswith(("SigPnd", "ShdPnd"))
    )
