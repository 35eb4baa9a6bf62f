"""A loss of power (RULES ASY-03): what was not synchronised is gone, bytes of files and names in folders.

It sees what a part does through Python's own `open`, `os.fsync` and `os.fdatasync`, and leaves the files of SQLite
alone. Files of other libraries stay where Python has opened none. Whether something was lost that mattered is for the
contract to say: a file that holds nothing of what was promised need not be synchronised.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import unquote, urlsplit

_WRITES = os.O_WRONLY | os.O_RDWR
_Identity = tuple[int, int]


class Watch:
    """What is written below one folder, and which of it is synchronised. What is there at first is taken to be safe.

    Args:
        uri: of the folder; of anything else nothing is seen.
    """

    _opened: ClassVar[list[str]] = []
    _databases: ClassVar[set[str]] = set()
    _synchronised: ClassVar[dict[_Identity, int]] = {}
    """Length of a file when it was synchronised last, in bytes."""
    _named: ClassVar[dict[_Identity, frozenset[str]]] = {}
    """What was in a folder when it was synchronised last."""

    @classmethod
    def install(cls) -> None:
        """Watch this process, for good."""
        sys.addaudithook(cls._audit)
        for name in ("fsync", "fdatasync"):
            setattr(os, name, cls._recording(getattr(os, name)))

    @classmethod
    def _audit(cls, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str | bytes | os.PathLike) and arguments[2] & _WRITES:
            cls._opened.append(os.path.abspath(os.fsdecode(arguments[0])))
        elif event == "sqlite3.connect" and isinstance(arguments[0], str | bytes | os.PathLike):
            name = os.fsdecode(arguments[0])
            name = os.path.abspath(unquote(urlsplit(name).path) if name.startswith("file:") else name)
            cls._databases.update(name + end for end in ("", "-wal", "-shm", "-journal"))
        elif event in ("os.remove", "os.rename"):  # The number of a file that goes comes again.
            with suppress(OSError):
                found = os.lstat(arguments[event == "os.rename"])
                if found.st_nlink == 1:
                    cls._synchronised.pop((found.st_dev, found.st_ino), None)

    @classmethod
    def _recording(cls, synchronise: Callable[[Any], None]) -> Callable[[Any], None]:
        def recorded(file: Any) -> None:
            synchronise(file)
            number = file if isinstance(file, int) else file.fileno()
            found = os.fstat(number)
            if os.path.isdir(f"/proc/self/fd/{number}"):
                cls._named[found.st_dev, found.st_ino] = frozenset(os.listdir(number))
            else:
                cls._synchronised[found.st_dev, found.st_ino] = found.st_size

        return recorded

    def __init__(self, uri: str) -> None:
        parts = urlsplit(uri)
        self._root = Path(unquote(parts.path)) if parts.scheme == "file" else None
        self._opened.clear()
        self._safe = frozenset(self._all())
        for path in self._safe:
            found = path.lstat()
            self._synchronised[found.st_dev, found.st_ino] = found.st_size

    @property
    def applies(self) -> bool:
        """Whether Python wrote something there."""
        root = self._root
        return root is not None and any(Path(path).is_relative_to(root) for path in self._opened)

    def lose(self) -> Sequence[str]:
        """Take away what is not synchronised; a sentence for each thing that was.

        A file is cut to the length that it had when it was synchronised last, or at first. A name goes that its folder
        did not have then. Bytes that were exchanged in place stay: what they were is not known.
        """
        if not self.applies:
            return ()
        lost: list[str] = []
        for path in self._all():
            if os.fspath(path) in self._databases or not os.path.lexists(path):
                continue
            found, folder = path.lstat(), path.parent.stat()
            kept = self._synchronised.get((found.st_dev, found.st_ino), 0)
            if path not in self._safe and path.name not in self._named.get((folder.st_dev, folder.st_ino), ()):
                lost.append(f"the folder of {path.name} was not synchronised since it is in there")
                _remove(path)
            elif path.is_file() and not path.is_symlink() and kept < found.st_size:
                lost.append(f"{path.name} was not synchronised behind its last byte")
                os.truncate(path, kept)
        return lost

    def _all(self) -> Sequence[Path]:
        return () if self._root is None else sorted(self._root.rglob("*"))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
