"""What is measured again and again beside a run."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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
