"""The delivery verdict on Spark: identities are numbered where they are read, counted in Arrow, and merged.

Spark's generated code makes one number of partition and offset, so that a single column travels to Python, and the
driver program receives a few figures for each chunk of numbers, never a counter.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from holdfast.harness.oracles import two_bit_counters
from holdfast.harness.oracles.delivery import Delivery, Identity
from holdfast.harness.oracles.spark import partial_counters as shipped
from holdfast.harness.oracles.two_bit_counters import NAMED, Tally

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

CHUNK_LENGTH = 1 << 20
"""256 KB of counters: 1e9 identities are a thousand chunks, and even a thousand tasks send no more of one than a task
can hold."""


def count_on_spark(
    rows: DataFrame, lengths: Sequence[int], first_offsets: Sequence[int] = (), *, chunk_length: int = CHUNK_LENGTH
) -> Delivery:
    """What `DeliveryCounter` finds but for order, which the rows of a table do not have.

    Args:
        rows: with integer columns `partition` and `offset`, a row for each delivery.
        lengths: by partition, the number of its identities: offsets 0 to length - 1.
        first_offsets: by partition, the first expected offset; empty: 0 everywhere.
        chunk_length: how many identities are merged at a time, a multiple of 32.
    """
    line = _Line(lengths, first_offsets, chunk_length)
    tallies = _tallies(rows.selectExpr(f"{line.number} AS number"), line.chunks + 1, chunk_length)
    strangers = tallies.pop(line.chunks, None)
    untouched = Tally(chunk_length, 0, tuple(range(NAMED)), ())
    lost, duplicated = -line.padding, 0
    first_lost: list[int] = []
    first_duplicated: list[int] = []
    for chunk in range(line.chunks):
        tally = tallies.get(chunk, untouched)
        lost += tally.lost
        duplicated += tally.duplicated
        for names, found in ((first_lost, tally.first_lost), (first_duplicated, tally.first_duplicated)):
            names += [chunk * chunk_length + number for number in found[: NAMED - len(names)]]
    unknown, first_unknown = _unknown(rows.where(f"{line.number} = {line.stranger}")) if strangers else (0, ())
    named = line.identities(first_lost), line.identities(first_duplicated)
    return Delivery(lost, duplicated, unknown, 0, *named, first_unknown, ())


class _Line:
    """Expected identities in a line: numbers from 0, padded to whole chunks.

    Attributes:
        chunks: how many.
        padding: how many numbers of the last chunk stand for nothing.
        stranger: the first number behind all chunks, for rows of no expected identity: whether there are any shows in
            a chunk of their own.
    """

    def __init__(self, lengths: Sequence[int], first_offsets: Sequence[int], chunk_length: int) -> None:
        self._firsts = tuple(first_offsets) or (0,) * len(lengths)
        self._lengths = tuple(lengths)
        owed = (max(length - first, 0) for length, first in zip(lengths, self._firsts, strict=True))
        *self._starts, self._total = accumulate(owed, initial=0)
        self.chunks = -(-self._total // chunk_length)
        self.stranger = self.chunks * chunk_length
        self.padding = self.stranger - self._total

    @property
    def number(self) -> str:
        """The number of a row, as an expression of SQL."""

        def of(values: Iterable[int]) -> str:
            return f"get(array({', '.join(f'{value}L' for value in values)}), CAST(partition AS INT))"

        if not self._lengths:
            return f"{self.stranger}L"
        shifts = (start - first for start, first in zip(self._starts, self._firsts, strict=True))
        return (
            f"CASE WHEN partition >= 0 AND partition < {len(self._lengths)} THEN "
            f"CASE WHEN offset >= {of(self._firsts)} AND offset < {of(self._lengths)} "
            f"THEN offset + {of(shifts)} ELSE {self.stranger}L END ELSE {self.stranger}L END"
        )

    def identities(self, numbers: Iterable[int]) -> tuple[Identity, ...]:
        """Partition and offset of each number that stands for something."""
        found = []
        for number in numbers:
            if number < self._total:
                partition = bisect_right(self._starts, number) - 1
                found.append((partition, number - self._starts[partition] + self._firsts[partition]))
        return tuple(found)


def _tallies(numbers: DataFrame, chunks: int, chunk_length: int) -> dict[int, Tally]:
    """By chunk that was touched, what its merged counters say."""
    from pyspark.cloudpickle import register_pickle_by_value

    for module in (two_bit_counters, shipped):
        register_pickle_by_value(module)  # type: ignore[no-untyped-call]
    # Each task has counters for everything, so there are no more of them than run at a time.
    tasks = numbers.coalesce(numbers.sparkSession.sparkContext.defaultParallelism)
    partial = tasks.mapInArrow(shipped.partial_counters(chunks, chunk_length), shipped.PARTIAL)
    merged = partial.groupBy("chunk").applyInArrow(shipped.merged_counters(chunk_length), shipped.MERGED)
    return {chunk: Tally(*tally) for chunk, *tally in merged.collect()}


def _unknown(strangers: DataFrame) -> tuple[int, tuple[Identity, ...]]:
    first = strangers.orderBy("partition", "offset").limit(NAMED).collect()
    return strangers.count(), tuple((row["partition"], row["offset"]) for row in first)
