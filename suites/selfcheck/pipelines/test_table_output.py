"""Rows that pipelines commit, in tables, units and topics, against those that are expected."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from holdfast.fixtures.pipelines.answer.expected_answer import ExpectedRows
from holdfast.fixtures.pipelines.output.outgoing import FileFormat, TableOutput
from holdfast.fixtures.pipelines.output.pipeline_output import PipelineOutput, Seen, UnitVersions
from holdfast.fixtures.pipelines.output.reader import InTable
from holdfast.fixtures.pipelines.output.stored_output import KeptRows
from holdfast.fixtures.pipelines.output.table_output import TableLook
from holdfast.fixtures.pipelines.output.topic_output import TopicRows
from holdfast.fixtures.pipelines.rows.decoder import IdentityRows
from holdfast.fixtures.pipelines.rows.row_form import form_of
from holdfast.fixtures.tables.readers import SqliteTable
from holdfast.harness.adapter.recorder import Recorder
from holdfast.harness.model.capability import OutputMode
from holdfast.harness.model.events import Event, RowsChanged, RowsVisible
from holdfast.harness.model.records import NO_PARTITION

URL = "sqlite:///any"
KEYED = TableOutput(url=URL, table="orders", key=("partition", "offset"), version="seen")


class Orders:
    """A table, who writes it, and who looks at it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "orders.db"
        self.writer = sqlite3.connect(self.path, isolation_level=None)
        self.writer.execute('CREATE TABLE orders ("partition" INT, "offset" INT, seen INT)')
        self._folder = folder
        self._tables: list[SqliteTable] = []

    def table(self, name: str) -> SqliteTable:
        """As a reader sees it; `close` closes it."""
        self._tables.append(SqliteTable(self.path, name))
        return self._tables[-1]

    def close(self) -> None:
        self.writer.close()
        for table in self._tables:
            table.close()

    def looking(self, declared: TableOutput) -> TableLook:
        kept = self._folder / "kept"
        kept.mkdir()
        return TableLook(self.table("orders"), declared, IdentityRows.columns, KeptRows(kept))

    def insert(self, *rows: tuple[int, int, int]) -> None:
        self.writer.executemany("INSERT INTO orders VALUES (?, ?, ?)", rows)

    def set(self, offset: int, seen: int) -> None:
        self.writer.execute('UPDATE orders SET seen = ? WHERE "offset" = ?', (seen, offset))

    def delete(self, offset: int) -> None:
        self.writer.execute('DELETE FROM orders WHERE "offset" = ?', (offset,))


@pytest.fixture
def orders(tmp_path: Path) -> Iterator[Orders]:
    with closing(Orders(tmp_path)) as made:
        yield made


def changed(events: list[Event]) -> RowsChanged:
    [event] = events
    assert isinstance(event, RowsChanged)
    return event


def test_rows_that_are_appended_are_a_unit_of_each_look(orders: Orders) -> None:
    look = orders.looking(TableOutput(url=URL, table="orders"))
    assert look.poll() == []
    orders.insert((0, 0, 1), (0, 1, 1))
    [first] = look.poll()
    assert look.poll() == []
    orders.insert((0, 1, 1))
    [again] = look.poll()
    assert isinstance(first, RowsVisible)
    assert isinstance(again, RowsVisible)
    assert (first.records, again.records, first.name != again.name) == (2, 1, True)
    orders.delete(0)
    assert changed(look.poll()).gone == ("(0, 0, 1)",)
    assert look.poll(final=True) == []


def test_of_an_upserted_table_the_last_row_of_each_key_counts(orders: Orders) -> None:
    look = orders.looking(KEYED)
    orders.insert((0, 0, 1), (0, 1, 1))
    assert len(look.poll()) == 1
    orders.set(1, 5)
    newer = changed(look.poll())
    assert (newer.name, newer.records, newer.compared, newer.gone, newer.older) == ("orders", 2, 1, (), ())
    orders.set(1, 4)
    assert changed(look.poll()).older == ("partition=0, offset=1 (seen 4 after 5)",)
    orders.delete(1)
    assert changed(look.poll()).gone == ("partition=0, offset=1",)


def test_without_a_version_a_value_may_come_back(orders: Orders) -> None:
    look = orders.looking(TableOutput(url=URL, table="orders", key=("offset",)))
    orders.insert((0, 1, 5))
    look.poll()
    orders.set(1, 4)
    look.poll()
    orders.set(1, 5)
    back = changed(look.poll())
    assert (back.compared, back.older) == (0, ())


def test_a_table_that_is_dropped_vanishes_and_may_come_back(orders: Orders) -> None:
    look = orders.looking(TableOutput(url=URL, table="orders", contract=OutputMode.OVERWRITE))
    orders.insert((0, 0, 1))
    look.poll()
    orders.writer.execute("DROP TABLE orders")
    assert changed(look.poll()).vanished
    assert look.poll() == []
    orders.writer.execute('CREATE TABLE orders ("partition" INT, "offset" INT)')
    orders.writer.execute("INSERT INTO orders VALUES (0, 0)")
    back = changed(look.poll())
    assert (back.vanished, back.records) == (False, 1)


def test_what_a_transaction_has_not_committed_is_not_there(orders: Orders) -> None:
    look = orders.looking(KEYED)
    orders.writer.execute("BEGIN")
    orders.insert((0, 0, 1))
    assert look.poll() == []
    orders.writer.execute("COMMIT")
    assert len(look.poll()) == 1


def test_a_locked_database_is_looked_at_again(orders: Orders) -> None:
    look = orders.looking(KEYED)
    orders.insert((0, 0, 1))
    orders.writer.execute("BEGIN EXCLUSIVE")
    assert look.poll() == []
    assert (look.polls, look.blind_ns > 0) == (0, True)
    orders.writer.execute("COMMIT")
    assert len(look.poll()) == 1


def test_a_table_without_a_column_is_a_problem(orders: Orders) -> None:
    look = orders.looking(TableOutput(url=URL, table="orders", key=("order_id",)))
    orders.insert((0, 0, 1))
    with pytest.raises(OSError, match="table orders: it has no column 'order_id', only partition, offset, seen"):
        look.poll()


def test_it_says_where_it_looked(orders: Orders, tmp_path: Path) -> None:
    assert orders.looking(KEYED).describe().endswith("orders.db; it has no row")
    assert "is there orders" in orders.table("sales").describe()
    assert "is no file; beside it is " in SqliteTable(tmp_path / "none.db", "orders").describe()


@pytest.mark.parametrize(
    ("declared", "expected"),
    [(KEYED, [(0, 0), (1, 1)]), (TableOutput(url=URL, table="orders"), [(0, 0), (0, 1), (1, 1)])],
    ids=["upserted", "appended"],
)
def test_output_is_the_last_content_unless_it_is_appended_to(
    orders: Orders, tmp_path: Path, declared: TableOutput, expected: Any
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    orders.insert((0, 0, 1), (0, 1, 1))
    committed = PipelineOutput(InTable(f"sqlite:///{orders.path}", declared), IdentityRows.columns, Recorder(), folder)
    try:
        committed.await_start()
        while not committed._versions.last():
            committed.hear()
        orders.writer.execute('UPDATE orders SET "partition" = 1 WHERE "offset" = 1')
        committed.finish()
        committed.decode(IdentityRows())
        assert (committed.problem, committed.nothing) == ("", "")
        rows = [(row.partition, row.offset) for row in committed.output.rows()]  # type: ignore[union-attr]
        assert rows == expected
    finally:
        committed.close()


NOON = datetime(2024, 1, 1, 12, tzinfo=UTC)


def found(decoder: ExpectedRows, *rows: Mapping[str, Any]) -> list[tuple[int, int]]:
    decoded = decoder.rows(pa.Table.from_pylist(list(rows)))
    return [(row.partition, row.offset) for row in decoded]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([1, [2, None]], (1, (2, None))),
        ({"a": 1, "b": {"c": [1]}}, {"b": {"c": (1,)}, "a": 1}),
        (Decimal("1.50"), Decimal("1.5")),
        (NOON, datetime(2024, 1, 1, 12)),
        (NOON, NOON.astimezone(timezone(timedelta(hours=5)))),
        (0.1 + 0.2, 0.3),
        (float("nan"), float("nan")),
        (np.int64(7), 7),
        (b"a", bytearray(b"a")),
    ],
)
def test_equal_values(one: object, other: object) -> None:
    first, second = form_of({"": one}), form_of({"": other})
    assert first.exact == second.exact
    assert first.close_to(second.floats)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([1, 2], [2, 1]),
        ({"a": 1}, {"a": 2}),
        ({"a": None}, {}),
        (0.3, 0.3001),
        (float("nan"), 0.0),
        (NOON, NOON + timedelta(microseconds=1)),
        ("1", 1),
        ([], None),
    ],
)
def test_values_that_differ(one: object, other: object) -> None:
    first, second = form_of({"": one}), form_of({"": other})
    assert first.exact != second.exact or not first.close_to(second.floats)


def test_nested_rows_stand_for_their_places() -> None:
    rows = [{"id": 1, "items": [{"sku": "a"}]}, {"id": 2, "items": []}]
    assert found(ExpectedRows(rows), *reversed(rows)) == [(0, 1), (0, 0)]


def test_a_row_that_nobody_expects_is_told_beside_the_nearest_missing_one() -> None:
    decoder = ExpectedRows([{"key": "a", "sum": 1}, {"key": "b", "sum": 2}], explained=lambda row: " from somewhere")
    assert found(decoder, {"key": "a", "sum": 1}, {"key": "b", "sum": 3}) == [(0, 0), (NO_PARTITION, 0)]
    due = decoder.due()
    assert due.named(0, 1) == "row (key='b', sum=2) from somewhere"
    assert due.named(NO_PARTITION, 0) == "row (key='b', sum=3) from somewhere, where sum is 3 instead of 2 (too high)"
    assert due.too_high == (0,)


def test_a_row_of_no_expected_key_is_told_beside_the_nearest_missing_one() -> None:
    decoder = ExpectedRows([{"key": "a", "sum": 1}, {"key": "b", "sum": 2}], explained=lambda row: " from somewhere")
    assert found(decoder, {"key": "a", "sum": 1}, {"key": "c", "sum": 2}) == [(0, 0), (NO_PARTITION, 0)]
    assert decoder.due().wrong == ()
    assert decoder.due().named(NO_PARTITION, 0) == (
        "row (key='c', sum=2), where the nearest missing row has other values (key 'c' instead of 'b') from somewhere"
    )


TOTALS: list[dict[str, Any]] = [{"shop": "a", "total": 1, "orders": 1}, {"shop": "b", "total": 2, "orders": 1}]
DAYS: list[dict[str, Any]] = [{"total": 2, "day": day, "shop": shop} for day in ("mon", "tue") for shop in ("a", "b")]


@pytest.mark.parametrize(
    ("expected", "key", "rows", "wrong"),
    [
        # Of shop b the total is another one; which row comes first does not matter.
        (TOTALS, (), [TOTALS[0], {**TOTALS[1], "total": 4}], ((0, 1),)),
        (TOTALS, (), [{**TOTALS[1], "total": 0, "orders": 2}, TOTALS[0]], ((0, 1),)),
        (TOTALS, (), [{**TOTALS[1], "total": 9}, {**TOTALS[0], "total": 9}], ((0, 1), (1, 0))),
        # Two columns are needed to tell rows apart, and no total is one of them.
        (DAYS, (), [*DAYS[:3], {**DAYS[3], "total": 3}], ((0, 3),)),
        # Whole numbers are a key where nothing else is; floating-point numbers never are.
        ([{"id": 1, "sum": 0.5}, {"id": 2, "sum": 1.5}], (), [{"id": 2, "sum": 0.5}], ((0, 1),)),
        ([{"sum": 0.5}, {"sum": 1.5}], (), [{"sum": 2.5}], ()),
        # One row alone, of numbers.
        ([{"total": 5}], (), [{"total": 6}], ((0, 0),)),
        # A declared key counts: where it is another, a row is missing.
        (TOTALS, ("orders", "total"), [TOTALS[0], {**TOTALS[1], "total": 4}], ()),
        (TOTALS, ("shop",), [TOTALS[0], {**TOTALS[1], "total": 4}], ((0, 1),)),
        (TOTALS, ("none",), [TOTALS[0], {**TOTALS[1], "total": 4}], ((0, 1),)),
        # The row of its key is there, or one with wrong values stands for it.
        (TOTALS, (), [*TOTALS, {**TOTALS[1], "total": 4}], ()),
        (TOTALS, (), [TOTALS[0], {**TOTALS[1], "total": 4}, {**TOTALS[1], "total": 5}], ((0, 1),)),
        # Another key is no other value.
        (TOTALS, (), [TOTALS[0], {**TOTALS[1], "shop": "c"}], ()),
        # Rows that are expected more than once have no key.
        ([*TOTALS, TOTALS[1]], (), [*TOTALS, {**TOTALS[1], "total": 4}], ()),
    ],
)
def test_a_row_with_wrong_values_stands_for_the_missing_row_of_its_key(
    expected: list[dict[str, Any]],
    key: tuple[str, ...],
    rows: list[dict[str, Any]],
    wrong: tuple[tuple[int, int], ...],
) -> None:
    decoder = ExpectedRows(expected, key=key)
    found(decoder, *rows)
    assert decoder.due().wrong == wrong


def test_a_wrong_value_is_told_with_its_direction_where_it_is_a_number() -> None:
    expected = {"shop": "a", "total": 2.0, "orders": 3, "best": "pen", "open": None}
    decoder = ExpectedRows([expected, {**expected, "shop": "b"}])
    found(decoder, expected, {"shop": "b", "total": 1.5, "orders": 4, "best": "cup", "open": 1})
    assert decoder.due().named(NO_PARTITION, 0).partition(", where ")[2] == (
        "total is 1.5 instead of 2.0 (too low), orders is 4 instead of 3 (too high), best is 'cup' instead of 'pen', "
        "open is 1 instead of None"
    )
    assert not decoder.due().too_high


def test_what_is_no_number_is_neither_too_high_nor_too_low() -> None:
    decoder = ExpectedRows([{"shop": "a", "total": Decimal("NaN")}])
    found(decoder, {"shop": "a", "total": Decimal(2)})
    assert decoder.due().named(NO_PARTITION, 0).endswith("total is Decimal('2') instead of Decimal('NaN')")


def test_a_row_that_only_markers_complete_may_be_there_once_and_need_not_be() -> None:
    regular, marker = {"user": "a"}, {"user": "marker"}
    absent = ExpectedRows([regular, marker], [regular], markers_due=False)
    assert found(absent, regular) == [(0, 0)]
    assert absent.due().lengths() == (1,)
    twice = ExpectedRows([regular, marker], [regular], markers_due=False)
    assert found(twice, marker, regular, marker) == [(0, 1), (0, 0), (0, 1)]
    assert (twice.due().lengths(), twice.due().partitions[0].markers) == ((2,), 1)
    other = ExpectedRows([regular, marker], [regular], markers_due=False)
    assert found(other, {"user": "b"}) == [(NO_PARTITION, 0)]


def test_a_regular_row_is_due_where_markers_are_not() -> None:
    decoder = ExpectedRows([{"user": "a"}, {"user": "b"}], [{"user": "a"}, {"user": "b"}], markers_due=False)
    assert found(decoder, {"user": "b"}) == [(0, 1)]
    assert decoder.due().lengths() == (2,)


def test_of_a_unique_key_only_its_columns_count() -> None:
    decoder = ExpectedRows([{"id": 1}, {"id": 2}], columns=["id"])
    assert found(decoder, {"id": 2, "sum": 5}, {"id": 2, "sum": 6}) == [(0, 1), (0, 1)]


DAY = date(2024, 1, 1)


@pytest.mark.parametrize(
    ("expected", "written"),
    [
        (NOON, "2024-01-01T12:00:00.000Z"),
        (NOON, "2024-01-01 12:00:00"),
        (DAY, "2024-01-01"),
        (Decimal("1.50"), 1.5),
        (Decimal("12345678901234567890.5"), "12345678901234567890.5"),
        (b"ab", "YWI="),
        (3.0, 3),
        ("7", 7),
        ({"at": [NOON]}, {"at": ["2024-01-01T12:00:00Z"]}),
    ],
)
def test_values_without_a_type_of_their_own_are_read_as_the_one_expected(expected: object, written: object) -> None:
    assert found(ExpectedRows([{"a": expected}]), {"a": written}) == [(0, 0)]


@pytest.mark.parametrize(
    ("expected", "written"),
    [
        (NOON, "2024-01-01T12:00:01Z"),
        (NOON, "noon"),
        (DAY, "2024-01-02"),
        (Decimal("1.50"), 1.51),
        (b"ab", "ab"),
        ("7", "07"),
        (7, "7"),
    ],
)
def test_what_is_read_as_the_type_expected_may_still_differ(expected: object, written: object) -> None:
    assert found(ExpectedRows([{"a": expected}]), {"a": written}) == [(NO_PARTITION, 0)]


def visible(name: str, poll: int) -> RowsVisible:
    return RowsVisible(name=name, poll=poll, records=1, checksum=0)


def changed_units(name: str, poll: int, records: int | None = 1) -> RowsChanged:
    return RowsChanged(name=name, poll=poll, vanished=records is None, records=records)


def versions(*events: Seen, replaceable: bool = True) -> UnitVersions:
    made = UnitVersions(replaceable=replaceable)
    for event in events:
        made.add(event)
    return made


def held(made: UnitVersions) -> list[list[tuple[str, int]]]:
    """By look."""
    return [[(event.name, number) for number, event in found] for _, found in made.looks()]


def test_the_last_content_of_each_unit_counts() -> None:
    made = versions(visible("a", 1), visible("b", 1), changed_units("a", 2), visible("c", 3))
    assert held(made) == [[("a", 0), ("b", 1)], [("b", 1), ("a", 2)], [("b", 1), ("a", 2), ("c", 3)]]
    assert [(number, event.poll) for number, event in made.last()] == [(1, 1), (2, 2), (3, 3)]


def test_a_unit_that_vanished_counts_again_when_it_is_back() -> None:
    assert held(versions(visible("a", 1), changed_units("a", 2, None), changed_units("a", 3))) == [
        [("a", 0)],
        [],
        [("a", 1)],
    ]


def test_where_nothing_may_be_replaced_what_was_seen_once_counts() -> None:
    rewritten = RowsChanged(name="b", poll=3, vanished=False)
    made = versions(visible("a", 1), changed_units("a", 2, None), rewritten, replaceable=False)
    assert held(made) == [[("a", 0)]]


def test_without_output_nothing_is_held() -> None:
    assert versions().last() == []


class Message:
    """What a consumer hands over."""

    def __init__(self, offset: int, value: bytes | None, key: bytes | None = None, partition: int = 0) -> None:
        self._fields = {"offset": offset, "value": value, "key": key, "partition": partition}

    def __getattr__(self, name: str) -> Any:
        return lambda: self._fields[name]


def kept(folder: Path, file_format: FileFormat, columns: tuple[str, ...], *messages: Message) -> list[Any]:
    """By unit, its rows."""
    rows = TopicRows("orders", file_format, columns, KeptRows(folder))
    for unit in rows.group(messages):
        rows.keep(unit)
    return [pa.ipc.open_file(path.read_bytes()).read_all().to_pylist() for path in sorted(folder.iterdir())]


def test_values_are_objects_of_any_shape(tmp_path: Path) -> None:
    messages = (
        Message(0, b'{"id":1,"order":{"items":[{"sku":"a","count":2}]}}'),
        Message(1, None),
        Message(2, b'{"id":2}'),
        Message(0, b'{"id":3,"order":null}', partition=1),
    )
    nested = {"items": [{"sku": "a", "count": 2}]}
    first = [{"id": 1, "order": nested}, {"id": 2, "order": None}]
    assert kept(tmp_path, FileFormat.JSON, (), *messages) == [first, [{"id": 3, "order": None}]]


def test_only_columns_that_are_judged_are_kept(tmp_path: Path) -> None:
    assert kept(tmp_path, FileFormat.JSON, ("id",), Message(0, b'{"id":1,"x":2}')) == [[{"id": 1}]]


def test_key_and_value_are_texts(tmp_path: Path) -> None:
    messages = Message(0, b"one", b"a"), Message(1, b"two")
    rows = [{"key": "a", "value": "one"}, {"key": None, "value": "two"}]
    assert kept(tmp_path, FileFormat.TEXT, ("key", "value"), *messages) == [rows]


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (b"\x00\x01", "orders-0-from-7: a message is not json of these columns"),
        (b"[1]", "a row is \\[1\\], and no object"),
        (b'{"sum":1}', "a row has none of the columns id, only sum"),
    ],
)
def test_a_message_of_another_kind_is_a_problem(value: bytes, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(OSError, match=sentence):
        kept(tmp_path, FileFormat.JSON, ("id",), Message(7, value))
