"""How many cases run at a time on a tier where runs mostly wait: more than there are processors, while none of them has
to wait for one."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model.case import Tier
from holdfast.harness.model.journal import RunResult
from holdfast.harness.spi.system import SideBySide, System

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
        """There is less room than there seemed to be."""
        self.value, self._calm = max(1, self.value - 1), 0
