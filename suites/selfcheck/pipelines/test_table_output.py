"""A table as the committed reader sees it: what is added, replaced, put back, and gone."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.fixtures.pipelines.output.kept_rows import KeptRows
from holdfast.fixtures.pipelines.output.outgoing import TableOutput
from holdfast.fixtures.pipelines.output.pipeline_output import PipelineOutput
from holdfast.fixtures.pipelines.output.reader import InTable
from holdfast.fixtures.pipelines.output.table_output import TableLook
from holdfast.fixtures.pipelines.rows.decoder import IdentityRows
from holdfast.fixtures.tables.sqlite_table import SqliteTable
from holdfast.harness.adapter.recorder import Recorder
from holdfast.harness.model.capability import OutputMode
from holdfast.harness.model.events import Event, RowsChanged, RowsVisible

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
