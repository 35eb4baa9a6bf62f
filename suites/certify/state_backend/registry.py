"""The kit's own shared state registry: which checkpoint needs which shared file."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from holdfast.harness.model.events import FileReference
from holdfast.harness.spi.state import Manifest, StateHandle
from holdfast.harness.spi.storage import Scope
from holdfast.suites.certify.check import Violation

_Key = tuple[int, str]
"""Subtask and name of a file."""


class Registry:
    """Of one operator. Files are registered when their checkpoint completes (Flink 1.14).

    A file that no completed checkpoint needs any more stays while a snapshot is pending that was taken before: its base
    may be one of those that had the file.
    """

    def __init__(self) -> None:
        self._files: dict[_Key, FileReference] = {}
        self._users: dict[_Key, set[int]] = {}
        self._awaited: dict[_Key, set[int]] = {}

    def resolved(self, subtask: int, manifest: Manifest) -> Manifest:
        """With every placeholder replaced.

        Raises:
            Violation: INC-02: a placeholder names no file, or one name stands for two files.
        """
        return replace(manifest, handles=tuple(self._resolved(subtask, each) for each in manifest.handles))

    def register(self, subtask: int, manifest: Manifest) -> None:
        """A checkpoint that completed uses these files; its placeholders were resolved."""
        for handle in manifest.handles:
            if handle.scope is Scope.SHARED and handle.reference is not None:
                key = (subtask, handle.name)
                self._files[key] = handle.reference
                self._users.setdefault(key, set()).add(manifest.checkpoint)

    def unregister(self, checkpoint: int, pending: Iterable[int]) -> None:
        """A checkpoint is gone, while these are pending."""
        for key, users in self._users.items():
            if checkpoint in users:
                users.discard(checkpoint)
                self._awaited[key] = set(pending)

    def collect(self, pending: Iterable[int]) -> list[FileReference]:
        """What nothing needs any more; it is forgotten."""
        still = set(pending)
        unused = [key for key, users in self._users.items() if not users and not self._awaited[key] & still]
        for key in unused:
            del self._users[key], self._awaited[key]
        return [self._files.pop(key) for key in unused]

    def unused(self, manifest: Manifest) -> list[FileReference]:
        """Shared files of a checkpoint that failed which the registry does not know."""
        paths = self.paths
        return [
            handle.reference
            for handle in manifest.handles
            if handle.scope is Scope.SHARED and handle.reference is not None and handle.reference.path not in paths
        ]

    @property
    def paths(self) -> frozenset[str]:
        """Of all files that it knows."""
        return frozenset(each.path for each in self._files.values())

    def _resolved(self, subtask: int, handle: StateHandle) -> StateHandle:
        if handle.scope is not Scope.SHARED:
            return handle
        known = self._files.get((subtask, handle.name))
        if handle.reference is None:
            if known is None:
                raise Violation(
                    "INC-02", f"{handle.name} is a placeholder for a file that no completed checkpoint has."
                )
            return replace(handle, reference=known)
        if known is not None and known != handle.reference:
            raise Violation("INC-02", f"{handle.name} stands for {known} and for {handle.reference}.")
        for owner, name in [key for key, file in self._files.items() if file.path == handle.reference.path]:
            if (owner, name) != (subtask, handle.name):
                raise Violation(
                    "INC-02",
                    f"subtask {subtask} has {handle.reference.path} as {handle.name}, and subtask {owner} has it as "
                    f"{name}: it is deleted with the last checkpoint of either.",
                )
        return handle
