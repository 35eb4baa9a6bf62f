"""Commands that run code which does not ship with Holdfast do so in a process of their own.

The process runs the same command line, and reports its exit code over a pipe: how the process itself ends is the part's
doing, is shown by name and call, and never becomes the exit code of the command.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from signal import SIGKILL, Signals
from threading import Thread
from time import monotonic, sleep  # noqa: TID251 - how long a part is silent; no run depends on it
from typing import IO

from rich.text import Text

from holdfast.harness.commands import console as consoles
from holdfast.harness.commands.own_process import here, run_ended
from holdfast.harness.commands.standard_streams import LastingStream, restore
from holdfast.harness.engine.artefacts.sweep import sweep_lost
from holdfast.harness.engine.certification.apart_process import begin, blame
from holdfast.harness.engine.certification.last_call import ASK, last_call
from holdfast.harness.engine.errors import HARNESS_ERROR
from holdfast.harness.engine.site.interruption import EXIT_CODE_BASE, Interruption, listening
from holdfast.harness.engine.site.services import sweep_services
from holdfast.harness.label import NAME as LABEL
from holdfast.harness.label import label_of, labelled
from holdfast.harness.lease import Lease
from holdfast.harness.lease import sweep as sweep_leases
from holdfast.harness.model.status import OUTCOME_STYLES
from holdfast.harness.model.verdict import Outcome

PROGRAM = "from holdfast.harness.cli.apart import main; main()"
LIMIT_S = 1_800.0
"""How long one run may take, unless the user sets another limit."""
OUTPUT_LIMIT_BYTES = 2**20
"""What is passed on of what is written to standard error, the part's words among it."""
END_LIMIT_S = 10.0
"""How long the process may take to end after a signal."""
POOL_LIMIT_S = 4 * 3_600.0
"""How long a command may say nothing whose own workers have limits of their own."""
POOL_END_LIMIT_S = 60.0
"""How long such a command may take to end after a signal, and to write what is finished."""
_LOOK_S = 0.1
_ANSWER_S = 0.5
_LEAVING_S = 2.0
_MOST_BYTES = 64
"""Of one message."""
_CODES = frozenset((*range(HARNESS_ERROR + 1), *(EXIT_CODE_BASE + number for number in Signals)))
_LAST_CALL = "last-call"
_FIXTURES = Path(__file__).parents[2] / "fixtures"
"""What ships with Holdfast and calls parts."""


def runs_apart(names: Sequence[str], out: Path, limit_s: float | None) -> int | None:
    """Run the command in a process of its own, if it runs what does not ship with Holdfast; its exit code. None: it
    runs here, because nothing such is named, or because this is that process.

    Args:
        names: of what does not ship, as `module:name`.
        out: below which what a lost process left is undone.
        limit_s: how long one run may take; None: LIMIT_S.
    """
    if here.reports is not None:
        run_ended()  # What had to be imported counts no more.
    if not names or here.reports is not None:
        return None
    with listening() as interruption:
        return _Apart(names, out, limit_s or LIMIT_S, interruption).run()


def run_apart(names: Sequence[str], out: Path) -> int:
    """Run the command in a process of its own, which has workers, or runs little; its exit code.

    Args:
        names, out: as of `runs_apart`.
    """
    with listening() as interruption:
        return _Apart(names, out, POOL_LIMIT_S, interruption, POOL_END_LIMIT_S).run()


def say(outcome: Outcome, sentence: str) -> int:
    """Print what became of a command, and give its exit code."""
    console = consoles.results()
    console.print(Text(outcome.value.upper(), OUTCOME_STYLES[outcome]) + Text(f": {sentence}"))
    return consoles.EXIT_CODES[outcome]


class _Apart:
    """The process, seen from the one that waits for it."""

    def __init__(
        self,
        names: Sequence[str],
        out: Path,
        limit_s: float,
        interruption: Interruption,
        end_limit_s: float = END_LIMIT_S,
    ) -> None:
        self._names = ", ".join(names)
        self._out = out
        self._limit_s, self._own_limit_s, self._end_limit_s = LIMIT_S, limit_s, end_limit_s
        self._interruption = interruption
        self._temporary = Lease("kit")
        self._folder = self._temporary.room
        self._heard_s = monotonic()
        self._hangs = self._disturbed = False
        self._code: int | None = None
        arguments = [str(self._folder / _LAST_CALL), ",".join(names), *here.arguments]
        environment = {**os.environ, LABEL: str(self._temporary.folder)}  # noqa: TID251 - the edge
        restore()  # The result comes from there, which keeps what else is printed apart from it.
        self._process, self._connection = begin(PROGRAM, arguments, environment, stderr=subprocess.PIPE)

    def run(self) -> int:
        assert self._process.stderr is not None
        words = Thread(target=_pass_on, args=(self._process.stderr,), daemon=True)
        words.start()
        self._interruption.followers.append(self._process.send_signal)
        try:
            while self._process.poll() is None:
                self._listen()
            self._listen()
            left = self._end_the_rest()
            words.join(END_LIMIT_S)
            return self._exit_code(left)
        finally:
            self._interruption.followers.remove(self._process.send_signal)
            self._connection.close()
            self._process.stderr.close()
            self._temporary.end_processes()
            self._temporary.close()

    def _listen(self) -> None:
        try:
            while self._connection.poll(_LOOK_S):
                self._take(self._connection.recv_bytes(_MOST_BYTES))
        except EOFError:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_LOOK_S)
        except (OSError, ValueError):
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_ANSWER_S)
            self._disturbed = self._process.poll() is None
            self._process.kill()
        late = self._interruption.since_s > self._end_limit_s
        if monotonic() - self._heard_s > self._limit_s or late or self._code is not None:
            if self._code is None:
                self._hangs = not late
                self._process.send_signal(ASK)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_ANSWER_S)
            self._process.kill()

    def _take(self, message: bytes) -> None:
        """Take a message: an exit code, or that a run is over. Others are ignored: a part may have written them.

        Raises:
            ValueError: it is neither.
        """
        if message and int(message) not in _CODES:
            raise ValueError(message)
        self._heard_s, self._limit_s = monotonic(), self._own_limit_s
        self._code = int(message) if message else self._code

    def _end_the_rest(self) -> bool:
        """Whether the process left others behind, which are ended."""
        began_s = monotonic()
        while _lives(self._process.pid) or self._detached():
            if monotonic() - began_s > _LEAVING_S:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, SIGKILL)
                self._temporary.end_processes()
                return True
            sleep(_LOOK_S)
        return False

    def _detached(self) -> bool:
        """Whether others live on that have left its group, and have its label all the same."""
        label = self._temporary.folder
        return any(label_of(pid) == label for pid in labelled(label))

    def _exit_code(self, left: bool) -> int:
        if self._code is None:
            self._temporary.end_processes()
            list(sweep_leases())  # Workers of it have labels of their own; what they ran is over behind that.
            sweep_lost(self._out)
            sweep_services()
        if self._interruption.signal:
            return self._interruption.exit_code
        if self._code is None:
            return self._lost()
        if self._code > EXIT_CODE_BASE:
            name = Signals(self._code - EXIT_CODE_BASE).name
            return say(Outcome.FAIL, f"{self._names} sent its own process {name}")
        if left and self._code in (0, 2):
            return say(Outcome.FAIL, f"{self._names} left processes behind, which were ended")
        return self._code

    def _lost(self) -> int:
        code = self._process.returncode
        call = last_call(self._folder / _LAST_CALL, _FIXTURES)
        silent_s = self._limit_s if self._hangs else None
        sentence, certain = blame(self._names, code, call, silent_s, disturbed=self._disturbed)
        return say(Outcome.FAIL if certain else Outcome.INCONCLUSIVE, sentence)


def _lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _pass_on(words: IO[bytes]) -> None:
    """Pass standard error of the process on, up to a limit; the rest is read, so that the process never blocks."""
    left, error = OUTPUT_LIMIT_BYTES, LastingStream(sys.stderr)
    while chunk := os.read(words.fileno(), 2**16):
        if left > 0:
            error.write(chunk[:left].decode(errors="replace"))
            error.flush()
            left -= len(chunk)
            if left <= 0:
                error.write(f"\nholdfast: more than {OUTPUT_LIMIT_BYTES:,} bytes were written; the rest is left out.\n")
