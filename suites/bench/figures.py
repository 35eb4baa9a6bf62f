"""What every benchmark does with its figures: centre, spread, a table, and how busy the machine was.

The spread is half the distance between the lowest and the highest repeat; with three repeats nothing finer means much.
"""

from __future__ import annotations

import os
import statistics
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import ceil

from holdfast.harness.adapter.process import descendants, process_stat


def median(sample: Sequence[float]) -> float:
    """The middle; not a number where nothing was measured."""
    return statistics.median(sample) if sample else float("nan")


def percentile(sample: Sequence[float], percent: float) -> float:
    """The smallest value that so many percent of the sample do not exceed: a value that was really seen."""
    if not sample:
        return float("nan")
    ordered = sorted(sample)
    return ordered[max(0, ceil(len(ordered) * percent / 100) - 1)]


def with_spread(sample: Sequence[float], digits: int = 2) -> str:
    """Median and half the range, such as `1.43 ± 0.05`."""
    if not sample:
        return "-"
    spread = (max(sample) - min(sample)) / 2
    return f"{median(sample):.{digits}f} ± {spread:.{digits}f}"


def number(value: float, digits: int = 2) -> str:
    """A figure, or a dash where it could not be had."""
    return "-" if value != value else f"{value:,.{digits}f}"


def load() -> str:
    """How busy the machine was in the last minute, and with how many cores: figures of a busy machine are low."""
    return f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, so that it can be copied into a README as it is. Figures are set to the right."""
    widths = [max(len(row[index]) for row in (columns, *rows)) for index in range(len(columns))]

    def line(cells: Sequence[str]) -> str:
        first, *others = cells
        aligned = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))]
        return f"| {' | '.join(aligned)} |"

    rule = f"|{'-' * (widths[0] + 2)}|{'|'.join('-' * (width + 1) + ':' for width in widths[1:])}|"
    return "\n".join([title, "", line(columns), rule, *map(line, rows)])


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


@contextmanager
def repeated(measure: Callable[[], None], every_s: float) -> Iterator[None]:
    """Measure on a thread of its own, while the context lasts.

    Args:
        measure: takes one sample.
        every_s: seconds between the end of one and the beginning of the next.
    """
    over = threading.Event()

    def sample() -> None:
        while not over.wait(every_s):
            measure()

    sampler = threading.Thread(target=sample)
    sampler.start()
    try:
        yield
    finally:
        over.set()
        sampler.join()
