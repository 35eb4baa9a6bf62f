"""A keyed state backend: the keyed state and timers of one operator's subtask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from holdfast.harness.spi.state.description import Description, StateContext
from holdfast.harness.spi.state.snapshot import Manifest, Snapshot, SnapshotKind, StateEntry
from holdfast.harness.spi.state.table import Convert, Reduce, StateDescriptor, StateTable, TimerService
from holdfast.harness.spi.storage import CheckpointStreamFactory


class KeyedStateBackend(Protocol):
    """Every method is called on the task thread, and raises RuntimeError behind `close` (but `describe` and
    `close`)."""

    def describe(self) -> Description:
        """What it can do. Also callable before anything else, and behind `close`."""

    def restore(self, parts: Sequence[Manifest], streams: CheckpointStreamFactory, *, claimed: bool) -> None:
        """Take over the state of a checkpoint for the key groups of the context, and of no other (SBK-05).

        It holds all of that state or raises, and then holds nothing of it (bug N2). Behind a restore that raised, only
        `restore`, `restore_entries` and `close` may be called, with these parts again or with others; everything else
        raises RuntimeError: no job starts empty in silence.

        Args:
            parts: one manifest for each former subtask whose key groups overlap; none: a fresh start. Of the same
                operator in one checkpoint. Placeholders were replaced.
            streams: to read from.
            claimed: the runtime's registry owns the shared files. If there is one part, and it is of this subtask, a
                later snapshot may refer to them, by their reference. Else the first snapshot is a full one.

        Raises:
            Damaged: content is not what was written, or a key group is in no part, or in two (STO-06).
            Incompatible: another format or another maximum parallelism; the sentence names both values (SBK-04).
            FileNotFoundError: a file is gone.
            Transient: the storage did not answer.
            Full: it does not fit into the memory budget.
            RuntimeError: behind a registration, or a second time behind one that succeeded.
        """

    def restore_entries(self, descriptors: Sequence[StateDescriptor], entries: Iterable[StateEntry]) -> None:
        """As `restore`, from the canonical form of any backend. Needs CANONICAL.

        Args:
            descriptors: of every state that occurs.
            entries: in any order; those of other key groups are passed over.

        Raises:
            Damaged: an entry names a state without descriptor, or a timer's value is not 8 bytes.
            Full: as `restore`.
            RuntimeError: as `restore`.
            Exception: whatever `entries` raises; then as behind a `restore` that raised.
        """

    def table(
        self, descriptor: StateDescriptor, reduce: Reduce | None = None, convert: Convert | None = None
    ) -> StateTable:
        """Register a state, or find it again by an equal descriptor. Compatibility: see StateDescriptor (SBK-04).

        Args:
            descriptor: of a table, and not of timers.
            reduce: what merges values of REDUCING and AGGREGATING; for them required.
            convert: what migrates values; called once for each stored value, at the latest when it is read: by a method
                of the table, or by the next snapshot, which holds converted values. Their expiry stays.

        Raises:
            Incompatible: what was restored is of another kind, format or version, and the sentence names the state; or
                `convert` raised it. The restored state stays what it was, and may be registered otherwise.
            ValueError: a kind of timers; `reduce` is missing; a TTL where TTL is not declared, or below 1.
            RuntimeError: registered before by another descriptor.
        """

    def timers(self, descriptor: StateDescriptor) -> TimerService:
        """Register timers, or find them again by an equal descriptor. Needs TIMERS.

        Raises:
            Incompatible: as `table`.
            ValueError: not a kind of timers.
            RuntimeError: registered before by another descriptor.
        """

    def snapshot(self, checkpoint: int, kind: SnapshotKind = SnapshotKind.CHECKPOINT) -> Snapshot:
        """The synchronous part of a checkpoint (ASY-01): its view of everything registered or restored.

        It copies no values, writes nothing to the storage, and does not wait for another snapshot.

        Args:
            checkpoint: greater than that of any snapshot before in this life, and than a restored one.
            kind: who will own the files.

        Raises:
            RuntimeError: the checkpoint is not greater.
            Transient: a disk below did not answer; that checkpoint is declined.
        """

    def confirmed(self, checkpoint: int) -> None:
        """The checkpoint completed: from now on it may be the base of increments (INC-01).

        Snapshots may be confirmed in any order, or never; the newest confirmed one counts. Unknown, older and repeated
        numbers are no error, nor is one of a savepoint, which never becomes a base.

        The runtime keeps the shared files of the newest confirmed checkpoint, whatever completes meanwhile, while a
        snapshot is pending that was taken when it was the newest (INC-02).
        """

    def aborted(self, checkpoint: int) -> None:
        """The checkpoint will never complete, and its files are being deleted: no snapshot may refer to them (bug F3).

        Unknown, older and repeated numbers are no error. None is aborted after it was confirmed.
        """

    def close(self) -> None:
        """Free memory, files and threads. Idempotent. Open snapshots and iterators are of no use any more.

        Nothing in the storage changes. Called when no upload runs.
        """


KeyedStateBackendFactory = Callable[[StateContext], KeyedStateBackend]
"""Named as `module:name`. Raises ValueError for an option that is unknown or has a bad value, in one sentence. Reads no
state: a backend is empty until `restore`."""
