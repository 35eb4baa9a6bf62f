"""One snapshot of a backend: an immutable view, the work of storing it, and what it consists of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Protocol

import msgspec

from holdfast.harness.model.events import FileReference
from holdfast.harness.spi.state.table import StateDescriptor
from holdfast.harness.spi.storage import CheckpointStreamFactory, Scope


class Extent(msgspec.Struct, frozen=True, gc=False):
    """A range of bytes within a file. `checksum` is its CRC-32: a storage cannot check a range, so its reader does."""

    offset: int
    length: int
    checksum: int


class StateHandle(msgspec.Struct, frozen=True, gc=False):
    """One file of a snapshot.

    Attributes:
        name: as it was created. Of a shared file, the shared state registry knows it by operator, subtask and this
            name. So a subtask never gives one name to two contents, in none of its attempts (INC-07; bug F5).
        scope: EXCLUSIVE for a file of this checkpoint alone, SHARED for one that later snapshots may refer to.
        reference: the file; None: a placeholder, for a shared file of this name that is in a checkpoint which was
            confirmed to this backend. The registry puts in the reference.
        key_groups: key group to where its part lies; groups without state are left out. A file that a backend writes
            holds its own alone. A restore reads these alone.
    """

    name: str
    scope: Scope
    reference: FileReference | None
    key_groups: Mapping[int, Extent]


class Manifest(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Everything that `KeyedStateBackend.restore` needs beside the files. The runtime stores it in the metadata.

    Attributes:
        format: name and version of the backend's own format, such as `hashmap-1`; others refuse it.
        checkpoint: which.
        subtask: whose; shared files of this index are those that a claiming restore may refer to.
        first_key_group, end_key_group: that the backend owned, as in `range`.
        max_parallelism: number of key groups of the operator; a restore compares it (bug O3).
        handles: all files, in the order in which a restore needs them.
        descriptors: of every state that was there at the snapshot, also of those that were restored and not registered
            again; of none that was registered during the upload.
        base: the confirmed checkpoint whose files are referred to; None: a full snapshot.
        opaque: whatever else the format needs; small, because it is in the metadata of every checkpoint.
    """

    format: str
    checkpoint: int
    subtask: int
    first_key_group: int
    end_key_group: int
    max_parallelism: int
    handles: tuple[StateHandle, ...]
    descriptors: tuple[StateDescriptor, ...]
    base: int | None = None
    opaque: bytes = b""


class StateEntry(msgspec.Struct, frozen=True, order=True, gc=False):
    """One stored value or timer. Entries of a snapshot are in ascending order of these fields.

    Attributes:
        state: name of its descriptor.
        key_group, namespace, key: where it is.
        value: of a timer, its time in milliseconds as 8 bytes, big-endian, signed; else as `StateTable.get` returns it.
        expires_ms: from when on it is gone, milliseconds since the epoch; -1: never. A restore does not renew it.
    """

    state: str
    key_group: int
    namespace: bytes
    key: bytes
    value: bytes
    expires_ms: int = -1


Cancelled = Callable[[], bool]
"""Whether the checkpoint was given up; may be called from the upload thread at any time."""


class SnapshotKind(StrEnum):
    """Who owns the files."""

    CHECKPOINT = "checkpoint"
    """The runtime does: it may refer to files of confirmed checkpoints, and later ones to its own."""
    SAVEPOINT = "savepoint"
    """The user owns it: it refers to no file of another checkpoint, has no shared file, and is no base (INC-06)."""


class Snapshot(Protocol):
    """State as of the `snapshot` call. Nothing that is written later shows in it (ASY-02).

    Several may be open, each independent of the others, whatever becomes of those: confirmed, aborted, released, and
    released again (SBK-03).
    """

    def upload(self, streams: CheckpointStreamFactory, cancelled: Cancelled) -> Manifest:
        """Store it. On the upload thread; on the task thread without ASYNC_SNAPSHOT.

        An upload that raised may be called again, and then repeats names and tokens: what a lost answer left behind is
        taken up, and no content is stored twice (STO-09). If it is not called again, nothing of it remains in the
        shared scope: it deletes before it raises what it can (INC-03). Exclusive files are the runtime's to drop
        (ASY-05).

        Args:
            streams: of this checkpoint and epoch.
            cancelled: called at least once for each file.

        Raises:
            concurrent.futures.CancelledError: `cancelled` was true.
            Transient, Full, Fenced: what the storage raised, unchanged. A checkpoint without an answer is no success.
            RuntimeError: behind `release` or `close`.
        """

    def descriptors(self) -> Sequence[StateDescriptor]:
        """Of every state that `entries` may name, in ascending order of names. On either thread. Needs CANONICAL."""

    def entries(self) -> Iterator[StateEntry]:
        """All of it in canonical form, ascending; what is expired may be among them. Needs CANONICAL.

        On the upload thread, on which each item is taken as well, while the task thread writes; on the task thread
        without ASYNC_SNAPSHOT.

        Raises:
            RuntimeError: behind `release` or `close`.
        """

    def release(self) -> None:
        """Free what is kept for this snapshot alone (ASY-06). Idempotent.

        On the task thread, and never while `upload` or `entries` runs. Releasing is no statement about the checkpoint:
        `confirmed` or `aborted` of the backend are, and may come before or after.
        """
