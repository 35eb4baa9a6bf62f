"""Keyed state above a backend: typed state, rows, timers, and the canonical form (RULES SAV-07)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count, permutations
from typing import cast

import pytest

from holdfast.fixtures.backends.hashmap import HashMapBackend
from holdfast.fixtures.backends.named_files import NamedFilesBackend
from holdfast.fixtures.backends.operator_state import OperatorStateBackend
from holdfast.fixtures.reference.operators.batches import Dictionary
from holdfast.fixtures.reference.operators.columnar_backend import ColumnarBackend
from holdfast.fixtures.reference.operators.event_time import SplitWatermarks
from holdfast.fixtures.reference.operators.key_group import key_group, key_groups
from holdfast.fixtures.reference.operators.keyed_state import (
    NO_NAMESPACE,
    SUMS,
    KeyedTable,
    ListTable,
    MapTable,
    OperatorTimers,
    RowState,
    from_order,
    in_order,
)
from holdfast.fixtures.reference.operators.plain import IDLE_MS, NO_WATERMARK_MS
from holdfast.fixtures.reference.protocol.configuration.submission import configure
from holdfast.fixtures.reference.protocol.execution_graph import graph_of
from holdfast.fixtures.reference.protocol.messages import Savepoint
from holdfast.fixtures.reference.protocol.storage.staged_streams import PreloadedStreams, StagedStreams
from holdfast.fixtures.reference.protocol.tasks.state_handler import KeyedState, StateHandler
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Plan, Topology, WorkloadSpec
from holdfast.harness.model.records import FoldRow
from holdfast.harness.spi.errors import Incompatible
from holdfast.harness.spi.state import (
    KeyedStateBackend,
    Manifest,
    SnapshotKind,
    StateContext,
    StateDescriptor,
    StateEntry,
    StateKind,
)

GROUPS = 16
KEYS = [f"key-{number}" for number in range(40)]


def context(groups: range, of: int, subtask: int = 0) -> StateContext:
    """Of some key groups, and how many there are."""
    return StateContext(job="job", operator="sum", subtask=subtask, attempt=1, key_groups=groups, max_parallelism=of,
                        memory_bytes=1 << 20)  # fmt: skip


def backend(subtask: int = 0, parallelism: int = 1) -> HashMapBackend:
    return HashMapBackend(context(key_groups(subtask, parallelism, GROUPS), GROUPS, subtask))


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


MAP = StateDescriptor(name="map", kind=StateKind.MAP)
TIMERS = StateDescriptor(name="timers", kind=StateKind.EVENT_TIME_TIMERS)


def restored(*parts: tuple[Manifest, dict[str, bytes]], subtask: int = 0, parallelism: int = 1) -> HashMapBackend:
    """A backend that goes on from these snapshots."""
    kept = backend(subtask, parallelism)
    contents = {path: content for _, stored in parts for path, content in stored.items()}
    kept.restore([manifest for manifest, _ in parts], PreloadedStreams(contents), claimed=False)
    return kept


def test_entries_of_a_map_are_in_the_order_of_numbers() -> None:
    table = MapTable(backend(), MAP, GROUPS)
    numbers = [5, -7, 0, -1, 300, 1 << 40]
    table.put("a", {in_order(number): b"" for number in numbers})
    assert [from_order(entry) for entry, _ in table.items("a")] == sorted(numbers)


def test_no_map_has_entries_of_another_key() -> None:
    table = MapTable(backend(), MAP, GROUPS)
    keys = ["a", "aa", "ab", "b", "", "a\xff"]
    for key in keys:
        table.put(key, {b"x": key.encode(), b"xx": b""})
    table.remove("a", [b"xx"])
    assert list(table.items("a")) == [(b"x", b"a")]
    assert all(list(table.items(key)) == [(b"x", key.encode()), (b"xx", b"")] for key in keys[1:])


def test_a_restored_table_is_walked_where_it_holds_something() -> None:
    descriptor, kept = StateDescriptor(name="sums", kind=StateKind.VALUE), backend()
    KeyedTable[int](kept, descriptor, int, (), GROUPS).put({"a": 1})
    for group in range(GROUPS):
        kept.table(MAP).put(group, b"", [(b"x", b"")], now_ms=0)
    again = KeyedTable[int](restored(uploaded(kept)), descriptor, int, range(GROUPS), GROUPS)
    assert again.present() == [key_group("a", GROUPS)]
    again.put({"b": 2})
    assert dict(again.items()) == {"a": 1, "b": 2}
    again.remove("a")
    assert again.present() == [key_group("b", GROUPS)]


class OthersBackend:
    """Somebody else's, whose tables have a method of their own."""

    def table(self, *_: object) -> OthersBackend:
        return self

    def present(self, key_group: int, key: bytes) -> bool:
        return False


def test_a_method_of_another_table_is_not_taken_for_that_of_the_heap() -> None:
    others = cast("KeyedStateBackend", OthersBackend())
    descriptor = StateDescriptor(name="sums", kind=StateKind.VALUE)
    assert KeyedTable[int](others, descriptor, int, range(GROUPS), GROUPS).present() == list(range(GROUPS))


class TestTimers:
    def made(self) -> OperatorTimers:
        return OperatorTimers(backend().timers(TIMERS), GROUPS)

    def test_those_that_are_due_are_taken_once_the_earliest_first(self) -> None:
        timers = self.made()
        timers.register(["a", "b"], 20, -3)
        timers.register(["c"], 10)
        assert timers.take(19) == [("c", 0, 10)]
        assert sorted(timers.take(20)) == [("a", -3, 20), ("b", -3, 20)]
        assert timers.take() == []

    def test_what_was_done_and_undone_is_not_told(self) -> None:
        timers = self.made()
        timers.register(["a"], 20)
        timers.delete("a", 20)
        timers.delete("b", 30)
        assert timers.changes() == ((), (), ())
        timers.register(["a"], 20)
        assert timers.changes() == ((("a", 20),), (), ())
        timers.delete("a", 20)
        timers.register(["a"], 20)
        assert timers.changes() == ((), (), ())


class TestWatermarks:
    def made(self, kept: OperatorStateBackend | None = None, splits: int = 2) -> SplitWatermarks:
        kept = kept or self.kept()
        return SplitWatermarks(kept, kept.context.key_groups, splits)

    def kept(self, subtask: int = 0, parallelism: int = 1) -> OperatorStateBackend:
        return OperatorStateBackend(backend(subtask, parallelism).context)

    def restored(
        self, *former: OperatorStateBackend, checkpoint: int = 1, subtask: int = 0, parallelism: int = 1
    ) -> OperatorStateBackend:
        """What is given all union list state of others."""
        streams = StagedStreams(lambda scope, name: f"{scope}/{name}")
        parts = [each.snapshot(checkpoint).upload(streams, lambda: False) for each in former]
        again = self.kept(subtask, parallelism)
        again.restore(parts, PreloadedStreams({path: bytes(file.content) for path, file in streams.files.items()}))
        return again

    def test_nothing_is_said_before_every_split_has_said_something(self) -> None:
        watermarks = self.made()
        watermarks.advance(0, 50)
        assert watermarks.current_ms == NO_WATERMARK_MS
        watermarks.advance(1, 30)
        assert watermarks.current_ms == 30

    def test_no_split_steps_back(self) -> None:
        watermarks = self.made(splits=1)
        for told in (50, 20, 60):
            watermarks.advance(0, told)
        assert (watermarks.current_ms, watermarks.by_split) == (60, {0: 60})

    def test_a_restored_split_holds_the_operator_before_it_says_anything(self) -> None:
        kept = self.kept()
        watermarks = self.made(kept)
        watermarks.advance(0, 50)
        watermarks.advance(1, 30)
        watermarks.store()
        again = self.made(self.restored(kept))
        again.advance(0, 90)
        assert again.current_ms == 30

    def test_key_groups_that_had_come_further_stay_there(self) -> None:
        again = self.made(self.restored(*self.halves(30, 80)), splits=1)
        assert again.current_ms == 30
        assert (again.reached_ms(0), again.reached_ms(GROUPS - 1)) == (30, 80)
        again.advance(0, 90)
        assert again.reached_ms(0) == again.reached_ms(GROUPS - 1) == 90

    def halves(self, *reached_ms: int) -> list[OperatorStateBackend]:
        """Two subtasks that have come to different places."""
        halves = [self.kept(subtask, 2) for subtask in range(2)]
        for kept, ms in zip(halves, reached_ms, strict=True):
            watermarks = self.made(kept, splits=1)
            watermarks.advance(0, ms)
            watermarks.store()
        return halves

    def test_each_subtask_goes_on_from_those_of_its_own_key_groups(self) -> None:
        again = self.made(self.restored(*self.halves(30, 80), subtask=2, parallelism=4), splits=1)
        assert (again.current_ms, again.by_split) == (80, {0: 80})

    def test_key_groups_of_which_nothing_is_stored_hold_the_operator(self) -> None:
        kept = self.restored(self.halves(30, 80)[1])
        again = self.made(kept, splits=1)
        assert (again.current_ms, again.by_split) == (NO_WATERMARK_MS, {})
        assert (again.reached_ms(0), again.reached_ms(GROUPS - 1)) == (NO_WATERMARK_MS, 80)
        third = self.made(self.restored(kept, checkpoint=2), splits=1)
        assert third.reached_ms(GROUPS - 1) == 80

    def test_key_groups_that_had_come_further_stay_there_over_the_next_restore(self) -> None:
        kept = self.restored(*self.halves(80, 30))
        watermarks = self.made(kept, splits=1)
        watermarks.advance(0, 40)
        watermarks.store()
        again = self.made(self.restored(kept, checkpoint=2), splits=1)
        assert (again.current_ms, again.by_split) == (40, {0: 40})
        assert (again.reached_ms(0), again.reached_ms(GROUPS - 1)) == (80, 40)

    def test_a_snapshot_has_one_element_of_what_two_subtasks_had(self) -> None:
        kept = self.restored(*self.halves(30, 80))
        watermarks = self.made(kept, splits=1)
        watermarks.advance(0, 90)
        watermarks.store()
        assert (
            len(kept.snapshot(2).upload(StagedStreams(lambda scope, name: name), lambda: False).elements["watermarks"])
            == 1
        )

    def test_an_idle_split_does_not_count_until_it_comes_again(self) -> None:
        watermarks = self.made()
        watermarks.advance(0, 50)
        watermarks.advance(1, IDLE_MS)
        assert watermarks.current_ms == 50
        watermarks.advance(1, 20)
        watermarks.advance(0, 90)
        assert watermarks.current_ms == 50
        watermarks.advance(1, 60)
        assert watermarks.current_ms == 60

    def test_where_all_are_idle_the_furthest_counts(self) -> None:
        watermarks = self.made()
        for split, told in ((0, 50), (1, 30), (0, IDLE_MS), (1, IDLE_MS)):
            watermarks.advance(split, told)
        assert watermarks.current_ms == 50

    def test_nothing_is_said_where_every_split_is_idle_from_the_start(self) -> None:
        watermarks = self.made()
        watermarks.advance(0, IDLE_MS)
        watermarks.advance(1, IDLE_MS)
        assert watermarks.current_ms == NO_WATERMARK_MS

    def test_a_restored_operator_does_not_step_back_to_a_split_that_was_idle(self) -> None:
        kept = self.kept()
        watermarks = self.made(kept)
        for split, told in ((1, 30), (0, 50), (1, IDLE_MS)):
            watermarks.advance(split, told)
        watermarks.store()
        again = self.made(self.restored(kept))
        again.advance(1, 40)
        assert (again.current_ms, again.by_split) == (50, {0: 50, 1: 40})


class TestLists:
    LIST = StateDescriptor(name="list", kind=StateKind.LIST)

    def made(self, kept: HashMapBackend) -> ListTable[str]:
        return ListTable(kept, self.LIST, str, GROUPS)

    def test_elements_are_in_the_order_in_which_they_came(self) -> None:
        lists = self.made(backend())
        lists.add({"a": ["x", ""], "b": ["y"]})
        lists.add({"a": ["x"]})
        assert (lists.get("a"), lists.get("b"), lists.get("c")) == (["x", "", "x"], ["y"], [])

    def test_an_update_takes_the_place_of_all_and_an_empty_one_removes(self) -> None:
        lists = self.made(backend())
        lists.add({"a": ["x"], "b": ["y"]})
        lists.update("a", ["z", "z"])
        lists.update("b", [])
        assert (lists.get("a"), lists.get("b")) == (["z", "z"], [])

    def test_the_next_life_finds_them(self) -> None:
        first = backend()
        self.made(first).add({"a": ["x", "y"]})
        assert self.made(restored(uploaded(first))).get("a") == ["x", "y"]


PLAN = Plan(job=KEYED_SUM, workload=WorkloadSpec("synthetic", {}), topology=Topology(parallelism=1))
GRAPH = graph_of(PLAN, configure(PLAN))
CANONICAL_GROUPS = GRAPH.max_parallelism
LANES = 2
CANONICAL_KEYS = tuple(f"key-{number}" for number in range(20))
ROWS = [FoldRow(key, 7 * number, (number + 1, 2), 1 << number) for number, key in enumerate(CANONICAL_KEYS)]
DICTIONARY = Dictionary.of(CANONICAL_KEYS, GRAPH)
CHECKPOINTS = count(10)
"""Each is greater than those before it."""
MAKERS: dict[str, Callable[[StateContext], KeyedState]] = {
    "hashmap": HashMapBackend,
    "named-files": NamedFilesBackend,
    "columnar": lambda context: ColumnarBackend(context, DICTIONARY, LANES),
}


def handler(name: str, groups: range = range(CANONICAL_GROUPS)) -> StateHandler:
    made = context(groups, CANONICAL_GROUPS)
    return StateHandler(MAKERS[name](made), context=made)


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
    RowState(first.keyed, SUMS, (), CANONICAL_GROUPS).put(ROWS)
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
    half = range(CANONICAL_GROUPS // 2)
    restored = handler(reader, half)
    restored.restore((manifest,), (), PreloadedStreams(contents))
    own = sorted(key for key in CANONICAL_KEYS if key_group(key, CANONICAL_GROUPS) in half)
    assert sorted(entry.key.decode() for entry in entries(restored)) == own
    assert all(entry.namespace == NO_NAMESPACE for entry in entries(restored))


def test_a_key_group_that_no_part_holds_is_refused() -> None:
    half = handler("hashmap", range(CANONICAL_GROUPS // 2))
    manifest, contents = taken(half, 4)
    with pytest.raises(ValueError, match="belongs in one"):
        handler("named-files").restore((manifest,), (), PreloadedStreams(contents))


def test_a_changed_byte_is_noticed() -> None:
    manifest, contents = taken(filled("hashmap"), 4)
    (path,) = contents
    contents[path] = contents[path][:-1] + bytes([contents[path][-1] ^ 1])
    with pytest.raises(ValueError, match="not what was written"):
        handler("named-files").restore((manifest,), (), PreloadedStreams(contents))
