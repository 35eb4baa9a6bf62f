"""Processor time of a family of processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from holdfast.harness.adapter.process_stat import ProcessStat, process_stat

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def spent_s(ancestor: int, *, without_ancestor: bool = False) -> float:
    """Processor time in seconds that a process and its living descendants have used so far.

    A descendant that ended counts once its parent has heard of it.

    Args:
        ancestor: the process.
        without_ancestor: its own time does not count.
    """
    stats = dict(_stats())
    family = {ancestor}
    grown = True
    while grown:  # a child may have a lower number than its parent, so one pass is not enough
        children = {process for process, stat in stats.items() if stat.parent in family} - family
        family |= children
        grown = bool(children)
    if without_ancestor:
        family.discard(ancestor)
    return sum(stats[process].ticks for process in family if process in stats) / _TICKS_PER_SECOND


def _stats() -> Iterator[tuple[int, ProcessStat]]:
    for folder in Path("/proc").glob("[0-9]*"):
        stat = process_stat(int(folder.name))
        if stat is not None:  # else it ended meanwhile
            yield int(folder.name), stat
