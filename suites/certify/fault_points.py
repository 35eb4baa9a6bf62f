"""What happens at which step outside of something that declares fault points."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from holdfast.harness.spi.errors import Transient


class Crashed(BaseException):
    """Stands for the end of the process; no `except Exception` stops it."""


class FaultPoints:
    """The points of one process, as the `arrive` of its context reports them; the first is number 0.

    Attributes:
        arrived: names of all points so far.
        strikes: number of the point at which something happens; None: nothing does.
        crash: it is the end of the process, and else an error.
        struck: it has happened.
        held: a call has stood still, as `hold` says.
        broken: what was raised while it stood still, which the call may swallow; None: nothing was.
    """

    def __init__(self) -> None:
        self.arrived: list[str] = []
        self.strikes: int | None = None
        self.crash = False
        self.struck = False
        self.held = False
        self.broken: Exception | None = None
        self._meanwhile: Callable[[], object] | None = None

    def arm(self, number: int, *, crash: bool) -> None:
        """Let the point so many points from here strike."""
        self.arrived.clear()
        self.strikes, self.crash, self.struck = number, crash, False

    def hold(self, number: int, meanwhile: Callable[[], object]) -> None:
        """Let a call stand still at the point so many points from here, until something else was done."""
        self.arrived.clear()
        self.strikes, self._meanwhile, self.held, self.broken = number, meanwhile, False, None

    def disarm(self) -> None:
        """Nothing strikes any more."""
        self.strikes = self._meanwhile = None

    @contextmanager
    def passed_over(self) -> Iterator[None]:
        """Points that are arrived at in here neither strike nor count."""
        strikes, self.strikes, arrived = self.strikes, None, len(self.arrived)
        try:
            yield
        finally:
            self.strikes = strikes
            del self.arrived[arrived:]

    def arrive(self, step: str) -> None:
        number = len(self.arrived)
        self.arrived.append(step)
        if number != self.strikes:
            return
        self.strikes = None
        if self._meanwhile is not None:
            meanwhile, self._meanwhile, self.held = self._meanwhile, None, True
            try:
                meanwhile()
            except Exception as error:
                self.broken = error
                raise
        else:
            self.struck = True
            raise Crashed if self.crash else Transient(f"no answer to {step}")
