"""Where a check takes place: file systems, and what the kit expects of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from holdfast.harness.spi.file_system import FileSystem, FileSystemContext, FileSystemDescription, Upload
from holdfast.suites.certify.check import Violation
from holdfast.suites.certify.outside import file_system_performer
from holdfast.suites.certify.outside.bench import OutsideBench, differs

FOLDER = "files"
EVERYTHING = 1 << 40
"""More bytes than any file has here."""


class Bench(OutsideBench):
    """See OutsideBench.

    Attributes:
        description: that the file system gives of itself.
    """

    performer = file_system_performer.__name__
    own = FOLDER
    contract = FileSystem
    description: FileSystemDescription

    def at(self, uri: str, own: str, options: Mapping[str, str]) -> FileSystem:
        """A file system of one folder at one place."""
        return cast("FileSystem", self.target.factory(FileSystemContext(uri=uri, folder=own, options=options)))

    def files(self, folder: str = FOLDER, options: Mapping[str, str] | None = None) -> FileSystem:
        """A file system as another process would make it; closed at the end of the check."""
        return cast("FileSystem", self.make(folder, options))

    def leave(self, made: FileSystem) -> None:
        self.publish(made, f"left-{len(self.steps)}", b"left")

    def remove_left(self, made: FileSystem) -> None:
        self.require_removed(made, list(made.paths("")))

    def finds(self, made: FileSystem) -> bool:
        return bool(list(made.paths("")))

    # ---------------------------------------------------------------- calls, with what is expected of them
    def begin(self, files: FileSystem, path: str, content: bytes, pieces: int = 1) -> Upload:
        """A file that is written, and not published.

        Raises:
            CannotTry: it is longer than is declared.
        """
        self.require_fits(len(content))
        self.step(f"write {path!r}, {len(content)} bytes")
        upload = files.begin(path)
        width = max(1, -(-len(content) // pieces))
        for first in range(0, len(content), width):
            upload.write(content[first : first + width])
        return upload

    def publish(self, files: FileSystem, path: str, content: bytes, pieces: int = 1) -> None:
        """A file that is there from now on."""
        upload = self.begin(files, path, content, pieces)
        self.step(f"publish {path!r}")
        upload.publish()

    def require_content(self, files: FileSystem, path: str, content: bytes) -> None:
        """A file holds what was written.

        Raises:
            Violation: of `rule`.
        """
        self.step(f"read {path!r}")
        found = content_of(files, path)
        if found != content:
            raise Violation(self.rule, f"{path!r} {differs(found, content)}.")

    def require_paths(self, files: FileSystem, folder: str, expected: Sequence[str]) -> None:
        """Exactly these files are listed."""
        self.step(f"paths({folder!r})")
        found = list(files.paths(folder))
        if found != sorted(expected):
            raise Violation(self.rule, f"paths({folder!r}) shows {_some(found)}; {_some(sorted(expected))} is right.")

    def require_removed(self, files: FileSystem, paths: Sequence[str]) -> None:
        """All of them could be removed."""
        self.step(f"remove {_some(paths)}")
        if left := list(files.remove(paths)):
            raise Violation(self.rule, f"remove({_some(paths)}) returned {left}; nothing is right.")

    def require_absent(self, files: FileSystem, path: str) -> None:
        """Whoever reads finds that it is not there."""
        self.refuses(f"read {path!r}", FileNotFoundError, content_of, files, path)
        self.refuses(f"read the end of {path!r}", FileNotFoundError, files.tail, path, 4)


def content_of(files: FileSystem, path: str) -> bytes:
    """The whole file."""
    return b"".join(files.read(path, 0, EVERYTHING))


def _some(paths: Sequence[str]) -> str:
    return str(list(paths)) if len(paths) <= 8 else f"{list(paths[:8])} and {len(paths) - 8} more"
