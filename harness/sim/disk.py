"""The simulated disk: files by path, changed in primitive steps so that a crash can fall between any two of them."""

from __future__ import annotations

import zlib

import msgspec

from holdfast.harness.model.events import FileReference


class Create(msgspec.Struct, frozen=True, gc=False):
    """Make an empty file; refuses a path that is taken."""

    path: str


class Append(msgspec.Struct, frozen=True, gc=False):
    """Add bytes to a file. Not atomic: a crash leaves any prefix."""

    path: str
    content: bytes | memoryview


class Sync(msgspec.Struct, frozen=True, gc=False):
    """What was appended survives the machine."""

    path: str


class Rename(msgspec.Struct, frozen=True, gc=False):
    """Give a file another name, atomically; refuses a target that is taken."""

    path: str
    target: str


class Replace(msgspec.Struct, frozen=True, gc=False):
    """As Rename, over whatever is there."""

    path: str
    target: str


class Remove(msgspec.Struct, frozen=True, gc=False):
    """Remove a file; what is gone already is no error."""

    path: str


Step = Create | Append | Sync | Rename | Replace | Remove


class SimulatedDisk:
    """Files by path.

    Attributes:
        files: content by path.
        changes: counts every change, so that a reader can tell at once that nothing happened.
    """

    __slots__ = ("changes", "files")

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.changes = 0

    def apply(self, steps: tuple[Step, ...]) -> None:
        """Take steps in order.

        Raises:
            FileExistsError: Create or Rename over a path that is taken.
            FileNotFoundError: Append, Rename or Replace of a path that is not there.
        """
        for step in steps:
            self._apply(step)

    def crash(self, steps: tuple[Step, ...], share: float) -> None:
        """Take a part of the steps, as a process that dies in the middle does.

        Args:
            steps: what it was about to do.
            share: how far it came, in [0, 1): measured over the steps, an Append counting by its bytes.
        """
        lengths = [len(step.content) + 1 if isinstance(step, Append) else 1 for step in steps]
        budget = int(share * (sum(lengths) + 1))
        for step, length in zip(steps, lengths, strict=True):
            if budget >= length:
                self._apply(step)
            elif budget and isinstance(step, Append):
                self._apply(Append(step.path, step.content[:budget]))
            budget = max(budget - length, 0)
            if not budget:
                return

    def _apply(self, step: Step) -> None:
        files = self.files
        kind = type(step)
        if kind is Append:
            files[step.path] += step.content  # type: ignore[union-attr]
        elif kind is Create:
            if step.path in files:
                raise FileExistsError(f"{step.path} exists already.")
            files[step.path] = b""
        elif kind is Remove:
            files.pop(step.path, None)
        elif kind is Rename or kind is Replace:
            if kind is Rename and step.target in files:  # type: ignore[union-attr]
                raise FileExistsError(f"{step.target} exists already.")  # type: ignore[union-attr]
            if step.path not in files:
                raise FileNotFoundError(f"{step.path} is not there.")
            files[step.target] = files.pop(step.path)  # type: ignore[union-attr]
        self.changes += 1

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
