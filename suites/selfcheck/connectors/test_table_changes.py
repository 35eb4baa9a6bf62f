"""What a look at a table shows that the look before did not."""

from __future__ import annotations

from holdfast.fixtures.reference.connectors.table_changes import TableChanges
from holdfast.harness.spi.sink import Row


def rows(*texts: str) -> list[Row]:
    return [Row(b"key", text.encode()) for text in texts]


def test_new_rows_are_told_in_the_order_of_the_table() -> None:
    changes = TableChanges(upserts=False)
    assert changes.look(rows("1", "2")).appeared == rows("1", "2")
    assert changes.look(rows("1", "2", "3", "4")).appeared == rows("3", "4")
    assert changes.look(rows("1", "2", "3", "4")) == ([], [])


def test_a_row_like_an_older_one_is_new_where_it_stands_last() -> None:
    changes = TableChanges(upserts=False)
    changes.look(rows("1", "2"))
    assert changes.look(rows("1", "2", "1a", "2")).appeared == rows("1a", "2")


def test_a_row_between_older_ones_is_new_and_one_that_is_gone_is_told() -> None:
    changes = TableChanges(upserts=False)
    changes.look(rows("1", "3"))
    assert changes.look(rows("1", "2", "3")).appeared == rows("2")
    assert changes.look(rows("1", "2")).gone == ["key"]
