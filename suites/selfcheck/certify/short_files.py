"""File systems that other processes import by name: with a limit by an option, and on simulated disks."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from threading import RLock
from types import SimpleNamespace
from typing import Any

from msgspec.structs import replace

from holdfast.fixtures.mutants.file_systems.files import CountsWithoutALock
from holdfast.fixtures.mutants.file_systems.in_folder import InFolder
from holdfast.fixtures.storages.file_system import FileMedium, FileUpload
from holdfast.fixtures.storages.on_disk import DiskFiles
from holdfast.fixtures.storages.on_medium import require_known, size_option, storage_on
from holdfast.harness.sim.disk import SimulatedDisk
from holdfast.harness.spi.errors import Full
from holdfast.harness.spi.file_system import FileSystemContext, FileSystemDescription

LONGEST = "longest-file"
_OPTIONS = {LONGEST: ("8192", "Longest file.")}


class ShortUpload(FileUpload):
    """A file that is refused once it exceeds the limit."""

    def write(self, content: bytes | memoryview) -> None:
        longest = self._medium.describe().max_file_bytes
        if longest is not None and self._size + len(content) > longest:
            raise Full("max_file_bytes", longest, self._size + len(content))
        super().write(content)


class ShortFiles(InFolder):
    """Right, and no file is longer than the option allows."""

    upload_type = ShortUpload

    def check(self, context: FileSystemContext) -> None:
        require_known(context.options, _OPTIONS)
        self._longest = size_option(context.options, _OPTIONS, LONGEST, 1)

    def describe(self) -> FileSystemDescription:
        return replace(super().describe(), options=_OPTIONS, max_file_bytes=self._longest)


class ShortFilesWithoutALock(ShortFiles, CountsWithoutALock):
    """Threads that begin at the same time share an upload."""


def _files(context: FileSystemContext) -> FileMedium:
    return ShortFiles(context)


short_storage = storage_on(_files)
"""A right checkpoint storage on such files."""


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
