"""Files of the checkpoint storage and local copies on the disks of workers (RULES LOC): what was done to them, and what
the harness finds there when a checkpoint has completed and after the run."""

from __future__ import annotations

from holdfast.harness.model.events.event import Event, FileReference, HeldState, StateSummary


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
        length: bytes that were put back; None: nothing, because the object cannot be needed any more.
    """

    path: str
    length: int | None


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
        reason: `absent`, `damaged`, `foreign` (it is of other state) or the text of an error of the disk.
    """

    subtask: str
    checkpoint: int
    reason: str


class LocalCopiesPruned(Event, tag="local_copies_pruned"):
    """A worker has removed the local copies of a subtask at these paths."""

    subtask: str
    paths: tuple[str, ...]


class LocalCopySpoilt(Event, tag="local_copy_spoilt"):
    """The harness has changed the local copies of a worker at these paths, in this way."""

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


class CheckpointAudited(Event, tag="checkpoint_audited"):
    """A checkpoint was restored once more into a fresh runtime, when it had completed or, if retained, after the run;
    `problem` is empty if that worked."""

    checkpoint: int
    problem: str = ""


class SubtaskAudited(Event, tag="subtask_audited"):
    """What that restore gave one subtask; no state where it had finished before the checkpoint."""

    checkpoint: int
    subtask: str
    state: StateSummary | None = None
    positions: tuple[tuple[int, int], ...] = ()
    pending_transactions: tuple[str, ...] = ()


class SubtaskMoved(Event, tag="subtask_moved"):
    """The keyed state which that restore gave one subtask was moved to another state backend, in canonical form.

    Attributes:
        checkpoint, subtask: whose state it is.
        source, target: the backends by their names.
        canonical, answered: the content of each state of the source in canonical form, and by what its tables and
            timers return; None: it has none of these.
        moved, moved_answered: the same of the target.
        state: of an operator above the target.
        problem: why it cannot be moved; empty: it can.
    """

    checkpoint: int
    subtask: str
    source: str
    target: str
    canonical: tuple[HeldState, ...] = ()
    answered: tuple[HeldState, ...] | None = None
    moved: tuple[HeldState, ...] = ()
    moved_answered: tuple[HeldState, ...] | None = None
    state: StateSummary | None = None
    problem: str = ""


class StorageListed(Event, tag="storage_listed"):
    """All files of the checkpoint storage after the run, read back by the harness."""

    files: tuple[FileReference, ...]


class StorageObserved(Event, tag="storage_observed"):
    """The harness looked into the checkpoint storage because a checkpoint had completed; `attempt` is that of its
    completion.

    Attributes:
        checkpoint: the one that had completed before the look began.
        coordinator: the node that recorded the completion.
        recorded: how many events this node had recorded when the look was over. What it recorded later, it did later.
        paths: all files that were there.
        files: those of them that were read.
    """

    checkpoint: int
    coordinator: str
    recorded: int
    paths: tuple[str, ...]
    files: tuple[FileReference, ...]
