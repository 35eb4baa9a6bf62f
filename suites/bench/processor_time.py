"""Processor time of a family of processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class _Stat(NamedTuple):
    """What is needed of /proc/PID/stat."""

    process: int
    parent: int
    ticks: int


def spent_s(ancestor: int, *, without_ancestor: bool = False) -> float:
    """Processor time in seconds that a process and its living descendants have used so far.

    A descendant that ended counts once its parent has heard of it.

    Args:
        ancestor: the process.
        without_ancestor: its own time does not count.
    """
    stats = {stat.process: stat for stat in _stats()}
    family = {ancestor}
    grown = True
    while grown:  # a child may have a lower number than its parent, so one pass is not enough
        children = {stat.process for stat in stats.values() if stat.parent in family} - family
        family |= children
        grown = bool(children)
    if without_ancestor:
        family.discard(ancestor)
    return sum(stats[process].ticks for process in family if process in stats) / _TICKS_PER_SECOND


def _stats() -> Iterator[_Stat]:
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it ended meanwhile
            # The name may hold spaces and brackets: what counts begins behind the last bracket.
            fields = path.read_text().rpartition(")")[2].split()
            yield _Stat(int(path.parent.name), int(fields[1]), sum(map(int, fields[11:15])))
