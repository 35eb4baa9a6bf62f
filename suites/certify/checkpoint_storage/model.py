"""The kit's own model of what lies in a storage. It shares no code with any."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from holdfast.harness.spi.storage import Scope


class Stored(NamedTuple):
    """A file that was committed. `path`: as its reference has it."""

    path: str
    content: bytes
    token: bytes
    epoch: int


class Model:
    """What must be there.

    Attributes:
        epoch: that has claimed last.
        files: by scope, checkpoint where it is exclusive, and name.
        published: by checkpoint, its epoch and its metadata.
    """

    def __init__(self) -> None:
        self.epoch = 0
        self.files: dict[Hashable, Stored] = {}
        self.published: dict[int, tuple[int, bytes]] = {}

    @staticmethod
    def key(scope: Scope, checkpoint: int, name: str) -> Hashable:
        """One for each file that can be there at a time."""
        return (scope, checkpoint if scope is Scope.EXCLUSIVE else None, name)

    def drop(self, checkpoint: int) -> None:
        self.published.pop(checkpoint, None)
        for key in [key for key in self.files if isinstance(key, tuple) and key[1] == checkpoint]:
            del self.files[key]

    def paths(self, folder: str) -> list[str]:
        prefix = f"{folder}/" if folder else ""
        return sorted(each.path for each in self.files.values() if each.path.startswith(prefix))
