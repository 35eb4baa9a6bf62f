"""What a file system owes after a power cut, by the calls that were made: only what was synced.

A name survives if its folder was synced after it came, and the folder's own name survives; a content if its file was
synced after the last write.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


class PowerCut:
    """Listens to the calls of this process below a root, which survives itself.

    Attributes:
        kept: names that survive.
        written: files whose content does.
        root_synced: how often the folder above the root was synced.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self.kept: set[Path] = set()
        self.written: set[Path] = set()
        self.root_synced = 0
        self._fresh: set[Path] = set()
        self._files: dict[int, Path] = {}

    def survives(self, path: Path) -> bool:
        """Whether a file is there afterwards, with its content."""
        above = [each for each in (path, *path.parents) if self._root in each.parents]
        return path in self.written and all(each in self.kept for each in above)

    @contextmanager
    def listening(self, patch: pytest.MonkeyPatch) -> Iterator[None]:
        """Listen as long as this lasts."""
        calls: dict[str, Any] = {name: getattr(os, name) for name in ("open", "pwrite", "fsync", "mkdir", "link")}

        def open_(path: Any, flags: int, *mode: Any, **more: Any) -> int:
            new = not os.path.exists(path)
            file: int = calls["open"](path, flags, *mode, **more)
            self._files[file] = Path(path)
            if new:
                self._fresh.add(Path(path))
            return file

        def pwrite(file: int, content: Any, at: int) -> int:
            self.written.discard(self._files[file])
            count: int = calls["pwrite"](file, content, at)
            return count

        def fsync(file: int) -> None:
            calls["fsync"](file)
            path = self._files[file]
            self.written.add(path)
            self.root_synced += path == self._root.parent
            named = {each for each in self._fresh if each.parent == path}
            self._fresh -= named
            self.kept |= named

        def mkdir(path: Any, *mode: Any, **more: Any) -> None:
            calls["mkdir"](path, *mode, **more)
            self._fresh.add(Path(path))

        def link(source: Any, target: Any) -> None:
            calls["link"](source, target)
            self._fresh.add(Path(target))
            if Path(source) in self.written:
                self.written.add(Path(target))

        with patch.context() as patched:
            for name, call in (
                ("open", open_),
                ("pwrite", pwrite),
                ("fsync", fsync),
                ("mkdir", mkdir),
                ("link", link),
            ):
                patched.setattr(os, name, call)
            yield
