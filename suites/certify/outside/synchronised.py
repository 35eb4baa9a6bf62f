"""Whether files would survive a loss of power (RULES ASY-03): they were synchronised, and the folders that name them.

It sees what a storage does through Python's own `os.fsync` and `os.fdatasync`. Files that a library writes by itself,
as SQLite does, are none of its business.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import unquote, urlsplit

_WRITES = os.O_WRONLY | os.O_RDWR
_Identity = tuple[int, int]


class Watch:
    """What happened below one folder between `begin` and `end`.

    Attributes:
        applies: something was written there by Python since the first `begin`.
    """

    _opened: ClassVar[list[str]] = []
    _files: ClassVar[dict[_Identity, tuple[int, int]]] = {}
    _folders: ClassVar[dict[_Identity, frozenset[str]]] = {}

    @classmethod
    def install(cls) -> None:
        """Watch this process, for good."""
        sys.addaudithook(cls._audit)
        for name in ("fsync", "fdatasync"):
            setattr(os, name, cls._recording(getattr(os, name)))

    @classmethod
    def _audit(cls, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str | bytes | os.PathLike) and arguments[2] & _WRITES:
            cls._opened.append(os.fsdecode(arguments[0]))

    @classmethod
    def _recording(cls, synchronise: Callable[[Any], None]) -> Callable[[Any], None]:
        def recorded(file: Any) -> None:
            synchronise(file)
            number = file if isinstance(file, int) else file.fileno()
            found = os.fstat(number)
            if os.path.isdir(f"/proc/self/fd/{number}"):
                cls._folders[found.st_dev, found.st_ino] = frozenset(os.listdir(number))
            else:
                cls._files[found.st_dev, found.st_ino] = (found.st_size, found.st_mtime_ns)

        return recorded

    def __init__(self, uri: str) -> None:
        parts = urlsplit(uri)
        self._root = Path(unquote(parts.path)) if parts.scheme == "file" else None
        self._before: frozenset[Path] = frozenset()
        self.applies = False

    def begin(self) -> None:
        """What is there now is taken to be safe."""
        self._opened.clear()
        self._before = self._all()

    def end(self) -> Sequence[str]:
        """What is there since `begin`, and would not be behind a loss of power."""
        if self._root is None:
            return ()
        self.applies = self.applies or any(Path(path).is_relative_to(self._root) for path in self._opened)
        if not self.applies:
            return ()
        return [
            sentence
            for path in sorted(self._all() - self._before)
            if (sentence := self._unsynchronised(path) or self._unnamed(path))
        ]

    def _all(self) -> frozenset[Path]:
        return frozenset() if self._root is None else frozenset(self._root.rglob("*"))

    def _unsynchronised(self, path: Path) -> str:
        found = path.stat()
        last = (found.st_size, found.st_mtime_ns)
        if path.is_dir() or self._files.get((found.st_dev, found.st_ino)) == last:
            return ""
        return f"{path.name} was not synchronised behind its last byte"

    def _unnamed(self, path: Path) -> str:
        found = path.parent.stat()
        if path.name in self._folders.get((found.st_dev, found.st_ino), ()):
            return ""
        return f"the folder of {path.name} was not synchronised since it is in there"
