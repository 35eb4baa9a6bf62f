"""Lets a process that we have started stand still, and waits until the kernel says that it does."""

from __future__ import annotations

import os
import signal
import time

LIMIT_S = 10.0
_LOOK_S = 0.001


def stop(pid: int) -> None:
    """Stop a process alone. One that has ended stays as it is.

    Args:
        pid: of a child of ours that is not reaped.

    Raises:
        OSError: it does not stand still in time; it may later, until it is resumed.
    """
    os.kill(pid, signal.SIGSTOP)
    deadline_s = time.monotonic() + LIMIT_S
    while os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        if time.monotonic() > deadline_s:
            raise OSError(f"process {pid} does not stand still {LIMIT_S:g} s after SIGSTOP.")
        time.sleep(_LOOK_S)


def stop_group(pid: int) -> None:
    """Stop a process, and then the rest of the group that it leads; see `stop`.

    A signal to all of them at once may stop a child that the first one is starting before it has begun its program; and
    who waits for that in `vfork` never stands still.
    """
    stop(pid)
    os.killpg(pid, signal.SIGSTOP)
