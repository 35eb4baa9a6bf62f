"""A process that we started: it leads a group, with which it stands still and ends, and dies with its starter."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from holdfast.harness.adapter.last_words import last_words
from holdfast.harness.adapter.process import Process, end_group
from holdfast.harness.label import NAME
from holdfast.harness.spi.outside_files import read_end
from holdfast.harness.spi.surroundings import passed

_LAUNCHER = Path(__file__).with_name("launch.py")


class Launched(Process):
    """One life of a program, which dies with the thread that started it.

    Args:
        command: the program as an absolute path, with its arguments.
        folder: its working directory, which is also the label of all that it starts.
        log: takes its standard error, and its standard output if nobody reads that.
        environment: more variables, such as keys.
        talks: its standard input and output are pipes.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        log: Path,
        environment: Mapping[str, str] | None = None,
        *,
        talks: bool = False,
    ) -> None:
        with log.open("ab") as written:
            # Unbuffered pipes, a session of its own: a signal of the terminal is for the harness alone.
            self._started = subprocess.Popen(
                [sys.executable, "-IS", str(_LAUNCHER), str(os.getpid()), f"{NAME}={folder}", *command],
                stdin=subprocess.PIPE if talks else subprocess.DEVNULL,
                stdout=subprocess.PIPE if talks else written,
                stderr=written,
                cwd=folder,
                env={**passed(os.environ), **(environment or {})},
                bufsize=0,
                start_new_session=True,
            )
        with ExitStack() as begun:
            begun.enter_context(self._started)
            begun.callback(self._started.kill)
            super().__init__(self._started.pid)
            begun.pop_all()
        self._log = log

    def pause(self) -> None:
        """Stop it, and then the rest of its group; returns when the kernel says that it stands still.

        A signal to all of them at once may stop a child that the first one is starting before it has begun its program;
        and who waits for that in `vfork` never stands still.

        Raises:
            OSError: it does not in time.
        """
        super().pause()
        self._signal_group(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on. Idempotent; the dead do not."""
        if self.paused and not self.dead:
            self._signal_group(signal.SIGCONT)
            self.paused = False

    def terminate(self, limit_s: float) -> bool:
        """Ask it to end, by SIGTERM, and give it time for that; whether it did."""
        self.resume()
        self._signal_group(signal.SIGTERM)
        return self.wait_end(limit_s)

    def kill(self) -> None:
        """Kill what still lives of it and of its group. Idempotent.

        Raises:
            OSError: as of `end`.
        """
        self.end()

    def end(self) -> int:
        """Kill what still lives of it and of its group, and wait until all of that is gone; returns its exit code,
        negative for a signal. Idempotent. It is not reaped before, so that its group can still be signalled.

        Raises:
            OSError: one of them outlives SIGKILL for seconds.
        """
        if self._started.returncode is None:
            try:
                end_group(self.pid)
            finally:
                self._started.wait()
                super().close()
        return self._started.returncode

    def close(self) -> None:
        """End it and free what it took. Idempotent. What outlives SIGKILL keeps nobody from cleaning up the rest."""
        with suppress(OSError):
            self.end()

    def log(self) -> str:
        """All that it has written to its log."""
        return read_end(self._log).decode(errors="replace")

    def last_words(self) -> str:
        """The last line of its log, cut where it is too long."""
        return last_words(self._log)

    def _signal_group(self, number: signal.Signals) -> None:
        # Its pid is its group's as long as it is not reaped, so this can hit nobody else.
        os.killpg(self.pid, number)
