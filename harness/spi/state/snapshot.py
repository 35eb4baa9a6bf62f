"""One snapshot of a backend: an immutable view, and the work of storing it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import Protocol

from holdfast.harness.spi.state.descriptor import StateDescriptor
from holdfast.harness.spi.state.entry import StateEntry
from holdfast.harness.spi.state.manifest import Manifest
from holdfast.harness.spi.storage.streams import CheckpointStreamFactory

Cancelled = Callable[[], bool]
"""Whether the checkpoint was given up; may be called from the upload thread at any time."""


class SnapshotKind(StrEnum):
    """Who owns the files."""

    CHECKPOINT = "checkpoint"
    """The runtime does: it may refer to files of confirmed checkpoints, and later ones to its own."""
    SAVEPOINT = "savepoint"
    """The user does: it refers to no file of another checkpoint, has no shared file, and is nobody's base (INC-06)."""


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
            cancelled: asked at least once for each file.

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
