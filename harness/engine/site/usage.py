"""What this process and all that it has started need: processor time, and memory at one moment."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from holdfast.harness.model.journal import Usage

EVERY_S = 1.0
"""Between two looks at the processes."""
_PROC = Path("/proc")
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class UsageMeter:
    """Measures while the context lasts. On a machine without /proc no memory is known, and 0 is reported.

    A page that several processes share counts once, spread over them (PSS of Linux). Processor time is that of the
    processes that were waited for, or that which was seen of each process that lived, whichever is more: processes that
    a fault kills are not waited for, and some live for less than a look.
    """

    def __init__(self) -> None:
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._measure, daemon=True)
        self._peak_kb = 0
        self._seen_s: dict[tuple[int, str], float] = {}
        self._look()
        self._began_waited_s, self._began_seen_s = _waited_for_s(), sum(self._seen_s.values())

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
        """Since the start."""
        waited_s, seen_s = _waited_for_s() - self._began_waited_s, sum([*self._seen_s.values()]) - self._began_seen_s
        return Usage(max(waited_s, seen_s), self._peak_kb / 1_024)

    def _measure(self) -> None:
        while True:
            self._look()
            if self._over.wait(EVERY_S):
                return

    def _look(self) -> None:
        family = _family(os.getpid())
        self._peak_kb = max(self._peak_kb, sum(map(_memory_kb, family)))
        for pid in family:
            with suppress(OSError):  # It has ended.
                state = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
                self._seen_s[pid, state[19]] = (int(state[11]) + int(state[12])) / _TICKS_PER_S  # [19]: when it began


def _waited_for_s() -> float:
    """The processor time of this process and of all below it that were waited for, in seconds."""
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
