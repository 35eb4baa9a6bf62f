"""A `holdfast` command as a process, and everything that it started, found by a label in the environment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from uuid import uuid4

import msgspec

from holdfast.harness.adapter.process import process_stat
from holdfast.harness.label import variables_of
from holdfast.harness.spi.surroundings import PASSED_ON

COMMAND = ("-m", "holdfast.harness.cli")
LABEL = "HOLDFAST_ABUSED"
LIMIT_S = 60.0
GONE_LIMIT_S = 30.0
"""Far more than even a busy machine needs; who has gone is waited for no longer."""
LOOK_S = 0.04
"""To look at every process of the machine more often than that takes the processor that the command needs."""


class LivingProcess(msgspec.Struct, frozen=True):
    """A process that is not a zombie. `state` is the letter of proc(5)."""

    pid: int
    state: str
    command: str


class Invocation:
    """One run of a program in a session of its own; `close` ends whatever is left."""

    def __init__(
        self,
        *arguments: str | Path,
        log: Path,
        program: tuple[str, ...] = COMMAND,
        environment: Mapping[str, str] = {},
    ) -> None:
        label = uuid4().hex
        self._label = f"{LABEL}={label}".encode()
        self._log = log
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, *program, *map(str, arguments)],
                env={**os.environ, LABEL: label, PASSED_ON: LABEL, **environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def said(self) -> str:
        """Its standard output and error."""
        return self._log.read_text(errors="replace")

    @property
    def pid(self) -> int:
        """Of the command itself."""
        return self._process.pid

    def living(self) -> list[LivingProcess]:
        """What lives of it and of everything below it. A program that has only just begun shows no environment yet."""
        pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
        own = None if self._process.poll() is not None else self.pid
        found = (_process(pid) for pid in pids if pid == own or self._label in variables_of(pid))
        return [process for process in found if process is not None]

    def wait_until(self, condition: Callable[[], object]) -> None:
        """Wait for something that the command does."""
        deadline = time.monotonic() + LIMIT_S
        while not condition():
            assert self._process.poll() is None, f"it ended before: {self.said()}"
            assert time.monotonic() < deadline, f"not seen: {self.living()} {self.said()}"
            time.sleep(LOOK_S)

    def wait_until_one_is_paused(self) -> None:
        """Wait until a fault has stopped one of its processes."""
        self.wait_until(lambda: any(process.state == "T" for process in self.living()))

    def wait_gone(self, *commands: str) -> None:
        """Wait until none of its processes runs one of these any more."""
        deadline = time.monotonic() + GONE_LIMIT_S
        while any(command in process.command for process in self.living() for command in commands):
            assert time.monotonic() < deadline, f"still there: {self.living()}"
            time.sleep(LOOK_S)

    def send(self, *numbers: signal.Signals, group: bool = False) -> None:
        """Send it signals, one directly behind the other."""
        for number in numbers:
            (os.killpg if group else os.kill)(self._process.pid, number)

    def exit_code(self) -> int:
        """How it ended; waits for it."""
        return self._process.wait(LIMIT_S)

    def left(self) -> list[LivingProcess]:
        """What still lives when everything has had time to go."""
        deadline = time.monotonic() + GONE_LIMIT_S
        while (living := self.living()) and time.monotonic() < deadline:
            time.sleep(LOOK_S)
        return living

    def close(self) -> None:
        """End what is left."""
        for process in self.living():
            os.kill(process.pid, signal.SIGKILL)
        self._process.wait(LIMIT_S)


def _process(pid: int) -> LivingProcess | None:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return None
    stat = process_stat(pid)
    return None if stat is None or stat.state in "ZX" else LivingProcess(pid, stat.state, command)
