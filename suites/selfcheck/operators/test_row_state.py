"""Rows above a state backend: whatever is written is what the next life finds there."""

from __future__ import annotations

import pytest

from holdfast.fixtures.backends.hashmap import HashMapBackend
from holdfast.fixtures.reference.operators.key_group import key_group, key_groups
from holdfast.fixtures.reference.operators.row_state import NO_NAMESPACE, RowState
from holdfast.fixtures.reference.protocol.storage.staged_streams import PreloadedStreams, StagedStreams
from holdfast.harness.model.records import FoldRow
from holdfast.harness.spi.errors import Incompatible
from holdfast.harness.spi.state import KeyedStateBackend, Manifest, StateContext, StateDescriptor, StateKind

GROUPS = 16
KEYS = [f"key-{number}" for number in range(40)]


def backend(subtask: int = 0, parallelism: int = 1) -> HashMapBackend:
    return HashMapBackend(
        StateContext(
            job="job",
            operator="sum",
            subtask=subtask,
            attempt=1,
            key_groups=key_groups(subtask, parallelism, GROUPS),
            max_parallelism=GROUPS,
            memory_bytes=1 << 20,
        )
    )


def sums(kept: KeyedStateBackend, stored: range = range(GROUPS)) -> RowState:
    return RowState(kept, "sums", stored, GROUPS)


def row(key: str, value: int = 1) -> FoldRow:
    return FoldRow(key, value, (value,), value)


def uploaded(kept: KeyedStateBackend) -> tuple[Manifest, dict[str, bytes]]:
    streams = StagedStreams(lambda scope, name: f"{scope}/{name}")
    manifest = kept.snapshot(1).upload(streams, lambda: False)
    return manifest, {path: bytes(file.content) for path, file in streams.files.items()}


def test_rows_come_back_and_those_that_were_cleared_do_not() -> None:
    kept = backend()
    rows = sums(kept)
    rows.put([row(key, 2) for key in KEYS])
    rows.clear()
    rows.put([row(key) for key in KEYS[:5]])
    manifest, contents = uploaded(kept)
    restored = backend()
    restored.restore((manifest,), PreloadedStreams(contents), claimed=False)
    assert sums(restored).rows == rows.rows == {key: row(key) for key in KEYS[:5]}


def test_a_wider_job_finds_each_row_once() -> None:
    kept = backend()
    sums(kept).put([row(key) for key in KEYS])
    manifest, contents = uploaded(kept)
    found = []
    for subtask in range(3):
        part = backend(subtask, 3)
        part.restore((manifest,), PreloadedStreams(contents), claimed=False)
        found += list(sums(part, part.context.key_groups).rows)
        assert all(key_group(key, GROUPS) in part.context.key_groups for key in sums(part, range(0)).rows)
    assert sorted(found) == sorted(KEYS)


def test_rows_that_are_none_are_refused() -> None:
    kept = backend()
    descriptor = StateDescriptor(name="sums", kind=StateKind.VALUE, key_format="utf-8", value_format="fold-row")
    kept.table(descriptor).put(3, NO_NAMESPACE, [(b"key", b"nonsense")], now_ms=0)
    with pytest.raises(ValueError, match="damaged"):
        sums(kept)


def test_other_state_of_that_name_is_refused() -> None:
    kept = backend()
    kept.table(StateDescriptor(name="sums", kind=StateKind.LIST)).put(3, NO_NAMESPACE, [(b"key", b"")], now_ms=0)
    manifest, contents = uploaded(kept)
    restored = backend()
    restored.restore((manifest,), PreloadedStreams(contents), claimed=False)
    with pytest.raises(Incompatible, match="sums"):
        sums(restored)


@pytest.mark.parametrize("parallelism", [1, 2, 3, 5, 16])
def test_every_key_group_has_one_owner(parallelism: int) -> None:
    owned = [group for subtask in range(parallelism) for group in key_groups(subtask, parallelism, GROUPS)]
    assert owned == list(range(GROUPS))
