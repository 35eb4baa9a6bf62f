"""Files of the checkpoint storage, recorded at its boundary."""

from __future__ import annotations

from holdfast.harness.model.events.event import Event
from holdfast.harness.model.events.state import FileReference


class FileWritten(Event, tag="file_written"):
    """A file of the checkpoint storage is complete and durable under this path."""

    file: FileReference


class FileDeleted(Event, tag="file_deleted"):
    """A file of the checkpoint storage is gone."""

    path: str


class StorageFailed(Event, tag="storage_failed"):
    """A storage operation failed. `injected` when a fault of the plan made it fail; `subtask` and `checkpoint` where it
    was a part of a snapshot."""

    operation: str
    path: str
    reason: str
    injected: bool = False
    subtask: str = ""
    checkpoint: int = 0


class StorageSlowed(Event, tag="storage_slowed"):
    """A storage operation is held up on purpose, by a fault of the plan."""

    operation: str
    path: str
    delay_ms: int
