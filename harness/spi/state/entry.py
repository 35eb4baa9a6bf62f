"""The canonical form of keyed state, which every backend that declares CANONICAL writes and reads."""

from __future__ import annotations

import msgspec


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
