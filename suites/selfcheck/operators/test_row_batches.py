"""Batches of rows come back from a wire, and from an unaligned checkpoint, as they were."""

from __future__ import annotations

import pyarrow as pa
import pytest

from holdfast.fixtures.reference.operators.plain import (
    InFlightRows,
    InputBatch,
    PlainPassThrough,
    decode_rows_in_flight,
)
from holdfast.fixtures.reference.operators.row_batches import Batch, from_arrow, to_arrow
from holdfast.fixtures.reference.protocol.execution_graph import execution_graph
from holdfast.fixtures.reference.protocol.messages import Records
from holdfast.harness.model.jobs import SLIDING_SUM
from holdfast.harness.model.plan import Topology
from holdfast.harness.model.records import FoldRow, WindowRow

DIGEST = (1 << 64) - 1
BATCHES: tuple[Batch, ...] = (
    InputBatch(1, ["a", "é"], [-5, 1 << 62], [3, 4], [DIGEST, 0]),
    InputBatch(0, ["a"], [1], [0], [2], [10], 7),
    InputBatch(1, [], [], [], [], [], 30),
    [FoldRow("a", -3, (1, 0), DIGEST), FoldRow("", 0, (0, 0), 0)],
    [WindowRow("a", -1, 4, DIGEST)],
)
"""Among them one without records, which only says how far its partition has come."""


@pytest.mark.parametrize("batch", BATCHES)
def test_a_batch_travels_as_it_is(batch: Batch) -> None:
    assert from_arrow(to_arrow(batch)) == batch


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
        from_arrow(pa.record_batch({"nothing": [1]}))


def test_batches_in_flight_come_back_in_their_order() -> None:
    elements = tuple(Records(2, "channel", place, batch) for place, batch in enumerate(BATCHES))
    stored = InFlightRows(elements, elements[:1]).encode()
    assert decode_rows_in_flight(stored) == (elements, elements[:1])
