"""Files in a folder with a limit that an option sets; other processes import them by name."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.fixtures.mutants.file_systems.files import CountsWithoutALock
from holdfast.fixtures.mutants.file_systems.in_folder import InFolder
from holdfast.fixtures.storages.file_system import FileMedium, FileUpload
from holdfast.fixtures.storages.on_medium import storage_on
from holdfast.fixtures.storages.options import number, require_known
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
        self._longest = number(context.options, _OPTIONS, LONGEST, 1)

    def describe(self) -> FileSystemDescription:
        return replace(super().describe(), options=_OPTIONS, max_file_bytes=self._longest)


class ShortFilesWithoutALock(ShortFiles, CountsWithoutALock):
    """Threads that begin at the same time share an upload."""


def _files(context: FileSystemContext) -> FileMedium:
    return ShortFiles(context)


short_storage = storage_on(_files)
"""A right checkpoint storage on such files."""
