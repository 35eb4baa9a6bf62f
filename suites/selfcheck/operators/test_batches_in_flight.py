"""Batches in flight, of columns and of rows, come back as they were."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from holdfast.fixtures.reference.operators.batches import (
    InFlightColumns,
    PartialSums,
    RecordColumns,
    decode_columns_in_flight,
)
from holdfast.fixtures.reference.operators.plain import (
    InFlightRows,
    InputBatch,
    PlainPassThrough,
    decode_rows_in_flight,
)
from holdfast.fixtures.reference.operators.representation import Rows, rows_from_arrow, rows_to_arrow
from holdfast.fixtures.reference.protocol.execution_graph import execution_graph
from holdfast.fixtures.reference.protocol.messages import Records
from holdfast.harness.model.jobs import SLIDING_SUM
from holdfast.harness.model.plan import Topology
from holdfast.harness.model.records import FoldColumns, FoldRow, IdentityColumns, WindowRow

KEYS = ("a", "b", "c", "d")


def numbers(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def digests(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.uint64)


SUMS = PartialSums(0, 5, numbers(1, 3), numbers(4, 5), numbers(2, 3), digests(6, 7))
OTHER_SUMS = PartialSums(1, 1, numbers(2), numbers(8), numbers(1), digests(9))
RECORDS = RecordColumns(1, numbers(0, 0), numbers(1, 2), numbers(10, 11), digests(3, 4))
ROWS = FoldColumns(KEYS, numbers(3), numbers(5), np.array([[6, 7]]), digests(8))
IDENTITIES = IdentityColumns(numbers(0, 0, 1), numbers(4, 5, 6))
INPUTS = tuple(
    Records(2, "source[0]->sum[0]", position, batch)
    for position, batch in enumerate((SUMS, RECORDS, OTHER_SUMS, IDENTITIES, SUMS, ROWS))
)
OUTPUTS = (Records(2, "sum[0]->sink[0]", 9, ROWS), Records(2, "sum[0]->sink[0]", 10, SUMS, origin=1))


def shown(element: Records) -> tuple[object, ...]:
    """Everything of it, comparable; the attempt is the one that counted it."""
    batch = element.batch
    names = getattr(batch, "__struct_fields__", None) or batch.__slots__
    columns = [getattr(batch, name) for name in names]
    values = [each.tolist() if isinstance(each, np.ndarray) else each for each in columns]
    return element.origin or element.attempt, element.channel, element.position, type(batch), values


def test_batches_come_back_in_their_order() -> None:
    inputs, outputs = decode_columns_in_flight(InFlightColumns(INPUTS, OUTPUTS).encode(), KEYS)
    assert list(map(shown, inputs)) == list(map(shown, INPUTS))
    assert list(map(shown, outputs)) == list(map(shown, OUTPUTS))


def test_nothing_in_flight_comes_back_as_nothing() -> None:
    assert decode_columns_in_flight(InFlightColumns((), ()).encode(), KEYS) == ((), ())


def test_damage_is_told() -> None:
    content = InFlightColumns(INPUTS, OUTPUTS).encode()
    with pytest.raises(ValueError, match="damaged"):
        decode_columns_in_flight(content[:-40], KEYS)


DIGEST = (1 << 64) - 1
BATCHES: tuple[Rows, ...] = (
    InputBatch(1, ["a", "é"], [-5, 1 << 62], [3, 4], [DIGEST, 0]),
    InputBatch(0, ["a"], [1], [0], [2], [10], 7),
    InputBatch(1, [], [], [], [], [], 30),
    [FoldRow("a", -3, (1, 0), DIGEST), FoldRow("", 0, (0, 0), 0)],
    [WindowRow("a", -1, 4, DIGEST)],
)
"""Among them one without records, which only says how far its partition has come."""


@pytest.mark.parametrize("batch", BATCHES)
def test_a_batch_travels_as_it_is(batch: Rows) -> None:
    assert rows_from_arrow(rows_to_arrow(batch)) == batch


def test_parts_that_meet_tell_event_time_when_all_of_them_are_taken() -> None:
    """Both halves of a batch of split 0 were in flight, to two subtasks that are one from now on."""
    graph = execution_graph(SLIDING_SUM, Topology(parallelism=2), chaining=False)
    operator = PlainPassThrough(graph.tasks["sum[0]"], graph)
    first, second, third = (
        InputBatch(0, [key], [1], [at], [2], [at], at) for key, at in (("a", 5), ("b", 5), ("a", 9))
    )
    other = InputBatch(1, ["c"], [1], [7], [2], [7], 7)
    silent = InputBatch(0, ["a"], [1], [5], [2], [5])
    assert operator.in_order([first, third, second, other]) == [silent, second, other, third]
    rows = [[FoldRow("a", value, (1,), 1)] for value in (3, 1, 2)]
    assert operator.in_order(rows) == rows


def test_what_is_no_batch_of_ours_is_refused() -> None:
    with pytest.raises(ValueError, match="a batch of columns nothing came, which is none of ours"):
        rows_from_arrow(pa.record_batch({"nothing": [1]}))


def test_batches_in_flight_come_back_in_their_order() -> None:
    elements = tuple(Records(2, "channel", place, batch) for place, batch in enumerate(BATCHES))
    stored = InFlightRows(elements, elements[:1]).encode()
    assert decode_rows_in_flight(stored) == (elements, elements[:1])
