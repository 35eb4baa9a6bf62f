"""A state backend: keyed state by key group, snapshot and restore.

Nothing uses this contract yet: it is for backends from outside, whose certification is still to come (version 0).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol


class StateSnapshot(Protocol):
    """An immutable view of a backend at its cut; later writes never show in it. Used from another thread."""

    def key_groups(self) -> Iterator[tuple[int, bytes]]:
        """(key group, encoded content) in ascending order; groups without state are left out."""

    def release(self) -> None:
        """The snapshot is durable or was given up: versions kept for it may go. Idempotent."""


class StateBackend(Protocol):
    """Keyed state of one subtask. Keys, namespaces and values are bytes; typed state is built above.

    One thread calls it; `snapshot` returns at once (copy-on-write) and its result may be read from another thread.
    Registered by `module:name` as a factory taking the range of key groups.
    """

    def get(self, key_group: int, namespace: bytes, key: bytes) -> bytes | None:
        """The value, or None."""

    def put(self, key_group: int, namespace: bytes, key: bytes, value: bytes) -> None:
        """Set the value."""

    def remove(self, key_group: int, namespace: bytes, key: bytes) -> None:
        """Forget the value; removing what is not there does nothing."""

    def items(self, key_group: int, namespace: bytes) -> Iterator[tuple[bytes, bytes]]:
        """All (key, value) of a key group, in ascending order of key."""

    def snapshot(self, checkpoint: int) -> StateSnapshot:
        """The synchronous part of checkpoint `checkpoint`."""

    def restore(self, key_groups: Iterable[tuple[int, bytes]]) -> None:
        """Replace all state with the content of snapshots. Called once, before the first access.

        Raises:
            ValueError: the content is damaged or of another format; never a silent start from part of it.
        """

    def close(self) -> None:
        """Free everything. Idempotent."""
