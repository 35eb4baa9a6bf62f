"""What is measured again and again beside a run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


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
