"""A process of ours in which somebody else's code runs: how it is begun, and what is reported of its end."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from signal import SIG_BLOCK, SIG_SETMASK, SIGKILL, Signals, pthread_sigmask
from socket import SO_RCVTIMEO, SOL_SOCKET, socket  # noqa: TID251 - a limit for the pipe, which is one
from struct import pack
from typing import NamedTuple

from holdfast.harness.engine.site.interruption import signals
from holdfast.harness.spi.surroundings import python_path

KILLED = "killed from outside by SIGKILL, perhaps because memory ran out"
DISTURBED = "wrote into the connection of its process, or closed it"
MOST_BYTES = 256 << 20
"""Of one message."""
MESSAGE_LIMIT_S = 20
"""How long the rest of a message may take of which something has come: whoever waits for it does nothing else."""


class Begun(NamedTuple):
    """A process, and the end of a pipe to it."""

    process: subprocess.Popen[bytes]
    connection: Connection


def begin(
    program: str,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    *,
    stdout: int | None = None,
    stderr: int | None = None,
) -> Begun:
    """Begin one that finds the packages that this one finds, and hears signals from this one alone.

    Args:
        program: of Python. Its first argument is the descriptor of its end of the pipe; it unblocks signals when it can
            handle them.
        arguments: those that follow.
        environment: that it gets.
        stdout, stderr: as of subprocess.Popen.

    Raises:
        UnusableSystem: as of `python_path`.
    """
    path = python_path(sys.path)
    connection, theirs = Pipe()
    with ExitStack() as opened, theirs:
        opened.enter_context(connection)
        with socket(fileno=os.dup(connection.fileno())) as ours:
            ours.setsockopt(SOL_SOCKET, SO_RCVTIMEO, pack("ll", MESSAGE_LIMIT_S, 0))
        held = pthread_sigmask(SIG_BLOCK, signals())
        try:
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", program, str(theirs.fileno()), *arguments],
                env={**environment, "PYTHONPATH": path},
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Signals of the terminal are for the process that waits, which hands them on.
            )
        finally:
            pthread_sigmask(SIG_SETMASK, held)
        opened.pop_all()
    return Begun(process, connection)


class Blame(NamedTuple):
    """The report on third-party code whose process is lost.

    Attributes:
        sentence: without a full stop.
        certain: it is to blame; if not, the machine may be.
    """

    sentence: str
    certain: bool


def blame(names: str, code: int, call: str, silent_s: float | None, *, disturbed: bool = False) -> Blame:
    """Whom a lost process is laid to.

    Args:
        names: of the code.
        code: exit code as subprocess gives it.
        call: that was under way, as last_call gives it.
        silent_s: it was ended because it was silent for so long; None: it ended otherwise.
        disturbed: it was ended because it sent an unknown message.
    """
    if disturbed:
        return Blame(f"{names} {DISTURBED}{call}", True)
    if silent_s is not None:
        return Blame(f"{names} did not return within {silent_s:g} s{call}", False)
    if code == -SIGKILL:
        return Blame(f"{names} was {KILLED}{call}", False)
    return Blame(f"{names} ended its process {describe_exit(code)}{call}", True)


def describe_exit(code: int) -> str:
    """How a process ended, by its exit code as subprocess gives it."""
    return f"by {Signals(-code).name}" if code < 0 else f"with exit code {code}"
