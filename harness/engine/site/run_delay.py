"""For how long the processes of a run waited for a processor, as Linux counts it thread by thread.

Pressure stall information is brought up to date every two seconds only, and says nothing of who waited. This figure is
exact, and as fine as it is asked for.
"""

from __future__ import annotations

import os
from contextlib import suppress

REFRESH_NS = 250_000_000
"""How often it is looked up which threads there are."""


class RunDelay:
    """The waiting of this process and of all below it, from one call to the next.

    Threads that are younger than the last look at them count with all that they have waited. Where the system does not
    tell, nobody ever waits.
    """

    def __init__(self) -> None:
        self._root = os.getpid()
        self._files: dict[str, int] = {}
        self._waited_ns: dict[str, int] = {}
        self._refreshed_ns = -REFRESH_NS
        self.grown_ns(0)

    def grown_ns(self, now_ns: int) -> int:
        """How long the thread that waited longest has waited since the last call.

        Args:
            now_ns: on whatever clock, as long as it is always the same.
        """
        if now_ns - self._refreshed_ns >= REFRESH_NS:
            self._refreshed_ns = now_ns
            self._refresh()
        longest_ns = 0
        for thread, file in list(self._files.items()):
            try:
                waited_ns = int(os.pread(file, 64, 0).split()[1])
            except (OSError, IndexError, ValueError):
                self._forget(thread)
                continue
            longest_ns = max(longest_ns, waited_ns - self._waited_ns.get(thread, 0))
            self._waited_ns[thread] = waited_ns
        return longest_ns

    def close(self) -> None:
        """Close what is open."""
        for thread in list(self._files):
            self._forget(thread)

    def _refresh(self) -> None:
        below = [self._root]
        for process in below:
            folder = f"/proc/{process}/task"
            with suppress(OSError):
                for thread in os.listdir(folder):
                    place = f"{folder}/{thread}"
                    with open(f"{place}/children", "rb") as children:
                        below += map(int, children.read().split())
                    if place not in self._files:
                        self._files[place] = os.open(f"{place}/schedstat", os.O_RDONLY | os.O_CLOEXEC)

    def _forget(self, thread: str) -> None:
        os.close(self._files.pop(thread))
        self._waited_ns.pop(thread, None)
