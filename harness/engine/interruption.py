"""Signals: heard between any two steps of a run, so that everything is healed and ended before the process goes."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
EXIT_CODE_BASE = 128


class Interruption:
    """Which signal asked to end early.

    Attributes:
        signal: name of the signal that was heard first; empty while none was.
    """

    def __init__(self) -> None:
        self.signal = ""

    def reason(self) -> str:
        """Why to end early, or an empty text."""
        return f"interrupted by {self.signal}" if self.signal else ""

    @property
    def exit_code(self) -> int:
        return EXIT_CODE_BASE + signal.Signals[self.signal].value

    def hear(self, number: int, _frame: FrameType | None) -> None:
        """The handler. A second Ctrl-C does not wait for the next step."""
        if self.signal and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.signal = self.signal or signal.Signals(number).name


@contextmanager
def listening() -> Iterator[Interruption]:
    """Hear the signals that ask a process to end, as far as the platform has them."""
    interruption = Interruption()
    numbers = [signal.Signals[name] for name in _SIGNALS if name in signal.Signals.__members__]
    before = {number: signal.signal(number, interruption.hear) for number in numbers}
    try:
        yield interruption
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
