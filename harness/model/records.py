"""Records as columns, and the input whose right answer is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import msgspec

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# In quotes: every fault and every system names these types, and NumPy takes longer to load than all of them.
Integers: TypeAlias = "npt.NDArray[np.int64]"
Digests: TypeAlias = "npt.NDArray[np.uint64]"
NO_PARTITION = -1
"""The partition of an unexpected row."""


class RecordBatch(Protocol):
    """Named columns of equal length. In memory a column is any sequence (a NumPy array where batches are large)."""

    @property
    def num_rows(self) -> int: ...

    def column(self, name: str) -> Sequence[Any]: ...


class Partition(msgspec.Struct, frozen=True):
    """One partition of the input log; the offset of a record is its position.

    Attributes:
        key: (n,) index of each record's key in the log's `keys`.
        value: (n,) the summand of each record.
        preloaded: how many records are there before the job starts.
        starts_ms: when, on the run's clock, the rest begins to arrive.
        records_per_second: how fast it arrives; 0: all at once.
        event_step_ms: the event time of a record is its offset times this.
        markers: how many records at the end arrive only when every fault is healed, whatever the rate.
    """

    key: Integers
    value: Integers
    preloaded: int
    starts_ms: int = 0
    records_per_second: int = 0
    event_step_ms: int = 10
    markers: int = 0

    def __len__(self) -> int:
        return len(self.key)

    @property
    def regular(self) -> int:
        """How many records come before the markers."""
        return len(self.key) - self.markers

    def due_ms(self, offset: int) -> float:
        """When the record at an offset arrives, on the run's clock. Markers are not due: they come behind the heal."""
        if offset < self.preloaded:
            return 0.0
        if not self.records_per_second:
            return self.starts_ms
        return self.starts_ms + (offset - self.preloaded) * 1_000 / self.records_per_second

    def limit(self, *, healed: bool) -> int:
        """How many records may arrive, before or after the faults are healed."""
        return len(self.key) if healed else self.regular


class InputLog(msgspec.Struct, frozen=True):
    """Everything the system under test is fed.

    Attributes:
        keys: distinct keys as text.
        partitions: dense offsets from 0 in each.
        first_offsets: by partition, the first offset whose record must take effect; empty: 0 everywhere. For a job that
            starts at the latest offset no preloaded record need take effect.
        described: the log stands for the rows that its author expects, and `keys` are these in words, in order; behind
            them come the unexpected ones, of NO_PARTITION.
        wrong: of the latter, those that have other values than an expected row with their key, which is missing: pairs
            of their offset, and of the offset of that row in the only partition. No offset is in two pairs.
        too_high: of these, the offsets of those that are wrong in numbers alone, each of which is too high.
    """

    keys: tuple[str, ...]
    partitions: tuple[Partition, ...]
    first_offsets: tuple[int, ...] = ()
    described: bool = False
    wrong: tuple[tuple[int, int], ...] = ()
    too_high: tuple[int, ...] = ()

    @property
    def total_records(self) -> int:
        return sum(len(partition) for partition in self.partitions)

    def without_markers(self) -> InputLog:
        """What is fed before the markers."""
        partitions = (
            msgspec.structs.replace(each, key=each.key[: each.regular], value=each.value[: each.regular], markers=0)
            for each in self.partitions
        )
        return msgspec.structs.replace(self, partitions=tuple(partitions))

    def named(self, partition: int, offset: int) -> str:
        """A record in words."""
        number = offset + self.total_records * (partition == NO_PARTITION)
        if self.described and 0 <= number < len(self.keys):
            return self.keys[number]
        return f"offset {offset} of partition {partition}"

    def lengths(self) -> tuple[int, ...]:
        """Number of records by partition."""
        return tuple(len(partition) for partition in self.partitions)


class FoldRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One committed row of contract FOLD.

    Attributes:
        key: the key as text.
        value: running sum.
        counts: contributing records by source partition.
        digest: sum modulo 2**64 of the identity hashes of the contributing records.
    """

    key: str
    value: int
    counts: tuple[int, ...]
    digest: int


class IdentityRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One committed row of contract RECORDS."""

    partition: int
    offset: int


class WindowRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One committed row of contract WINDOW.

    Attributes:
        key: the key as text.
        window: number of the window.
        value: sum.
        digest: sum modulo 2**64 of the identity hashes of its records.
    """

    key: str
    window: int
    value: int
    digest: int


class FoldColumns(msgspec.Struct, frozen=True, eq=False):
    """Many rows of contract FOLD as columns; as a sequence it yields them as FoldRow.

    Attributes:
        keys: distinct keys as text.
        key: (n,) index of each row's key in `keys`.
        value: (n,)
        counts: (n, source partitions)
        digest: (n,)
    """

    keys: tuple[str, ...]
    key: Integers
    value: Integers
    counts: Integers
    digest: Digests

    def __len__(self) -> int:
        return len(self.key)

    def __getitem__(self, index: int) -> FoldRow:
        counts = tuple(self.counts[index].tolist())
        return FoldRow(self.keys[self.key[index]], int(self.value[index]), counts, int(self.digest[index]))

    def __iter__(self) -> Iterator[FoldRow]:
        counts = map(tuple, self.counts.tolist())
        for key, *fields in zip(self.key.tolist(), self.value.tolist(), counts, self.digest.tolist(), strict=True):
            yield FoldRow(self.keys[key], *fields)


class IdentityColumns(msgspec.Struct, frozen=True, eq=False):
    """Many rows of contract RECORDS as columns; as a sequence it yields them as IdentityRow."""

    partition: Integers
    offset: Integers

    def __len__(self) -> int:
        return len(self.offset)

    def __getitem__(self, index: int) -> IdentityRow:
        return IdentityRow(int(self.partition[index]), int(self.offset[index]))

    def __iter__(self) -> Iterator[IdentityRow]:
        return map(IdentityRow, self.partition.tolist(), self.offset.tolist())


ManyRows = FoldColumns | IdentityColumns | Sequence[WindowRow]
"""Rows of one contract, as columns if there are any."""


class CommittedRows(msgspec.Struct, frozen=True):
    """What the committed reader saw become visible at once: one committed file, transaction or table version.

    Attributes:
        name: of the unit in the system's output, such as a file name.
        poll: the reader's poll at which it was first seen, from 0.
        rows: in the order that the unit holds them; all of one type. Large outputs are columnar.
        final: seen only by the second read, after the settle window.
    """

    name: str
    poll: int
    rows: Sequence[FoldRow] | Sequence[IdentityRow] | Sequence[WindowRow] | FoldColumns | IdentityColumns
    final: bool = False


class Output(msgspec.Struct, frozen=True):
    """Committed output as the harness's own reader recorded it, in the order of visibility."""

    units: tuple[CommittedRows, ...] = ()

    def rows(self) -> Iterator[FoldRow | IdentityRow | WindowRow]:
        """All rows, in the order of visibility."""
        for unit in self.units:
            yield from unit.rows
