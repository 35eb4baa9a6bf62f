"""Local copies of state: what a worker keeps on its own disk beside the checkpoint storage (RULES LOC)."""

from __future__ import annotations

from holdfast.harness.model.events.event import Event


class LocalCopyWritten(Event, tag="local_copy_written"):
    """A worker keeps a second copy, at a path of its own disk, of the `files` that hold the keyed state of a subtask in
    a checkpoint."""

    subtask: str
    checkpoint: int
    path: str
    files: tuple[str, ...] = ()


class LocalCopyUsed(Event, tag="local_copy_used"):
    """A subtask restores its keyed state from the local copy at a path, and not from the checkpoint storage."""

    subtask: str
    checkpoint: int
    path: str


class LocalCopyRefused(Event, tag="local_copy_refused"):
    """There is no local copy that may be used, so a subtask restores from the checkpoint storage.

    Attributes:
        subtask, checkpoint: whose state is wanted.
        reason: `absent`, `damaged`, `foreign` (it is of other state) or what an error of the disk says.
    """

    subtask: str
    checkpoint: int
    reason: str


class LocalCopiesPruned(Event, tag="local_copies_pruned"):
    """A worker has removed the local copies of a subtask at these paths."""

    subtask: str
    paths: tuple[str, ...]


class LocalCopySpoilt(Event, tag="local_copy_spoilt"):
    """The harness has changed the local copies of a worker at these paths; `way` says how."""

    worker: int
    way: str
    paths: tuple[str, ...]


class LocalDiskListed(Event, tag="local_disk_listed"):
    """What lies on the local disk of a worker after the run, as the harness sees it."""

    worker: int
    paths: tuple[str, ...]


class StateFileRead(Event, tag="state_file_read"):
    """The checkpoint storage was read from by the node `reader`, while local copies are looked for first."""

    path: str
    reader: str
