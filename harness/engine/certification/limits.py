"""The limits of a certification: nothing begins after its time limit, and so many cases run at a time on a tier where
runs mostly wait: more than there are processors, while none of them has to wait for one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic  # noqa: TID251 - budget and duration of the whole; no run depends on it

from holdfast.harness.model.case import Tier
from holdfast.harness.model.journal import RunResult
from holdfast.harness.spi.system import SideBySide, System


class TimeLimit:
    """Counts from now on.

    Args:
        budget_s: the whole time; None: there is no limit.
        elapsed_s: what earlier invocations used of it.

    Attributes:
        halved: whether the second half is left to cases that wait.
    """

    def __init__(self, budget_s: float | None, elapsed_s: float = 0.0) -> None:
        self.halved = False
        self._budget_s = budget_s
        self._start_s = monotonic() - elapsed_s

    @property
    def elapsed_s(self) -> float:
        """Since the start."""
        return monotonic() - self._start_s

    @property
    def budget_s(self) -> float | None:
        """What can be used now."""
        return self._budget_s / 2 if self._budget_s is not None and self.halved else self._budget_s

    @property
    def deadline_s(self) -> float | None:
        """When it is over, on the monotonic clock of this machine."""
        return None if self.budget_s is None else self._start_s + self.budget_s

    def late(self) -> bool:
        """Whether it is over."""
        return self.late_by(1)

    def late_by(self, share: float) -> bool:
        """Whether this share of it is over, such as 0.5."""
        return self.budget_s is not None and self.elapsed_s >= self.budget_s * share

    def late_for(self, parts: int) -> Callable[[], bool]:
        """Whether an equal part of the time that is left now is over."""
        if self.budget_s is None:
            return self.late
        end_s = self.elapsed_s + max(0.0, self.budget_s - self.elapsed_s) / parts
        return lambda: self.elapsed_s >= end_s

    def reason(self) -> str:
        """Why nothing begins any more, or an empty text."""
        return f"the time limit of {self.budget_s:.0f} s was reached" if self.late() else ""


FIRST, MOST = 2, 4
"""For each processor, with how many cases it begins, and how many there are at most."""
MOST_STALLED_SHARE = 0.15
"""Of a run, up to which share its processes may wait for a processor. Those of a run that is alone wait for each other,
too: for 0.06 of it on two processors. Cases are over soonest with 0.15 to 0.5, but runs take longer with the latter."""


def first_widths(system: System, processors: int) -> Mapping[Tier, int]:
    """How many cases a certification begins with at a time, by tier, where it uses workers.

    Args:
        system: that is certified.
        processors: that cases may use.
    """
    several = isinstance(system, SideBySide) and Tier.PROCESS in system.side_by_side
    return {Tier.SIM: processors, Tier.PROCESS: Width(processors).value if several else 1, Tier.SPARK: 1}


class Width:
    """The number of cases at a time, as the runs that are over suggest.

    Args:
        processors: that cases may use.

    Attributes:
        value: the number now.
    """

    def __init__(self, processors: int) -> None:
        self.value = FIRST * processors
        self._most = MOST * processors
        self._calm = 0

    def take(self, result: RunResult) -> None:
        """A run is over. One that waited too much for processors takes a place away; as many as there are places
        without one that did add a place."""
        if result.stalled_ms > MOST_STALLED_SHARE * result.wall_ms:
            self.shrink()
            return
        self._calm += 1
        if self._calm >= self.value:
            self.value, self._calm = min(self._most, self.value + 1), 0

    def shrink(self) -> None:
        """Narrow the pool: the machine has less room than assumed."""
        self.value, self._calm = max(1, self.value - 1), 0
