"""A table of PostgreSQL as the committed reader sees it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.fixtures.pipelines.output.outgoing import TableOutput
from holdfast.fixtures.pipelines.output.stored_output import KeptRows
from holdfast.fixtures.pipelines.output.table_output import TableLook
from holdfast.fixtures.services.processes.database import missing_database
from holdfast.fixtures.systems.structured_streaming.endpoints import Endpoints
from holdfast.fixtures.tables.run_database import RunDatabase
from holdfast.harness.model.capability import OutputMode
from holdfast.harness.model.events import RowsChanged, RowsVisible
from holdfast.suites.selfcheck.marks import unless

ABSENT = missing_database()
pytestmark = [pytest.mark.tier("process"), pytest.mark.nightly, unless(ABSENT)]
URL = "postgresql://"


@pytest.fixture(scope="module")
def stack() -> Iterator[Any]:
    from holdfast.fixtures.services.processes.stack import ProcessStack

    with closing(ProcessStack()) as made:
        yield made


@pytest.fixture
def database(stack: Any) -> Iterator[RunDatabase]:
    made = RunDatabase(stack)
    yield made
    made.release()


@pytest.fixture
def writer(database: RunDatabase) -> Iterator[Any]:
    import psycopg

    with closing(psycopg.connect(database.url, autocommit=True)) as connection:
        connection.execute('CREATE TABLE orders ("partition" int, "offset" bigint, seen int)')
        yield connection


class Reader:
    """Who looks at tables of a database, and leaves it in the end."""

    def __init__(self, database: RunDatabase, folder: Path) -> None:
        self._database = database
        self._folder = folder
        self._tables: list[Any] = []

    def table(self, name: str) -> Any:
        from holdfast.fixtures.tables.postgres_table import PostgresTable

        self._tables.append(PostgresTable(self._database.direct_url, name))
        return self._tables[-1]

    def looking(self, table: str = "orders", **declared: Any) -> TableLook:
        output = TableOutput(url=URL, table=table, **declared)
        return TableLook(self.table(table), output, ("partition", "offset"), KeptRows(self._folder))

    def close(self) -> None:
        for table in self._tables:
            table.close()


@pytest.fixture
def reader(database: RunDatabase, tmp_path: Path) -> Iterator[Reader]:
    with closing(Reader(database, tmp_path)) as made:
        yield made


def test_rows_count_when_their_transaction_is_committed(reader: Reader, writer: Any) -> None:
    look = reader.looking()
    writer.execute("BEGIN")
    writer.execute("INSERT INTO orders VALUES (0, 0, 1), (0, 1, 1)")
    assert look.poll() == []
    writer.execute("COMMIT")
    [first] = look.poll()
    assert isinstance(first, RowsVisible)
    assert first.records == 2
    assert not look._database.changed()
    assert look.poll() == []
    writer.execute("INSERT INTO orders VALUES (0, 1, 1)")
    assert look._database.changed()
    [again] = look.poll(final=True)
    assert isinstance(again, RowsVisible)
    assert again.records == 1


def test_a_row_that_steps_back_or_vanishes_is_named(reader: Reader, writer: Any) -> None:
    look = reader.looking(key=("offset",), version="seen")
    writer.execute("INSERT INTO orders VALUES (0, 0, 5), (0, 1, 1)")
    look.poll()
    writer.execute('UPDATE orders SET seen = 4 WHERE "offset" = 0')
    writer.execute('DELETE FROM orders WHERE "offset" = 1')
    [changed] = look.poll()
    assert isinstance(changed, RowsChanged)
    assert (changed.gone, changed.older) == (("offset=1",), ("offset=0 (seen 4 after 5)",))


def test_a_table_may_be_in_a_schema_be_dropped_and_come_back(reader: Reader, writer: Any) -> None:
    look = reader.looking("shop.orders", contract=OutputMode.OVERWRITE)
    assert look.poll() == []
    writer.execute("CREATE SCHEMA shop")
    writer.execute("CREATE TABLE shop.orders AS SELECT 0 AS partition, 0 AS offset")
    assert len(look.poll()) == 1
    writer.execute("DROP TABLE shop.orders")
    [gone] = look.poll()
    assert isinstance(gone, RowsChanged)
    assert gone.vanished


def test_a_database_that_does_not_answer_is_looked_at_again(stack: Any, reader: Reader, writer: Any) -> None:
    look = reader.looking()
    writer.execute("INSERT INTO orders VALUES (0, 0, 1)")
    assert len(look.poll()) == 1
    stack.database.down()
    try:
        assert look.poll() == []
        with pytest.raises(OSError, match="the database of table orders does not answer") as refused:
            look.poll(final=True)
    finally:
        stack.database.up()
    assert look.polls == 1
    assert not [secret for secret in stack.secrets if secret in str(refused.value)]
    assert look.poll(final=True) == []


def test_it_says_where_it_looked_without_the_password(stack: Any, reader: Reader, writer: Any) -> None:
    said = reader.table("sales").describe()
    assert said.endswith("; is there orders")
    assert ":***@" in said
    assert not [secret for secret in stack.secrets if secret in said]
    assert reader.table("orders").describe().endswith("it has no row")


def test_java_is_told_the_same_database(database: RunDatabase) -> None:
    endpoints = Endpoints("in", "out", "state", 1, 1, table_url=database.url)
    address, _, words = endpoints.jdbc_url.removeprefix("jdbc:").partition("?")
    user, password = (word.partition("=")[2] for word in words.split("&"))
    assert address.replace("://", f"://{user}:{password}@") == database.url
    assert Endpoints("in", "out", "state", 1, 1, table_url="sqlite:///a").jdbc_url == ""
