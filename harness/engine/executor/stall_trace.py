"""How long the processes of a run waited for a processor or a disk (oracles.shared.stalls), as Linux reports it thread
by thread: written down stretch by stretch.

Pressure stall information is updated every two seconds only, and does not show who waited. What a thread waited for a
processor is counted exactly. What it waited for a disk is not counted unless the machine is set to, so each look checks
whether the thread is in uninterruptible sleep, as one is that flushes a file.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Protocol

from holdfast.harness.engine.site import machine
from holdfast.harness.model.events import MachineStalled
from holdfast.harness.spi.system import Deployment

REFRESH_NS = 250_000_000
"""How often it is looked up which threads there are."""
_DISK = b"D"
"""The state of a thread that waits for a disk."""


class _Look:
    """What the last look at a thread found."""

    __slots__ = ("at_disk", "ran_ns", "waited_ns")

    def __init__(self) -> None:
        self.ran_ns = 0
        self.waited_ns = 0
        self.at_disk = False


class ThreadWaits:
    """The waiting of this process and of all below it, from one call to the next.

    Threads that are younger than the last look at them count with all that they have waited for a processor. Where the
    operating system does not report it, the result is 0.

    Args:
        now_ns: on whatever clock, as long as it is always the same.
    """

    def __init__(self, now_ns: int) -> None:
        self._root = os.getpid()
        self._files: dict[str, int] = {}
        self._looks: dict[str, _Look] = {}
        self._refreshed_ns = now_ns - REFRESH_NS
        self._looked_ns = now_ns
        self.grown_ns(now_ns)

    def grown_ns(self, now_ns: int) -> int:
        """How long at most the thread that waited longest has waited since the last call.

        Who waits for a disk at either end of that time may have done so in all of it in which it did not run.

        Args:
            now_ns: on the clock of the first call.
        """
        if now_ns - self._refreshed_ns >= REFRESH_NS:
            self._refreshed_ns = now_ns
            self._refresh()
        length_ns, self._looked_ns = now_ns - self._looked_ns, now_ns
        return max((self._look(thread, length_ns) for thread in list(self._files)), default=0)

    def close(self) -> None:
        """Close what is open."""
        for thread in list(self._files):
            self._forget(thread)

    def _look(self, thread: str, length_ns: int) -> int:
        """How long a thread has waited since it was last looked at, that long ago."""
        try:
            ran_ns, waited_ns = map(int, os.pread(self._files[thread], 64, 0).split()[:2])
        except (OSError, ValueError):
            self._forget(thread)
            return 0
        last = self._looks[thread]
        ran_for_ns, waited_for_ns = ran_ns - last.ran_ns, waited_ns - last.waited_ns
        was_at_disk = last.at_disk
        # To ask is dear: who neither ran nor was there cannot be there now
        last.at_disk = (was_at_disk or ran_for_ns > 0) and _at_disk(thread)
        last.ran_ns, last.waited_ns = ran_ns, waited_ns
        if was_at_disk or last.at_disk:
            return max(waited_for_ns, length_ns - ran_for_ns)
        return waited_for_ns

    def _refresh(self) -> None:
        below = [self._root]
        for process in below:
            folder = f"/proc/{process}/task"
            with suppress(OSError):
                for thread in os.listdir(folder):
                    place = f"{folder}/{thread}"
                    with open(f"{place}/children", "rb") as children:
                        below += map(int, children.read().split())
                    if place not in self._files:
                        self._files[place] = os.open(f"{place}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
                        self._looks[place] = _Look()

    def _forget(self, thread: str) -> None:
        os.close(self._files.pop(thread))
        del self._looks[thread]


def _at_disk(thread: str) -> bool:
    """Whether a thread waits for a disk at this moment."""
    try:
        with open(f"{thread}/stat", "rb") as stat:
            return stat.read().rpartition(b")")[2].split()[:1] == [_DISK]
    except OSError:
        return False


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
        """End the measurement."""


class NoStalls:
    """The stalls of a simulated machine: none."""

    def stalled_ms(self) -> float:
        return 0.0

    def note(self) -> None:
        pass

    def close(self) -> None:
        pass


class StallTrace:
    """The stalls of this machine during one run.

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
