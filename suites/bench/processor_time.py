"""Processor time of a family of processes."""

from __future__ import annotations

import os

from holdfast.harness.adapter.process_stat import descendants, process_stat

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def spent_s(ancestor: int, *, without_ancestor: bool = False) -> float:
    """Processor time in seconds that a process and its living descendants have used so far.

    A descendant that ended counts once its parent has heard of it.

    Args:
        ancestor: the process.
        without_ancestor: its own time does not count.
    """
    family = descendants(ancestor) if without_ancestor else [ancestor, *descendants(ancestor)]
    stats = map(process_stat, family)
    return sum(stat.ticks for stat in stats if stat is not None) / _TICKS_PER_SECOND  # Else it has ended meanwhile
