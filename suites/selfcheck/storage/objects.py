"""An object store in memory."""

from __future__ import annotations

from holdfast.harness.model.storage_steps import (
    Exists,
    ListPaths,
    Put,
    PutIfAbsent,
    PutIfUnchanged,
    Read,
    ReadVersion,
    RemoveObjects,
    StorageStep,
)


class ObjectsInMemory:
    """Takes the steps of an object store; an empty object counts as none."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self._versions: dict[str, str] = {}
        self._puts = 0

    def take(self, step: StorageStep) -> bytes | bool | str | list[str] | None:
        """Carry out one step.

        Raises:
            FileExistsError: PutIfAbsent or PutIfUnchanged where something else is.
            FileNotFoundError: Read of what is not there.
        """
        objects = self.objects
        match step:
            case Read():
                if not objects.get(step.path):
                    raise FileNotFoundError(step.path)
                return objects[step.path]
            case Exists():
                return bool(objects.get(step.path))
            case ListPaths():
                return sorted(path for path, content in objects.items() if content and path.startswith(step.path))
            case ReadVersion():
                return self._versions.get(step.path, "")
            case Put():
                return self._put(step.path, bytes(step.content))
            case PutIfAbsent():
                if step.path in objects:
                    raise FileExistsError(step.path)
                return self._put(step.path, step.content)
            case PutIfUnchanged():
                if self._versions.get(step.path, "") != step.version:
                    raise FileExistsError(step.path)
                return self._put(step.path, step.content)
            case RemoveObjects():
                for path in step.paths:
                    objects.pop(path, None)
                    self._versions.pop(path, None)
                return None
            case _:
                raise TypeError(f"an object store does not take {type(step).__name__}.")

    def _put(self, path: str, content: bytes) -> str:
        self._puts += 1
        self.objects[path] = content
        self._versions[path] = str(self._puts)
        return self._versions[path]
