"""What is registered with a backend: one named state."""

from __future__ import annotations

from enum import StrEnum

import msgspec


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
