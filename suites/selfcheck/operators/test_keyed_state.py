"""Typed state above a backend: maps, timers and watermarks, as the next life finds them."""

from __future__ import annotations

from typing import cast

from holdfast.fixtures.backends.changelog.backend import ChangelogBackend
from holdfast.fixtures.backends.hashmap import HashMapBackend
from holdfast.fixtures.reference.operators.event_time import SplitWatermarks
from holdfast.fixtures.reference.operators.key_group import key_group
from holdfast.fixtures.reference.operators.keyed_table import KeyedTable
from holdfast.fixtures.reference.operators.list_table import ListTable
from holdfast.fixtures.reference.operators.map_table import MapTable, from_order, in_order
from holdfast.fixtures.reference.operators.operator_timers import OperatorTimers
from holdfast.fixtures.reference.operators.plain import IDLE_MS, NO_WATERMARK_MS
from holdfast.fixtures.reference.protocol.storage.staged_streams import PreloadedStreams
from holdfast.harness.spi.state import KeyedStateBackend, Manifest, StateDescriptor, StateKind
from holdfast.suites.selfcheck.operators.test_row_state import GROUPS, backend, uploaded

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
    assert again.present == {key_group("a", GROUPS)}
    again.put({"b": 2})
    assert dict(again.items()) == {"a": 1, "b": 2}


class OthersBackend:
    """Somebody else's, whose tables have a method of their own."""

    def table(self, *_: object) -> OthersBackend:
        return self

    def present(self, key_group: int, key: bytes) -> bool:
        return False


def test_a_method_of_another_table_is_not_taken_for_that_of_the_heap() -> None:
    others = cast("KeyedStateBackend", OthersBackend())
    descriptor = StateDescriptor(name="sums", kind=StateKind.VALUE)
    assert KeyedTable[int](others, descriptor, int, range(GROUPS), GROUPS).present == set(range(GROUPS))


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
        assert timers.told() == ((), (), ())
        timers.register(["a"], 20)
        assert timers.told() == ((("a", 20),), (), ())
        timers.delete("a", 20)
        timers.register(["a"], 20)
        assert timers.told() == ((), (), ())


class TestWatermarks:
    def made(self, kept: HashMapBackend | ChangelogBackend, splits: int = 2) -> SplitWatermarks:
        return SplitWatermarks(kept, kept.context.key_groups, splits, stored=kept.context.key_groups)

    def test_nothing_is_said_before_every_split_has_said_something(self) -> None:
        watermarks = self.made(backend())
        watermarks.advance(0, 50)
        assert watermarks.current_ms == NO_WATERMARK_MS
        watermarks.advance(1, 30)
        assert watermarks.current_ms == 30

    def test_no_split_steps_back(self) -> None:
        watermarks = self.made(backend(), splits=1)
        for told in (50, 20, 60):
            watermarks.advance(0, told)
        assert (watermarks.current_ms, watermarks.by_split) == (60, {0: 60})

    def test_a_restored_split_holds_the_operator_before_it_says_anything(self) -> None:
        kept = backend()
        watermarks = self.made(kept)
        watermarks.advance(0, 50)
        watermarks.advance(1, 30)
        watermarks.store()
        again = self.made(restored(uploaded(kept)))
        again.advance(0, 90)
        assert again.current_ms == 30

    def test_key_groups_that_had_come_further_stay_there(self) -> None:
        parts = []
        for subtask, told in enumerate((30, 80)):
            kept = backend(subtask, 2)
            watermarks = self.made(kept, splits=1)
            watermarks.advance(0, told)
            watermarks.store()
            parts.append(uploaded(kept))
        again = self.made(restored(*parts), splits=1)
        assert again.current_ms == 30
        assert (again.reached_ms(0), again.reached_ms(GROUPS - 1)) == (30, 80)
        again.advance(0, 90)
        assert again.reached_ms(0) == again.reached_ms(GROUPS - 1) == 90

    def test_every_key_group_holds_them_also_where_a_table_takes_one_at_a_time(self) -> None:
        held = []
        for kept in (backend(), ChangelogBackend(HashMapBackend, backend().context)):
            watermarks = self.made(kept)
            watermarks.advance(0, 50)
            watermarks.advance(1, 30)
            watermarks.store()
            assert self.made(kept).by_split == {0: 50, 1: 30}
            held.append(list(kept.snapshot(1).entries()))
            kept.close()
        assert [entry.key_group for entry in held[0]] == list(range(GROUPS))
        assert held[0] == held[1]

    def test_an_idle_split_does_not_count_until_it_comes_again(self) -> None:
        watermarks = self.made(backend())
        watermarks.advance(0, 50)
        watermarks.advance(1, IDLE_MS)
        assert watermarks.current_ms == 50
        watermarks.advance(1, 20)
        watermarks.advance(0, 90)
        assert watermarks.current_ms == 50
        watermarks.advance(1, 60)
        assert watermarks.current_ms == 60

    def test_where_all_are_idle_the_furthest_counts(self) -> None:
        watermarks = self.made(backend())
        for split, told in ((0, 50), (1, 30), (0, IDLE_MS), (1, IDLE_MS)):
            watermarks.advance(split, told)
        assert watermarks.current_ms == 50

    def test_nothing_is_said_where_every_split_is_idle_from_the_start(self) -> None:
        watermarks = self.made(backend())
        watermarks.advance(0, IDLE_MS)
        watermarks.advance(1, IDLE_MS)
        assert watermarks.current_ms == NO_WATERMARK_MS

    def test_a_restored_operator_does_not_step_back_to_a_split_that_was_idle(self) -> None:
        kept = backend()
        watermarks = self.made(kept)
        for split, told in ((1, 30), (0, 50), (1, IDLE_MS)):
            watermarks.advance(split, told)
        watermarks.store()
        again = self.made(restored(uploaded(kept)))
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
