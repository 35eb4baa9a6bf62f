"""Rows of contract RECORDS that stay in their file, because they are many or far away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from holdfast.harness.model.records import IdentityColumns, IdentityRow
from holdfast.harness.oracles.output.delivery import Delivery


class IdentityTable(Protocol):
    """All rows of an output where they lie, in the order of visibility.

    Attributes:
        on_spark: they are for Spark to count, because they are very many or far away.
    """

    on_spark: bool

    def batches(self, first: int, length: int) -> Iterator[IdentityColumns]:
        """So many rows from a position on, no more in memory at a time than a part of the file."""

    def count(self, lengths: Sequence[int], first_offsets: Sequence[int]) -> Delivery:
        """What a DeliveryCounter finds in all rows, but for order."""


class StoredIdentities(Sequence[IdentityRow]):
    """The rows of one unit: `length` rows of the table from position `first` on."""

    def __init__(self, table: IdentityTable, first: int, length: int) -> None:
        self.table = table
        self._first = first
        self._length = length

    def batches(self) -> Iterator[IdentityColumns]:
        """The rows as columns, a part at a time."""
        return self.table.batches(self._first, self._length)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[IdentityRow]:
        for columns in self.batches():
            yield from columns

    def __getitem__(self, index: Any) -> Any:
        places = range(self._length)[index]
        if isinstance(places, range):
            return tuple(self[place] for place in places)
        return next(self.table.batches(self._first + places, 1))[0]
