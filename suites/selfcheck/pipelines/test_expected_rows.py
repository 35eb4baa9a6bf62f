"""Rows of any types against those that are expected: what is equal, what differs, and how it is told."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from holdfast.fixtures.pipelines.answer.expected_rows import ExpectedRows
from holdfast.fixtures.pipelines.rows.row_form import form_of
from holdfast.harness.model.records import NO_PARTITION

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
    assert due.named(NO_PARTITION, 0) == (
        "row (key='b', sum=3), where the nearest missing row has other values (sum 3 instead of 2) from somewhere"
    )


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
