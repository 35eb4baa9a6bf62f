"""File systems on simulated disks, which all that name them share in one process."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from threading import RLock
from types import SimpleNamespace
from typing import Any

from holdfast.fixtures.storages.on_disk import DiskFiles
from holdfast.fixtures.storages.options import require_known
from holdfast.harness.sim.disk import SimulatedDisk
from holdfast.harness.spi.file_system import FileSystemContext

_CALLS = ("read", "exists", "below", "create", "append", "sync", "rename", "remove")
_disks: dict[str, Any] = {}
_lock = RLock()
_numbers = count()


def simulated_files(context: FileSystemContext) -> DiskFiles:
    """The files of one folder of the disk that has this name.

    Raises:
        ValueError: an option or the URI is not understood.
    """
    require_known(context.options, {})
    if not context.uri.startswith("simulated://"):
        raise ValueError(f"place {context.uri!r} is no simulated disk: write simulated://name.")
    with _lock:
        disk = _disks.setdefault(context.uri.rstrip("/"), _one_by_one(SimulatedDisk()))
        return DiskFiles(disk, f"process-{next(_numbers)}", context.folder)


def _one_by_one(disk: SimulatedDisk) -> Any:
    """The calls of a disk, each at once whichever thread makes it, as those of a simulated run are."""

    def locked(call: Callable[..., Any]) -> Callable[..., Any]:
        def taken(*arguments: Any) -> Any:
            with _lock:
                return call(*arguments)

        return taken

    return SimpleNamespace(**{name: locked(getattr(disk, name)) for name in _CALLS})
