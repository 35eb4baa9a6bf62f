"""One registered state: Flink's value, list, map, reducing or aggregating state, as bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

Reduce = Callable[[bytes, bytes], bytes]
"""From the old value and the new one to what is stored. Pure, and called on the task thread only. What it raises leaves
the state as it was."""
Convert = Callable[[int, bytes], bytes]
"""From the stored version and a value of it to a value of the registered version. Pure; may raise Incompatible, which
goes to whoever called `table` or what reads that value, and leaves the state as it was."""


class StateTable(Protocol):
    """All values of one state in the key groups of one backend. Batches come first; a batch of one is a batch.

    Every method is called on the task thread, and raises RuntimeError behind `close` and for a key group that the
    backend does not own.

    A batch that raises has changed nothing: all of its pairs, or none. If one key comes twice in a batch, the later
    pair wins, and merges apply in order. A value is gone from the moment `now_ms` reaches its expiry (TTL): no method
    returns it then, and a merge starts afresh.
    """

    def get(self, key_group: int, namespace: bytes, keys: Sequence[bytes], *, now_ms: int) -> Sequence[bytes | None]:
        """The values of keys, in their order; None where there is none. Reading renews nothing. (SBK-01)"""

    def put(self, key_group: int, namespace: bytes, pairs: Sequence[tuple[bytes, bytes]], *, now_ms: int) -> None:
        """Set values, whatever was there; the time to live begins anew, also of a value that stays the same. (SBK-01)

        Raises:
            Full: a key, namespace or value is longer than declared, or the memory budget is used up.
            Transient: a disk below did not answer.
        """

    def merge(self, key_group: int, namespace: bytes, pairs: Sequence[tuple[bytes, bytes]], *, now_ms: int) -> None:
        """Fold values into what is there, by the kind of the state; where nothing is, set them. (SBK-01)

        Needs MERGE.

        Raises:
            Full, Transient: as `put`; the length that counts is that of the result.
            RuntimeError: the kind has no merge.
        """

    def remove(self, key_group: int, namespace: bytes, keys: Sequence[bytes]) -> None:
        """Forget the values of keys; what is not there is no error. Never raises Full. (SBK-01)"""

    def scan(
        self, key_group: int, namespace: bytes, start: bytes = b"", end: bytes | None = None, *, now_ms: int
    ) -> Iterator[tuple[bytes, bytes]]:
        """Keys from `start` and before `end`, with their values, in ascending order of their bytes. (SBK-01)

        The iterator shows the state as of this call. The caller may write, remove, clear and take snapshots before it
        is exhausted, and none of that shows. It raises RuntimeError behind `close`.

        Args:
            key_group, namespace: where.
            start: first key, included; empty: from the least one.
            end: first key that is left out; None: to the greatest one.
            now_ms: values that are expired at this time are left out.
        """

    def namespaces(self, key_group: int) -> Sequence[bytes]:
        """Namespaces that hold at least one value, expired or not, in ascending order. (SBK-01)"""

    def clear(self, key_group: int, namespace: bytes) -> None:
        """Forget every value of a namespace. Never raises Full. (SBK-01)"""
