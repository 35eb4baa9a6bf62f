"""Programs that a benchmark starts: on its own cores, and never outliving it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from holdfast.suites.bench.figures import spent_s

END_LIMIT_S = 10.0


def pinned(command: Sequence[str], cores: Sequence[int]) -> list[str]:
    """The command that runs another on these cores only and lets it die with whoever started it."""
    listed = ",".join(map(str, cores))
    return ["setpriv", "--pdeathsig", "KILL", "taskset", "-c", listed, *command]


def run_script(main: Callable[[], object]) -> None:
    """Run a benchmark: what goes wrong is one sentence, and SIGTERM ends it as an interruption does, so that what it
    started is ended and its folders are removed."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        main()
    except OSError as error:
        sys.exit(str(error))


class Child:
    """A program that runs beside the benchmark, in a session of its own so that its descendants end with it."""

    def __init__(self, command: Sequence[str], cores: Sequence[int], environment: Mapping[str, str], log: Path) -> None:
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                pinned(command, cores),
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.poll() is None

    def spent_s(self) -> float:
        """Processor time that it and its descendants have used so far."""
        return spent_s(self._process.pid)

    def end(self) -> None:
        """End it with all that it started; safe to call twice."""
        for sign in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError, PermissionError):
                self._signal(sign)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(END_LIMIT_S)

    def _signal(self, sign: signal.Signals) -> None:
        os.killpg(self._process.pid, sign)


def answer(command: Sequence[str], cores: Sequence[int], environment: Mapping[str, str], limit_s: float) -> str:
    """What a program prints that ends by itself.

    Raises:
        OSError: it failed or took too long.
    """
    try:
        done = subprocess.run(
            pinned(command, cores),
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise OSError(f"{command[0]} did not end within {limit_s:.0f} s.") from None
    if done.returncode:
        raise OSError(f"{' '.join(command[:3])} failed:\n{done.stderr.strip()[-2000:]}")
    return done.stdout
