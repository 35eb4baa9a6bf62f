"""The simulated disk: files by path, changed one by one so that a crash can fall between any two changes.

It knows what would be left if the machine lost its power now: contents that were synced, under names that a renaming
gave. A removal is durable at once.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple


class FileChange(NamedTuple):
    """A change of a disk that a process still made when it died.

    Attributes:
        method: of `SimulatedDisk`.
        path: of the file.
        more: further arguments.
    """

    method: Callable[..., None]
    path: str
    more: Sequence[Any] = ()


class SimulatedDisk:
    """Files by path.

    Attributes:
        changes: counts every change, so that a reader sees at once that nothing happened.
    """

    __slots__ = ("_durable", "_files", "_noted", "_paths", "_synced", "changes")

    def __init__(self) -> None:
        self._files: dict[str, bytes] = {}
        self._paths: list[str] = []
        self.changes = 0
        self._synced: dict[str, bytes] = {}
        self._durable: set[str] = set()
        self._noted: list[FileChange] | None = None

    @property
    def files(self) -> Mapping[str, bytes]:
        """Content by path."""
        return self._files

    def followed(self, act: Callable[[], object]) -> list[FileChange]:
        """Let a process that dies go on, over a copy of the files.

        Args:
            act: what it was about to do.

        Returns:
            Its changes, each noted behind its success: what failed there is none.
        """
        files, paths = self._files, self._paths
        synced, durable, changes = self._synced, self._durable, self.changes
        self._files, self._paths = dict(files), list(paths)
        self._synced, self._durable = {}, set()
        noted: list[FileChange] = []
        self._noted = noted
        try:
            act()
        finally:
            self._noted = None
            self._files, self._paths = files, paths
            self._synced, self._durable, self.changes = synced, durable, changes
        return noted

    def create(self, path: str) -> None:
        """Make an empty file, whose name does not survive the machine.

        Raises:
            FileExistsError: the path is taken.
        """
        if path in self._files:
            raise FileExistsError(f"{path} exists already.")
        self._files[path] = b""
        insort(self._paths, path)
        self.changes += 1
        if self._noted is not None:
            self._noted.append(FileChange(SimulatedDisk.create, path))

    def append(self, path: str, content: bytes | memoryview) -> None:
        """Add bytes to a file.

        Raises:
            FileNotFoundError: it is not there.
        """
        files = self._files
        if path not in files:
            raise _missing(path)
        files[path] += content
        self.changes += 1
        if self._noted is not None:
            self._noted.append(FileChange(SimulatedDisk.append, path, (content,)))

    def sync(self, path: str) -> None:
        """Make what was appended survive a crash of the machine.

        Raises:
            FileNotFoundError: it is not there.
        """
        if path not in self._files:
            raise _missing(path)
        self._synced[path] = self._files[path]
        self.changes += 1
        if self._noted is not None:
            self._noted.append(FileChange(SimulatedDisk.sync, path))

    def rename(self, path: str, target: str) -> None:
        """Give a file another name, which survives the machine.

        Raises:
            FileExistsError: the target is taken.
            FileNotFoundError: the file is not there.
        """
        files, paths = self._files, self._paths
        if target in files:
            raise FileExistsError(f"{target} exists already.")
        if path not in files:
            raise _missing(path)
        files[target] = files.pop(path)
        insort(paths, target)
        del paths[bisect_left(paths, path)]
        self._synced[target] = self._synced.pop(path, b"")
        self._durable.add(target)
        self._durable.discard(path)
        self.changes += 1
        if self._noted is not None:
            self._noted.append(FileChange(SimulatedDisk.rename, path, (target,)))

    def remove(self, path: str) -> None:
        """Remove a file; what is gone already is no error."""
        if path in self._files:
            del self._files[path]
            del self._paths[bisect_left(self._paths, path)]
        self._synced.pop(path, None)
        self._durable.discard(path)
        self.changes += 1
        if self._noted is not None:
            self._noted.append(FileChange(SimulatedDisk.remove, path))

    def exists(self, path: str) -> bool:
        """Whether there is something at a path."""
        return path in self._files

    def crash(self, changes: Sequence[FileChange], share: float) -> None:
        """Make a part of some changes, as a process that dies in the middle does.

        Args:
            changes: what it was about to do.
            share: how far it came, in [0, 1). Each place in front of a change, and the one behind the last, weighs the
                same, and the inside of an append as much as all of these but one, whatever its length: of an operation
                with one append, about half of the deaths leave a part of a file.
        """
        inside = len(changes)
        weights = [1 + inside if each.method is SimulatedDisk.append else 1 for each in changes]
        left = share * (sum(weights) + 1)
        for (method, path, more), weight in zip(changes, weights, strict=True):
            if left >= weight:
                method(self, path, *more)
            elif left >= 1:
                content = more[0]
                self.append(path, content[: int((left - 1) / inside * (len(content) + 1))])
            left -= weight
            if left < 0:
                return

    def lose_power(self) -> None:
        """Drop everything that is not durable."""
        kept = {path: self._synced.get(path, b"") for path in self._durable}
        self._files, self._paths = kept, sorted(kept)
        self._synced, self._durable = dict(kept), set(kept)
        self.changes += 1

    def put(self, path: str, content: bytes | None) -> None:
        """Replace a file durably, from outside the system; None: remove it."""
        if content is None:
            self.remove(path)
            return
        if path not in self._files:
            insort(self._paths, path)
        self._files[path] = self._synced[path] = content
        self._durable.add(path)
        self.changes += 1

    def read(self, path: str) -> bytes:
        """
        Raises:
            FileNotFoundError: it is not there.
        """
        if path not in self._files:
            raise _missing(path)
        return self._files[path]

    def below(self, prefix: str) -> list[str]:
        """Paths that begin with a prefix, in ascending order."""
        paths = self._paths
        if not prefix:
            return paths.copy()
        first = bisect_left(paths, prefix)
        behind = prefix[:-1] + chr(ord(prefix[-1]) + 1)  # A character beyond all others would widen the whole string.
        return paths[first : bisect_left(paths, behind, first)]


def _missing(path: str) -> FileNotFoundError:
    return FileNotFoundError(f"{path} is not there.")
