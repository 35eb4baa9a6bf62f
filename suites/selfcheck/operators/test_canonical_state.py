"""The canonical form of keyed state: what any backend wrote, any other restores (RULES SAV-07)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count, permutations

import pytest

from holdfast.fixtures.backends.hashmap import HashMapBackend
from holdfast.fixtures.backends.named_files import NamedFilesBackend
from holdfast.fixtures.reference.operators.columnar_backend import ColumnarBackend
from holdfast.fixtures.reference.operators.dictionary import Dictionary
from holdfast.fixtures.reference.operators.key_group import key_group
from holdfast.fixtures.reference.operators.row_state import NO_NAMESPACE, SUMS, RowState
from holdfast.fixtures.reference.protocol.configuration.submission import configure
from holdfast.fixtures.reference.protocol.execution_graph import graph_of
from holdfast.fixtures.reference.protocol.messages import Savepoint
from holdfast.fixtures.reference.protocol.storage.staged_streams import PreloadedStreams, StagedStreams
from holdfast.fixtures.reference.protocol.tasks.state_handler import KeyedState, StateHandler
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Plan, Topology, WorkloadSpec
from holdfast.harness.model.records import FoldRow
from holdfast.harness.spi.state import Manifest, SnapshotKind, StateContext, StateEntry

PLAN = Plan(job=KEYED_SUM, workload=WorkloadSpec("synthetic", {}), topology=Topology(parallelism=1))
GRAPH = graph_of(PLAN, configure(PLAN))
GROUPS = GRAPH.max_parallelism
LANES = 2
KEYS = tuple(f"key-{number}" for number in range(20))
ROWS = [FoldRow(key, 7 * number, (number + 1, 2), 1 << number) for number, key in enumerate(KEYS)]
DICTIONARY = Dictionary.of(KEYS, GRAPH)
CHECKPOINTS = count(10)
"""Each is greater than those before it."""
MAKERS: dict[str, Callable[[StateContext], KeyedState]] = {
    "hashmap": HashMapBackend,
    "named-files": NamedFilesBackend,
    "columnar": lambda context: ColumnarBackend(context, DICTIONARY, LANES),
}


def context(groups: range = range(GROUPS)) -> StateContext:
    return StateContext(
        job="job", operator="sum", subtask=0, attempt=1, key_groups=groups, max_parallelism=GROUPS, memory_bytes=1 << 20
    )


def handler(name: str, groups: range = range(GROUPS)) -> StateHandler:
    return StateHandler(MAKERS[name](context(groups)), context=context(groups))


def taken(held: StateHandler, checkpoint: int) -> tuple[Manifest, dict[str, bytes]]:
    """A savepoint of some state, and the contents of its files."""
    snapshot = held.snapshot(checkpoint, Savepoint("savepoints/"))
    assert snapshot is not None
    streams = StagedStreams(lambda scope, name: name)
    stored = snapshot.upload(streams, lambda: False)
    assert stored.keyed is not None
    return stored.keyed, {path: bytes(file.content) for path, file in streams.files.items()}


def filled(name: str) -> StateHandler:
    """A backend that holds the rows."""
    first = handler("hashmap")
    assert isinstance(first.keyed, HashMapBackend)
    RowState(first.keyed, SUMS, (), GROUPS).put(ROWS)
    if name == "hashmap":
        return first
    manifest, contents = taken(first, 1)
    other = handler(name)
    other.restore((manifest,), (), PreloadedStreams(contents))
    return other


def entries(held: StateHandler) -> list[StateEntry]:
    assert held.keyed is not None
    return list(held.keyed.snapshot(next(CHECKPOINTS), SnapshotKind.SAVEPOINT).entries())


@pytest.mark.parametrize(("writer", "reader"), list(permutations(MAKERS, 2)))
def test_one_backend_restores_what_another_wrote(writer: str, reader: str) -> None:
    written = filled(writer)
    manifest, contents = taken(written, 4)
    restored = handler(reader)
    restored.restore((manifest,), (), PreloadedStreams(contents))
    assert entries(restored) == entries(written)
    assert len(entries(restored)) == len(ROWS)


@pytest.mark.parametrize("reader", MAKERS)
def test_a_subtask_restores_its_own_key_groups(reader: str) -> None:
    manifest, contents = taken(filled("hashmap"), 4)
    half = range(GROUPS // 2)
    restored = handler(reader, half)
    restored.restore((manifest,), (), PreloadedStreams(contents))
    own = sorted(key for key in KEYS if key_group(key, GROUPS) in half)
    assert sorted(entry.key.decode() for entry in entries(restored)) == own
    assert all(entry.namespace == NO_NAMESPACE for entry in entries(restored))


def test_a_key_group_that_no_part_holds_is_refused() -> None:
    half = handler("hashmap", range(GROUPS // 2))
    manifest, contents = taken(half, 4)
    with pytest.raises(ValueError, match="belongs in one"):
        handler("named-files").restore((manifest,), (), PreloadedStreams(contents))


def test_a_changed_byte_is_noticed() -> None:
    manifest, contents = taken(filled("hashmap"), 4)
    (path,) = contents
    contents[path] = contents[path][:-1] + bytes([contents[path][-1] ^ 1])
    with pytest.raises(ValueError, match="not what was written"):
        handler("named-files").restore((manifest,), (), PreloadedStreams(contents))
