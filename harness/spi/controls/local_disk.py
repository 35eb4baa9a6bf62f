"""The local disks of workers, on which copies of state are kept."""

from __future__ import annotations

from typing import Protocol


class LocalDiskControl(Protocol):
    """The local copies of state."""

    def spoil(self, worker: int, way: str) -> None:
        """Change the newest local copy of each subtask of a worker. A LocalCopySpoilt is recorded before it acts.

        Args:
            worker: index of the worker.
            way: `remove`, `truncate`, `flip` (one bit), `foreign` (the copy of another worker) or `stale` (that which
                was there at the last `remember`).
        """
