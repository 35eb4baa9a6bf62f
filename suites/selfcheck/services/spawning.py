"""A process that is starting a child, for as long as a test likes: it waits in `vfork`, where no signal stops it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from holdfast.harness.adapter.process import children_by_parent, process_stat
from holdfast.suites.selfcheck.services.listener import becomes

_LIMIT_S = 10.0

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


@contextmanager
def paused(pid: int, fifo: Path, pause: Callable[[], None]) -> Iterator[None]:
    """Pause it while it is starting its child, which goes on meanwhile; it is killed at the end."""
    thread = Thread(target=pause)
    thread.start()
    try:
        assert becomes(lambda: stop_pending(pid))
        with os.fdopen(os.open(fifo, os.O_RDWR)):
            thread.join(_LIMIT_S)
        yield
    finally:
        os.killpg(pid, signal.SIGKILL)
        thread.join()


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
