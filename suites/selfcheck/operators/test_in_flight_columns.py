"""Batches in flight come back as they were stored, whatever is among them."""

from __future__ import annotations

import numpy as np
import pytest

from holdfast.fixtures.reference.operators.in_flight_columns import InFlightColumns, decode_columns_in_flight
from holdfast.fixtures.reference.operators.partial_sums import PartialSums, RecordColumns
from holdfast.fixtures.reference.protocol.messages import Records
from holdfast.harness.model.records import FoldColumns, IdentityColumns

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
