"""What the kit cannot see of the hash map backend from outside: what it keeps, and for how long."""

from __future__ import annotations

import pytest

from holdfast.fixtures.backends.hashmap import HashMapBackend
from holdfast.fixtures.backends.heap.cells import OVERHEAD_BYTES
from holdfast.harness.spi.errors import Full
from holdfast.harness.spi.state import (
    KeyedStateBackend,
    KeyedStateBackendFactory,
    StateContext,
    StateDescriptor,
    StateKind,
)

VALUE = StateDescriptor(name="value", kind=StateKind.VALUE)
MORTAL = StateDescriptor(name="mortal", kind=StateKind.VALUE, ttl_ms=10)
FACTORY: KeyedStateBackendFactory = HashMapBackend


def made(memory_bytes: int = 1 << 20) -> HashMapBackend:
    return HashMapBackend(
        StateContext(
            job="job",
            operator="operator",
            subtask=0,
            attempt=1,
            key_groups=range(2),
            max_parallelism=2,
            memory_bytes=memory_bytes,
        )
    )


def kept(backend: HashMapBackend) -> list[int]:
    """Copies that each open snapshot holds."""
    return [sum(map(len, view.before.values())) for view in backend.cells._views]


def test_it_is_a_keyed_state_backend() -> None:
    backend: KeyedStateBackend = made()
    assert backend.describe().name == "hashmap"


def test_a_snapshot_holds_what_has_changed_since_and_no_more() -> None:
    backend = made()
    table = backend.table(VALUE)
    table.put(0, b"", [(b"%d" % number, b"v") for number in range(100)], now_ms=0)
    first = backend.snapshot(1)
    assert kept(backend) == [0]
    table.put(0, b"", [(b"1", b"w"), (b"2", b"w"), (b"new", b"w")], now_ms=0)
    table.put(0, b"", [(b"1", b"x")], now_ms=0)
    second = backend.snapshot(2)
    table.remove(0, b"", [b"1", b"3"])
    assert kept(backend) == [4, 2]
    first.release()
    assert kept(backend) == [2]
    second.release()
    table.clear(0, b"")
    assert kept(backend) == []


def test_the_budget_counts_what_is_there_and_expired_values_make_room() -> None:
    backend = made(2 * (OVERHEAD_BYTES + 3))
    table = backend.table(MORTAL)
    table.put(0, b"n", [(b"1", b"v"), (b"2", b"v")], now_ms=0)
    with pytest.raises(Full, match="memory_bytes"):
        table.put(0, b"n", [(b"1", b"v"), (b"3", b"v")], now_ms=9)
    assert table.get(0, b"n", [b"1", b"2", b"3"], now_ms=9) == [b"v", b"v", None]
    table.put(0, b"n", [(b"3", b"v")], now_ms=10)
    assert table.namespaces(0) == [b"n"]
    assert backend.cells.used_bytes == OVERHEAD_BYTES + 3
