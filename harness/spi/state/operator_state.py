"""Operator state: list, union list and broadcast state of one subtask, which belongs to no key."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Protocol

import msgspec

from holdfast.harness.spi.state.description import Description, StateContext
from holdfast.harness.spi.state.snapshot import Cancelled, Extent, SnapshotKind, StateHandle
from holdfast.harness.spi.storage import CheckpointStreamFactory


class RedistributionMode(StrEnum):
    """Who gets which element at a restore: Flink's OperatorStateHandle.Mode (RSC-02)."""

    SPLIT_DISTRIBUTE = "split-distribute"
    """List state: each element goes to exactly one subtask; the runtime deals them out evenly."""
    UNION = "union"
    """Union list state: every subtask gets every element of every subtask, and prunes what it does not own (bug L3)."""
    BROADCAST = "broadcast"
    """Every subtask holds the same entries, and gets one copy of them."""


class OperatorStateDescriptor(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One operator state. Formats and version as in StateDescriptor, with the same compatibility."""

    name: str
    mode: RedistributionMode
    key_format: str = "bytes"
    value_format: str = "bytes"
    version: int = 1


class OperatorStateManifest(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What the snapshot of one subtask consists of.

    Attributes:
        format: name and version of the backend's own format.
        checkpoint: which.
        descriptors: of every state, also of those that were restored and not registered again.
        handle: the one file; None if every state is empty. Its key groups are empty.
        elements: by name of a state, where each element lies, in their order; of broadcast state one extent for all.
    """

    format: str
    checkpoint: int
    descriptors: tuple[OperatorStateDescriptor, ...]
    handle: StateHandle | None
    elements: Mapping[str, tuple[Extent, ...]]


class ListState(Protocol):
    """The elements of list or union list state of one subtask, in order. Called on the task thread."""

    def get(self) -> Sequence[bytes]:
        """All elements. Later changes do not show in what was returned."""

    def add(self, elements: Sequence[bytes]) -> None:
        """Append elements, all or none.

        Raises:
            Full: an element is longer than `max_value_bytes`, or the memory budget is used up.
        """

    def update(self, elements: Sequence[bytes]) -> None:
        """Replace all elements; raises as `add`."""


class BroadcastState(Protocol):
    """A map of which every subtask holds an equal copy. Called on the task thread."""

    def get(self, key: bytes) -> bytes | None:
        """The value, or None."""

    def put(self, pairs: Sequence[tuple[bytes, bytes]]) -> None:
        """Set values, all or none.

        Raises:
            Full: a key or value is longer than declared, or the memory budget is used up.
        """

    def remove(self, keys: Sequence[bytes]) -> None:
        """Forget values; what is not there is no error."""

    def items(self) -> Sequence[tuple[bytes, bytes]]:
        """All of it in ascending order of keys. Later changes do not show in what was returned."""


class OperatorStateSnapshot(Protocol):
    """State as of the `snapshot` call. Threads and errors are those of Snapshot."""

    def upload(self, streams: CheckpointStreamFactory, cancelled: Cancelled) -> OperatorStateManifest:
        """Store it, in one exclusive file. On the upload thread; raises as Snapshot.upload."""

    def release(self) -> None:
        """As Snapshot.release."""


class OperatorStateBackend(Protocol):
    """Every method is called on the task thread, and raises RuntimeError behind `close` (but `describe` and
    `close`)."""

    def describe(self) -> Description:
        """As KeyedStateBackend.describe."""

    def restore(self, parts: Sequence[OperatorStateManifest], streams: CheckpointStreamFactory) -> None:
        """Take over what the runtime has assigned, all of it or nothing.

        Args:
            parts: manifests whose `elements` were cut down to those of this subtask, in the order in which they are to
                stand. None: a fresh start.
            streams: to read from.

        Raises:
            Damaged, Incompatible, FileNotFoundError, Transient, Full, RuntimeError: as KeyedStateBackend.restore.
        """

    def list_state(self, descriptor: OperatorStateDescriptor) -> ListState:
        """Register list or union list state, or find it again.

        Raises:
            Incompatible: as KeyedStateBackend.table; another mode is Incompatible, too.
            ValueError: the mode is BROADCAST.
            RuntimeError: registered before by another descriptor.
        """

    def broadcast_state(self, descriptor: OperatorStateDescriptor) -> BroadcastState:
        """Register broadcast state, or find it again; raises as `list_state`, ValueError for the other modes."""

    def snapshot(self, checkpoint: int, kind: SnapshotKind = SnapshotKind.CHECKPOINT) -> OperatorStateSnapshot:
        """As KeyedStateBackend.snapshot. It is always a full one, so nothing is confirmed or aborted."""

    def close(self) -> None:
        """As KeyedStateBackend.close."""


OperatorStateBackendFactory = Callable[[StateContext], OperatorStateBackend]
"""Named as `module:name`; the key groups of the context say nothing here."""
