"""Who owns the committed reader: a process of its own, spoken to in lines."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from holdfast.harness.adapter.child import LONGEST_LINE_BYTES, Child, wait_for

LAST = b"last"
"""The line that asks for the last look."""


class ReaderOwner:
    """Starts the reader, hears it, and lets it look for the last time. Subclasses take what it says.

    Args:
        module: that the process runs.
        settings: the first line that it is sent.
        folder: where it works; also its label, by which it is found after a killed harness.
        log: takes its standard error.
        stop: what stands behind its last words, where these are no sentence.
        longest: line that it may say, in bytes.

    Attributes:
        last_look_limit_s: how long its last look may take.
        child: the process.
        finished: it has said all that it had to; set by `take`.
        problem: why the run says nothing; empty while all is well.
    """

    last_look_limit_s: ClassVar[float] = 60.0

    def __init__(
        self,
        module: str,
        settings: bytes,
        folder: Path,
        log: Path,
        stop: str = "",
        longest: int = LONGEST_LINE_BYTES,
    ) -> None:
        self._stop = stop
        self.finished = False
        self.problem = ""
        # Safe: only what is installed, or on PYTHONPATH, is imported before the settings say where else to look.
        self.child = Child([sys.executable, "-P", "-m", module], folder, log, longest=longest)
        self.child.send(settings)

    def take(self, line: bytes) -> None:
        """It says this."""
        raise NotImplementedError

    def hear(self) -> None:
        """Take what it says."""
        self.child.flush()
        for line in self.child.lines():
            self.take(line)
        if self.child.ended and not self.finished:
            self.child.end()
            self.problem = self.problem or f"the committed reader ended: {self.child.last_words()}{self._stop}"

    def wait(self, done: Callable[[], bool], limit_s: float, late: str) -> None:
        """Hear it until something is done, or there is a problem.

        Args:
            done: whether it is.
            limit_s: how long that may take.
            late: the problem, if it takes longer.
        """
        until_s = time.monotonic() + limit_s
        while not (self.problem or done()):
            left_s = until_s - time.monotonic()
            if left_s <= 0:
                self.problem = late
                return
            wait_for([self.child], left_s)
            self.hear()

    def finish(self) -> None:
        """Let it look once more, at everything, and end."""
        self.child.send(LAST)
        late = f"the committed reader did not finish within {self.last_look_limit_s:.0f} s."
        self.wait(lambda: self.finished, self.last_look_limit_s, late)

    def close(self) -> None:
        """End it. Idempotent."""
        self.child.close()
