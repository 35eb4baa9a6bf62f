"""Files of one checkpoint in a folder: the least storage that measures bytes and time of a snapshot on disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from zlib import crc32

from holdfast.harness.model.events import FileReference
from holdfast.harness.spi.errors import Damaged
from holdfast.harness.spi.storage import Scope

_PIECE_BYTES = 1 << 20


class FolderStreams:
    """No scopes, no epochs, and nothing is fenced.

    Attributes:
        folder: where the files are.
        written_bytes: of all files so far.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.written_bytes = 0

    def create(self, scope: Scope, name: str, token: bytes) -> FolderStream:
        return FolderStream(self, name)

    def read(self, reference: FileReference, offset: int = 0, length: int | None = None) -> Iterator[bytes]:
        whole = length is None
        left, checksum = reference.length if length is None else length, 0
        with (self.folder / reference.path).open("rb") as file:
            file.seek(offset)
            while left and (piece := file.read(min(left, _PIECE_BYTES))):
                left, checksum = left - len(piece), crc32(piece, checksum)
                yield piece
        if left or (whole and checksum != reference.checksum):
            raise Damaged(f"{reference.path} is not what was written.")

    def delete(self, references: Sequence[FileReference]) -> Sequence[FileReference]:
        for each in references:
            (self.folder / each.path).unlink(missing_ok=True)
        return ()


class FolderStream:
    """One file under way."""

    def __init__(self, streams: FolderStreams, name: str) -> None:
        self._streams = streams
        self._name = name
        self._file = (streams.folder / name).open("wb")
        self._length = self._checksum = 0

    def write(self, content: bytes) -> None:
        self._file.write(content)
        self._length += len(content)
        self._checksum = crc32(content, self._checksum)

    def commit(self) -> FileReference:
        self._file.close()
        self._streams.written_bytes += self._length
        return FileReference(self._name, self._length, self._checksum)

    def cancel(self) -> None:
        self._file.close()
        (self._streams.folder / self._name).unlink(missing_ok=True)
