"""What ends a process early. Signals take effect between any two steps of a run, so that everything is healed and ended
before the process ends: after the first one, what is under way may complete, for a while; a second one, of any kind,
aborts it. A hanging call is abandoned at once, because an ordinary end waits for every thread.
"""

from __future__ import annotations

import atexit
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic  # noqa: TID251 - how far apart two signals are; no run depends on it
from types import FrameType

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
EXIT_CODE_BASE = 128
ONE_PRESS_S = 0.5
"""Ctrl-C often comes twice, from the terminal and from whoever started us: so close together it counts once."""
GRACE_S = 3.0
"""How long what is under way may take to come to an end, before it is broken off as by a second signal."""
_heard: list[int] = []


def any_heard() -> bool:
    """Whether a signal came, in any handler."""
    return bool(_heard)


class Interruption:
    """The state of an early end: by a signal, or because the harness cannot go on.

    Attributes:
        signal: name of the signal that came first; empty while none did.
        broken: why the harness itself cannot go on, one sentence; empty: it can.
        dropped: whether what is under way is broken off.
        alarms: whether the handler of alarms is ours.
        followers: called at once with the number of every signal that comes.
    """

    def __init__(self) -> None:
        self.signal = ""
        self.dropped = False
        self.broken = ""
        self.followers: list[Callable[[int], None]] = []
        self.alarms = False
        self._began_s = 0.0
        self._breakable = False

    def reason(self) -> str:
        """Why to end early, or an empty text."""
        return f"interrupted by {self.signal}" if self.signal else self.broken

    def give_up(self, why: str) -> None:
        """End early without a signal, because the harness itself cannot go on; the first reason stays."""
        if not self.reason():
            self.broken = why
            self._begin_grace()
            for tell in self.followers:
                tell(signal.SIGTERM)

    @property
    def exit_code(self) -> int:
        return EXIT_CODE_BASE + signal.Signals[self.signal].value

    def hear(self, number: int, _frame: FrameType | None) -> None:
        _heard.append(number)
        for tell in self.followers:
            tell(number)
        if not self.signal:
            self.signal = signal.Signals(number).name
            self._begin_grace()
        elif self.since_s > ONE_PRESS_S:
            self._drop()

    def grace_over(self, number: int, _frame: FrameType | None) -> None:
        """Handle the alarm: the time for an orderly end is over."""
        _heard.append(number)
        for tell in self.followers:
            tell(signal.SIGTERM)
        self._drop()

    @property
    def since_s(self) -> float:
        """Seconds since the first signal came, or the harness gave up; 0: neither."""
        return monotonic() - self._began_s if self.reason() else 0.0

    def _begin_grace(self) -> None:
        self._began_s = monotonic()
        if self.alarms:
            signal.setitimer(signal.ITIMER_REAL, GRACE_S)

    def _drop(self) -> None:
        self.dropped = True
        if self._breakable:
            self._breakable = False
            raise KeyboardInterrupt

    @contextmanager
    def breakable(self) -> Iterator[None]:
        """Within, a second signal does not wait for the next step: KeyboardInterrupt, once.

        Elsewhere it changes nothing, so that what heals, ends and writes is done to its end.
        """
        self._breakable = True
        try:
            yield
        finally:
            self._breakable = False


class OwnSignals:
    """The handler of signals outside of a command: each ends the process with 128 + its number.

    Before a command begins and behind its end, at once: nothing is to be undone there.
    """

    def __init__(self) -> None:
        self._number = 0
        self._heard_s = 0.0
        self._breaks = False

    @property
    def exit_code(self) -> int:
        """After the first one; 0: none came."""
        return EXIT_CODE_BASE + self._number if self._number else 0

    def hear(self, number: int, _frame: FrameType | None) -> None:
        _heard.append(number)
        again_s = monotonic() - self._heard_s if self._number else ONE_PRESS_S
        self._number = self._number or number
        if not self._breaks:
            os._exit(self.exit_code)
        if again_s >= ONE_PRESS_S:
            self._heard_s = monotonic()
            raise KeyboardInterrupt

    @contextmanager
    def breaking(self) -> Iterator[None]:
        """Within, a command runs: KeyboardInterrupt ends it, so that it closes what it opened."""
        self._breaks = True
        try:
            try:
                yield
            finally:
                self._breaks = False
        except KeyboardInterrupt:
            self._breaks = False


def heard_from_now_on() -> OwnSignals:
    """Install that handler for the signals that ask this process to end, in this process and none that it forks.

    SIGHUP stays ignored under nohup.
    """
    own = OwnSignals()
    before = {number: signal.signal(number, own.hear) for number in _unignored()}

    def forget() -> None:
        for number, handler in before.items():
            if signal.getsignal(number) == own.hear:
                signal.signal(number, handler)

    os.register_at_fork(after_in_child=forget)
    # Last of all Python takes its handlers away, and a signal would end the process instead of its exit code.
    atexit.register(signal.pthread_sigmask, signal.SIG_BLOCK, list(before))
    return own


@contextmanager
def listening() -> Iterator[Interruption]:
    """Handle the signals that ask a process to end, where the platform has them. SIGHUP stays ignored under nohup."""
    interruption = Interruption()
    before = {number: signal.signal(number, interruption.hear) for number in _unignored()}
    before[signal.SIGALRM] = signal.signal(signal.SIGALRM, interruption.grace_over)
    interruption.alarms = True
    try:
        yield interruption
    finally:
        if interruption.reason():
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


def leave_to_parent() -> None:
    """For a worker process: ignore signals to the process group, as the parent handles them and ends this process."""
    for number in signals():
        signal.signal(number, signal.SIG_IGN)


def _unignored() -> list[signal.Signals]:
    """The signals to handle: without SIGHUP under nohup."""
    return [each for each in signals() if each.name != "SIGHUP" or signal.getsignal(each) is not signal.SIG_IGN]


def signals() -> list[signal.Signals]:
    """The signals that ask a process to end, as far as the platform has them."""
    return [signal.Signals[name] for name in _SIGNALS if name in signal.Signals.__members__]


_hanging: list[str] = []


def note_hanging(what: str) -> None:
    """Note a call that does not return, and that is not waited for any more."""
    _hanging.append(what)


def hanging_calls() -> Sequence[str]:
    """All such calls so far."""
    return tuple(_hanging)
