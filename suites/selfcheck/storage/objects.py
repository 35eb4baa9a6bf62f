"""An object store in memory."""

from __future__ import annotations

from collections.abc import Sequence


class ObjectsInMemory:
    """See protocol.storage.object_store.Objects; an empty object counts as none."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}

    def read(self, path: str) -> bytes:
        if not self.objects.get(path):
            raise FileNotFoundError(path)
        return self.objects[path]

    def exists(self, path: str) -> bool:
        return bool(self.objects.get(path))

    def below(self, prefix: str) -> list[str]:
        return sorted(path for path, content in self.objects.items() if content and path.startswith(prefix))

    def put_if_absent(self, path: str, content: bytes) -> None:
        if path in self.objects:
            raise FileExistsError(path)
        self.objects[path] = content

    def remove(self, paths: Sequence[str]) -> None:
        for path in paths:
            self.objects.pop(path, None)
