"""Files of the checkpoint storage, recorded at its boundary, and what the harness itself did to them."""

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


class ObjectDamaged(Event, tag="object_damaged"):
    """The harness damages a stored object. Recorded with the time before it acts: what follows for this object is no
    fault of the system under test.

    Attributes:
        path: of the object.
        checkpoint: that it belongs to.
        published: checkpoints of the same job whose metadata were there at that moment, in ascending order.
        length: bytes that it held.
        left: bytes that are left; None: it is removed.
    """

    path: str
    checkpoint: int
    published: tuple[int, ...]
    length: int
    left: int | None


class ObjectMended(Event, tag="object_mended"):
    """The harness ended a damage. Recorded behind it.

    Attributes:
        path: as in ObjectDamaged.
        length: bytes that were put back; None: nothing, because nobody can need the object any more.
    """

    path: str
    length: int | None
