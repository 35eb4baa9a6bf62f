"""Writes down, stretch by stretch, how long the processes of a run waited for a processor or a disk
(oracles.shared.stalls)."""

from __future__ import annotations

from typing import Protocol

from holdfast.harness.engine.site import machine
from holdfast.harness.engine.site.thread_waits import ThreadWaits
from holdfast.harness.model.events import MachineStalled
from holdfast.harness.spi.system import Deployment

STRETCH_MS = 20
"""The shortest stretch."""
LEAST_NS = 2_000_000
"""Who waits for less than this was in no hurry."""


class MeasuredStalls(Protocol):
    """How long the machine of a run kept somebody waiting."""

    def stalled_ms(self) -> float:
        """For how long, since whenever, something on this machine has waited for a processor or a disk."""

    def note(self) -> None:
        """Write down what was measured. Called between any two steps of the run."""

    def close(self) -> None:
        """No more notes."""


class NoStalls:
    """Those of a simulated machine."""

    def stalled_ms(self) -> float:
        return 0.0

    def note(self) -> None:
        pass

    def close(self) -> None:
        pass


class StallTrace:
    """Those of this machine, for one run.

    Args:
        deployment: takes the record.
    """

    __slots__ = ("_deployment", "_since_ns", "_waits")

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        self._since_ns = int(deployment.now_ms * 1e6)
        self._waits = ThreadWaits(self._since_ns)

    def stalled_ms(self) -> float:
        return machine.stalled_ms()

    def note(self) -> None:
        """End a stretch, if it was long enough."""
        now_ns = int(self._deployment.now_ms * 1e6)
        if now_ns - self._since_ns < STRETCH_MS * 1_000_000:
            return
        stalled_ns = self._waits.grown_ns(now_ns)
        if stalled_ns >= LEAST_NS:
            # A wait for a processor is counted when it is over, and may have begun before the stretch.
            since_ns = max(0, min(self._since_ns, now_ns - stalled_ns))
            self._deployment.record(MachineStalled(since_ns=since_ns, stalled_ns=stalled_ns))
        self._since_ns = now_ns

    def close(self) -> None:
        self._waits.close()
