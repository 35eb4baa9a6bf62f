"""What this process and all that it has started need: processor time, and memory at one moment."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from holdfast.harness.model.usage import Usage

EVERY_S = 1.0
"""Between two looks at the memory."""
_PROC = Path("/proc")


class UsageMeter:
    """Measures while the context lasts. On a machine without /proc no memory is known, and 0 is reported.

    A page that several processes share counts once, spread over them (PSS of Linux).
    """

    def __init__(self) -> None:
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._measure, daemon=True)
        self._peak_kb = 0
        self._began_s = _processor_s()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    @property
    def usage(self) -> Usage:
        """Since the start. Processor time of a process counts from its end on."""
        return Usage(_processor_s() - self._began_s, self._peak_kb / 1_024)

    def _measure(self) -> None:
        while True:
            self._peak_kb = max(self._peak_kb, sum(map(_memory_kb, _family(os.getpid()))))
            if self._over.wait(EVERY_S):
                return


def _processor_s() -> float:
    """Of this process and of all below it that were waited for."""
    return sum(os.times()[:4])


def _family(ancestor: int) -> list[int]:
    """A process and all below it, at one moment."""
    found = [ancestor]
    for pid in found:  # It grows meanwhile.
        with suppress(OSError):  # It has ended.
            for task in (_PROC / str(pid) / "task").iterdir():
                found += map(int, (task / "children").read_text().split())
    return found


def _memory_kb(pid: int) -> int:
    with suppress(OSError):  # It has ended, or belongs to somebody else.
        for line in (_PROC / str(pid) / "smaps_rollup").read_bytes().splitlines():
            if line.startswith(b"Pss:"):
                return int(line.split()[1])
    return 0
