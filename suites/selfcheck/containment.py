"""Errors and hangs of a wrong protocol on the simulator: they end or stop the process that has them, as on a machine.

An error of the protocol ends its process by itself. What is contained here are errors that a driver has with effects
that make no sense, and hangs: the run goes on without that process, and the oracles judge what comes of it.
"""

from __future__ import annotations

import gc
import signal
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.site.registry import Toolbox
from holdfast.harness.model.events import NodeDied
from holdfast.harness.model.plan import Plan
from holdfast.harness.spi.system import System

ENTRIES = ("deliver", "release", "resume")
"""By which a process of the simulator is made to do something."""


class Hung(BaseException):
    """A process took longer in one run than a run may take."""


class Containment:
    """Keeps errors and hangs inside the nodes of the simulator.

    Args:
        run_cpu_s: processor time of one run after which the process in hand counts as hung.

    Attributes:
        crashes: what ended processes in the run in hand.
        hangs: how many were stopped in it.
    """

    def __init__(self, run_cpu_s: float) -> None:
        self.run_cpu_s = run_cpu_s
        self.crashes: list[str] = []
        self.hangs = 0
        self._inside = False
        self._late = False

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Nodes of the simulator are held while the context lasts. The main thread only."""
        # Loaded late: whoever tries a mutant loads the runtime after everything else.
        from holdfast.fixtures.reference.drivers.simulated.host import Host

        originals = {name: getattr(Host, name) for name in ENTRIES}
        former = signal.signal(signal.SIGPROF, self._interrupt)
        for name, original in originals.items():
            setattr(Host, name, self._contained(original))
        try:
            yield
        finally:
            for name, original in originals.items():
                setattr(Host, name, original)
            signal.signal(signal.SIGPROF, former)

    def run(self, plan: Plan, system: System, tools: Toolbox) -> Run:
        """Run a plan; what the harness itself raises is let through."""
        self.crashes, self.hangs, self._late, self._inside = [], 0, False, False
        signal.setitimer(signal.ITIMER_PROF, self.run_cpu_s, self.run_cpu_s)
        try:
            run = run_plan(plan, system, tools)
            self.crashes = [death.cause for death in run.history.of(NodeDied) if death.by_error]
            return run
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    @property
    def ended(self) -> str:
        """What ended or stopped processes in the last run; empty if nothing did."""
        return "; ".join([*dict.fromkeys(self.crashes), *["a hang"] * bool(self.hangs)][:3])

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self._late = True
        # What is raised there is lost: the next signal, or the next delivery, stops the process then.
        if self._inside and not _loses_errors(frame):
            raise Hung

    def _contained(self, original: Callable[..., None]) -> Callable[..., None]:
        def contained(host: Any, *arguments: Any) -> None:
            if self._inside:  # delivered to in the middle of another delivery
                original(host, *arguments)
                return
            try:
                self._inside = True
                if self._late:
                    raise Hung
                original(host, *arguments)
                self._inside = False
            except Hung:
                self._inside = self._late = False
                self.hangs += 1
                host.paused = True
            except Exception as error:
                self._inside = False
                host.die(f"{type(error).__name__}: {error}", by_error=True)

        return contained


def _loses_errors(frame: FrameType | None) -> bool:
    """Whether a finalizer or a callback of the garbage collector runs, or something that it called."""
    callbacks = {getattr(callback, "__code__", None) for callback in gc.callbacks}
    while frame is not None:
        code = frame.f_code
        if code.co_filename == weakref.__file__ or code.co_name == "__del__" or code in callbacks:
            return True
        frame = frame.f_back
    return False
