"""Registered states, as bytes: their descriptors, tables (Flink's value, list, map, reducing and aggregating state) and
timers (Flink's InternalTimerService)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import Protocol

import msgspec

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


class StateKind(StrEnum):
    """What the bytes of a state stand for, which is what `merge` does to them."""

    VALUE = "value"
    """One value for each key; no merge."""
    LIST = "list"
    """Elements, each behind its length as 4 bytes, big-endian. Merge appends: old bytes, then new bytes."""
    MAP = "map"
    """One entry for each key of a map. A key is the length of the outer key as 4 bytes, big-endian, then the outer key,
    then the key within the map: so that a scan over one prefix is one map. No merge."""
    REDUCING = "reducing"
    """Merge folds the new value into the old one by the function of the registration."""
    AGGREGATING = "aggregating"
    """As REDUCING. What is stored is the accumulator, and what is merged is an accumulator, too."""
    EVENT_TIME_TIMERS = "event-time-timers"
    """Timers that fire by the watermark: of `timers`, and of no table."""
    PROCESSING_TIME_TIMERS = "processing-time-timers"
    """Timers that fire by the clock: of `timers`, and of no table."""


class StateDescriptor(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One state. Two descriptors of one name in one backend are equal, or the second registration is misuse.

    Attributes:
        name: unique within the operator.
        kind: see StateKind.
        key_format, value_format: names of the formats in which the caller encodes; the backend only compares them.
        version: of the value format, from 1; a higher one is newer.
        ttl_ms: milliseconds that a value lives behind its last write or merge; None: for ever. A list lives and dies
            as a whole; an entry of a map alone. Timers have none.

    Compatibility at a restore (SBK-04). Another kind, another key format, a TTL where there was none, or none where
    there was one: Incompatible. Another duration of the TTL: compatible; what is stored keeps its expiry, and what is
    written or merged from then on has the new one. Another value format or a higher version: migrates if the
    registration brings `convert` and the backend declares MIGRATES, else Incompatible. A lower version: Incompatible.
    """

    name: str
    kind: StateKind
    key_format: str = "bytes"
    value_format: str = "bytes"
    version: int = 1
    ttl_ms: int | None = None


class Timer(msgspec.Struct, frozen=True, order=True, gc=False):
    """One timer. Timers fire in ascending order of these fields; a namespace that is the beginning of another one comes
    before that, whatever the keys are.

    Attributes:
        at_ms: event time or processing time, in milliseconds; any number of 64 bits with a sign.
        key_group, namespace, key: whose it is.
    """

    at_ms: int
    key_group: int
    namespace: bytes
    key: bytes


class TimerService(Protocol):
    """The timers of one name and one kind of time. Called on the task thread.

    Every method raises RuntimeError behind `close`, and for a key group that the backend does not own. Timers are
    state: snapshots hold them, and none fires twice or is lost over a restore (SBK-02; bug M1).
    """

    def register(self, timers: Sequence[Timer]) -> int:
        """Add timers, all or none; those that are there already are no error. Returns how many are new.

        Raises:
            Full: a key or namespace is longer than declared, or the memory budget is used up.
        """

    def delete(self, timers: Sequence[Timer]) -> int:
        """Remove timers; those that are not there are no error. Returns how many were there."""

    def first(self) -> Timer | None:
        """The earliest timer, due or not; it stays."""

    def poll(self, until_ms: int, limit: int) -> Sequence[Timer]:
        """Remove and return the earliest timers.

        Args:
            until_ms: no timer later than this, in milliseconds; one of exactly this time is due.
            limit: at most so many; at least 1.
        """
