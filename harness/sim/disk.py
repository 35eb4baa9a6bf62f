"""The simulated disk: files by path, changed in primitive steps so that a crash can fall between any two of them.

It knows what would be left if the machine lost its power now: contents that were synced, under names that were, in
folders that were. A renaming makes its target durable, and a removal is durable at once.
"""

from __future__ import annotations

import zlib

from holdfast.harness.model import storage_steps
from holdfast.harness.model.events import FileReference


class SimulatedDisk:
    """Files by path.

    Attributes:
        files: content by path.
        changes: counts every change, so that a reader can tell at once that nothing happened.
    """

    __slots__ = ("_durable", "_folders", "_synced", "changes", "files")

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.changes = 0
        self._synced: dict[str, bytes] = {}
        self._durable: set[str] = set()
        self._folders: set[str] = set()

    def copy(self) -> SimulatedDisk:
        """Another disk with the same files."""
        other = SimulatedDisk()
        other.files = dict(self.files)
        return other

    def take(self, step: storage_steps.StorageStep) -> bytes | bool | list[str] | None:
        """Take one step.

        Returns:
            Its answer.

        Raises:
            FileExistsError: Create or Rename over a path that is taken.
            FileNotFoundError: Read, Append, Rename or Replace of a path that is not there.
            TypeError: a disk has no such step.
        """
        if storage_steps.is_file_change(step):
            self._change(step)
            return None
        match step:
            case storage_steps.Exists():
                return step.path in self.files
            case storage_steps.Read():
                return self.read(step.path)
            case storage_steps.ListPaths():
                return self.below(step.path)
            case _:
                raise TypeError(f"a disk does not take {type(step).__name__}.")

    def apply(self, steps: tuple[storage_steps.FileChange, ...]) -> None:
        """Take steps in order.

        Raises:
            FileExistsError: Create or Rename over a path that is taken.
            FileNotFoundError: Append, Rename or Replace of a path that is not there.
        """
        for step in steps:
            self._change(step)

    def crash(self, steps: tuple[storage_steps.FileChange, ...], share: float) -> None:
        """Take a part of the steps, as a process that dies in the middle does.

        Args:
            steps: what it was about to do.
            share: how far it came, in [0, 1): measured over the steps, an Append counting by its bytes.
        """
        lengths = [len(step.content) + 1 if isinstance(step, storage_steps.Append) else 1 for step in steps]
        budget = int(share * (sum(lengths) + 1))
        for step, length in zip(steps, lengths, strict=True):
            if budget >= length:
                self._change(step)
            elif budget and isinstance(step, storage_steps.Append):
                self._change(storage_steps.Append(step.path, step.content[:budget]))
            budget = max(budget - length, 0)
            if not budget:
                return

    def lose_power(self) -> None:
        """What is not durable is gone."""
        kept = {path: self._synced.get(path, b"") for path in self._durable if _folder(path) in self._folders}
        self.files, self._synced, self._durable = kept, dict(kept), set(kept)
        self.changes += 1

    def put(self, path: str, content: bytes | None) -> None:
        """Somebody else changes a file for good; None: it is gone."""
        if content is None:
            self._change(storage_steps.Remove(path))
            return
        self.files[path] = self._synced[path] = content
        self._durable.add(path)
        self._folders.add(_folder(path))
        self.changes += 1

    def _change(self, step: storage_steps.FileChange) -> None:
        files = self.files
        match step:
            case storage_steps.Append():
                files[step.path] = self.read(step.path) + step.content
            case storage_steps.Create():
                if step.path in files:
                    raise FileExistsError(f"{step.path} exists already.")
                files[step.path] = b""
                if step.durable_folders:
                    self._folders.add(_folder(step.path))
            case storage_steps.Sync():
                self._synced[step.path] = self.read(step.path)
                if step.durable_name:
                    self._durable.add(step.path)
            case storage_steps.Remove():
                files.pop(step.path, None)
                self._forget(step.path)
            case storage_steps.Rename() | storage_steps.Replace():
                if isinstance(step, storage_steps.Rename) and step.target in files:
                    raise FileExistsError(f"{step.target} exists already.")
                files[step.target] = self.read(step.path)
                del files[step.path]
                self._synced[step.target] = self._synced.get(step.path, b"")
                self._durable.add(step.target)
                self._folders.add(_folder(step.target))
                self._forget(step.path)
        self.changes += 1

    def _forget(self, path: str) -> None:
        self._synced.pop(path, None)
        self._durable.discard(path)

    def reference(self, path: str) -> FileReference:
        """Length and checksum of a file as it is."""
        content = self.files[path]
        return FileReference(path, len(content), zlib.crc32(content))

    def read(self, path: str) -> bytes:
        """
        Raises:
            FileNotFoundError: it is not there.
        """
        if path not in self.files:
            raise FileNotFoundError(f"{path} is not there.")
        return self.files[path]

    def below(self, prefix: str) -> list[str]:
        """Paths that begin with a prefix, in ascending order."""
        return sorted(path for path in self.files if path.startswith(prefix))


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
