"""A file system for checkpoints in a folder that every worker sees.

The contract is `holdfast.harness.spi.file_system`. A file is written under a name of its own in `_uploads`, is
synchronised, and is linked to its path. A link fails where its name is taken, so of several writers one wins. It fails
where the file is gone, so who was abandoned publishes nothing. What is synchronised survives a loss of power.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit
from uuid import uuid4

from holdfast.harness.spi.errors import Full, Transient
from holdfast.harness.spi.file_system import FileSystemContext, FileSystemDescription

DESCRIPTION = FileSystemDescription(name="example")
UPLOADS = "_uploads"
PIECE_BYTES = 1 << 20


class Files:
    """The files of one folder. Any thread may call; the folder is all that calls share."""

    def __init__(self, context: FileSystemContext) -> None:
        for key in context.options:
            raise ValueError(f"option {key!r} is unknown; this file system has none.")
        parts = urlsplit(context.uri)
        if parts.scheme != "file" or parts.netloc or not parts.path:
            raise ValueError(f"{context.uri!r} is no folder: write file:///folder.")
        self.root = Path(unquote(parts.path)) / context.folder
        if context.read_only:
            return
        try:
            self.make_folder(self.root / UPLOADS)
        except OSError as error:
            raise PermissionError(f"{context.uri} cannot be written: {error}.") from error

    def describe(self) -> FileSystemDescription:
        return DESCRIPTION

    def begin(self, path: str) -> Upload:
        with calling(path):
            return Upload(self, path)

    def read(self, path: str, start: int, end: int) -> Iterator[bytes]:
        with calling(path), (self.root / path).open("rb") as file:
            file.seek(start)
            while start < end and (piece := file.read(min(PIECE_BYTES, end - start))):
                start += len(piece)
                yield piece

    def tail(self, path: str, length: int) -> bytes:
        with calling(path), (self.root / path).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - length))
            return file.read()

    def paths(self, folder: str) -> Sequence[str]:
        # A folder of the disk is one of whole segments: `a-b` is not below `a`.
        with calling(folder):
            below = [each for each in (self.root / folder).rglob("*") if each.is_file()]
        found = [each.relative_to(self.root).as_posix() for each in below]
        return sorted(path for path in found if not path.startswith(f"{UPLOADS}/"))

    def remove(self, paths: Sequence[str]) -> Sequence[str]:
        left = []
        for path in paths:
            try:
                with suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError):
                    (self.root / path).unlink()
                    synchronise((self.root / path).parent)
            except OSError:
                left.append(path)
        return left

    def abandon_uploads(self) -> None:
        with calling(UPLOADS):
            for file in (self.root / UPLOADS).iterdir():
                file.unlink(missing_ok=True)

    def close(self) -> None:
        """No connection is open."""

    def publish(self, begun: Path, target: Path) -> None:
        """Raises: FileExistsError, if the path is taken. FileNotFoundError, if the upload was abandoned."""
        os.link(begun, target)

    def make_folder(self, folder: Path) -> None:
        """Durably, with all above it."""
        if not folder.is_dir():
            self.make_folder(folder.parent)
            folder.mkdir(exist_ok=True)
            synchronise(folder.parent)


class Upload:
    """One file that nobody sees yet."""

    def __init__(self, files: Files, path: str) -> None:
        self.files, self.target = files, files.root / path
        self.begun = files.root / UPLOADS / uuid4().hex
        # Without a buffer: what write() returned for is in the file.
        self.file = self.begun.open("xb", buffering=0)

    def write(self, content: bytes) -> None:
        with calling(str(self.target)):
            left = memoryview(content)
            while left:
                left = left[self.file.write(left) :]

    def publish(self) -> None:
        with calling(str(self.target)):
            if not self.file.closed:
                os.fsync(self.file.fileno())
                self.file.close()
            self.files.make_folder(self.target.parent)
            try:
                self.files.publish(self.begun, self.target)
            except FileNotFoundError:
                if self.target.exists():
                    raise FileExistsError(f"{self.target} is there.") from None
                raise Transient(f"the upload of {self.target} was abandoned.") from None
            synchronise(self.target.parent)
            self.begun.unlink(missing_ok=True)

    def abandon(self) -> None:
        with calling(str(self.target)):
            self.file.close()
            self.begun.unlink(missing_ok=True)


@contextmanager
def calling(what: str) -> Iterator[None]:
    """What the file system says, in the words of the contract."""
    try:
        yield
    except (FileExistsError, FileNotFoundError, Full, Transient):
        raise
    except (IsADirectoryError, NotADirectoryError) as error:
        raise FileNotFoundError(f"{what} is no file.") from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise Full("free_bytes", 0, 1) from error
        raise Transient(f"{what}: {error}.") from error


def synchronise(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
