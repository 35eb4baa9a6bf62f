"""How long the machine kept processes of the run waiting, for bounds in real time.

A bound on a real machine counts only the time in which no process had to wait for the machine. On the simulator, and
where stalls were not measured, there are none, and a bound is what it is.
"""

from __future__ import annotations

from bisect import bisect_right

from holdfast.harness.model.events import MachineStalled
from holdfast.harness.model.history import History

TOO_BUSY = "This machine was too busy"
"""How every sentence begins that leaves something open for this cause."""


class Stalls:
    """The stretches of one history."""

    def __init__(self, history: History) -> None:
        measured = history.of(MachineStalled)
        self._stretches = sorted((event.time_ns, event.since_ns, event.stalled_ns) for event in measured)
        self._longest_ns = max((end_ns - since_ns for end_ns, since_ns, _ in self._stretches), default=0)

    def __bool__(self) -> bool:
        return bool(self._stretches)

    def within_ns(self, start_ns: int, end_ns: int) -> int:
        """For how long at most something that had to be done between two times can have waited for a processor or a
        disk."""
        total_ns, covered_ns = 0, start_ns
        for place in range(bisect_right(self._stretches, (start_ns,)), len(self._stretches)):
            stretch_end_ns, since_ns, stalled_ns = self._stretches[place]
            if stretch_end_ns - self._longest_ns >= end_ns:
                break
            overlap_ns = min(stretch_end_ns, end_ns) - max(since_ns, covered_ns)
            if overlap_ns > 0:
                total_ns += min(stalled_ns, overlap_ns)
                covered_ns = min(stretch_end_ns, end_ns)
        return total_ns
