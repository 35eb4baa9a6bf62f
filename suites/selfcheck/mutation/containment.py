"""Errors and hangs of a mutated protocol on the simulator: they end or stop the process that has them, as on a machine.

The simulator lets an error of the protocol through, for whoever works on it. Here it is the system under test that
fails, so the run goes on without that process, and the oracles judge what comes of it.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any


class Hung(BaseException):
    """One delivery took longer than a run may take."""


class Containment:
    """Holds the nodes of the simulator so that neither errors nor hangs leave them.

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

    def install(self) -> None:
        """Only for a process that ends soon: classes of the simulator are changed."""
        from holdfast.fixtures.reference.drivers.simulated.nodes import ProcessNode

        for name in ("deliver", "release", "resume"):
            setattr(ProcessNode, name, self._contained(getattr(ProcessNode, name)))
        signal.signal(signal.SIGPROF, self._interrupt)

    def begin_run(self) -> None:
        """From now on the next run's time is measured."""
        self.crashes, self.hangs, self._late = [], 0, False
        signal.setitimer(signal.ITIMER_PROF, self.run_cpu_s, self.run_cpu_s)

    def end_run(self) -> None:
        """Nothing is measured any more."""
        signal.setitimer(signal.ITIMER_PROF, 0)

    def _interrupt(self, number: int, frame: Any) -> None:
        self._late = True
        if self._inside:
            raise Hung

    def _contained(self, original: Callable[..., None]) -> Callable[..., None]:
        def contained(node: Any, *arguments: Any) -> None:
            if self._inside:  # a node that is delivered to in the middle of another delivery
                original(node, *arguments)
                return
            try:
                self._inside = True
                if self._late:
                    raise Hung
                original(node, *arguments)
                self._inside = False
            except Hung:
                self._inside = self._late = False
                self.hangs += 1
                node.paused = True
            except Exception as error:
                self._inside = False
                self.crashes.append(f"{type(error).__name__}: {error}")
                node.held = None
                node.die(f"crashed: {type(error).__name__}")

        return contained
