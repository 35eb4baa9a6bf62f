"""What executors run: every task counts the rows of its row groups, then the counters of all tasks meet by chunk.

A task holds two bits for each identity of the whole input, 25 MB for 1e8, whatever rows it gets, and sends only the
chunks that it touched. Merging holds one chunk at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.fs import FileSystem

from holdfast.harness.oracles.output.spark.number_line import NumberLine
from holdfast.harness.oracles.output.two_bit_counters import NAMED, Integers, Tally, TwoBitCounters

READ_AT_ONCE = 1 << 16
"""Rows that are numbered while they are in the processor's cache."""
ADDED_AT_ONCE = 1 << 6
"""Batches of them to wait for before they are added: counters are fast on large calls, and these take 32 MB."""
STRANGERS = -1
"""In place of a chunk: rows of no expected identity. `counters` holds how many, then the first few by identity."""
PARTIAL = "chunk long, counters binary"
MERGED = "chunk long, lost long, duplicated long, first_lost array<long>, first_duplicated array<long>"
RowGroup = tuple[str, int]
"""A path within the file system, and the position of a row group."""
_NUMBERS = pa.list_(pa.field("element", pa.int64()))


def partial_counters(
    files: FileSystem, groups: Sequence[RowGroup], line: NumberLine
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A function for `mapInArrow`: from batches of positions in `groups` to rows of PARTIAL."""

    def count(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        counters = TwoBitCounters(line.chunks * line.chunk_length)
        waiting: list[Integers] = []
        strangers = np.zeros(1, np.int64)
        for partition, offset in read_rows(files, [groups[each] for batch in batches for each in batch[0].to_pylist()]):
            numbers, known = line.numbers(partition, offset)
            if not known.all():
                theirs = np.stack([partition, offset], axis=1)[~known]
                strangers = _merged_strangers([strangers, np.append(len(theirs), theirs)])
                numbers = numbers[known]
            waiting.append(numbers)
            if len(waiting) >= ADDED_AT_ONCE:
                counters.add(np.concatenate(waiting))
                waiting = []
        if waiting:
            counters.add(np.concatenate(waiting))
        if strangers[0]:
            yield _partial(STRANGERS, strangers)
        for chunk in range(line.chunks):
            packed = counters.packed[chunk * line.chunk_length // 4 : (chunk + 1) * line.chunk_length // 4]
            if packed.any():
                yield _partial(chunk, packed)

    return count


def read_rows(files: FileSystem, groups: Iterable[RowGroup]) -> Iterator[tuple[Integers, Integers]]:
    """Partitions and offsets of all rows, some at a time."""
    for path, group in groups:
        with pq.ParquetFile(files.open_input_file(path), pre_buffer=True) as file:
            for batch in file.iter_batches(READ_AT_ONCE, row_groups=[group], columns=["partition", "offset"]):
                yield batch["partition"].to_numpy(), batch["offset"].to_numpy()


def _partial(chunk: int, counters: npt.NDArray[Any]) -> pa.RecordBatch:
    return pa.record_batch({"chunk": pa.array([chunk]), "counters": pa.array([counters.tobytes()], pa.binary())})


def _merged_strangers(parts: Sequence[Integers]) -> Integers:
    identities = np.concatenate([part[1:] for part in parts]).reshape(-1, 2)
    first = np.lexsort((identities[:, 1], identities[:, 0]))[:NAMED]
    return np.append(sum(part[0] for part in parts), identities[first])


def merged_counters(chunk_length: int) -> Callable[[pa.Table], pa.Table]:
    """A function for `applyInArrow`: from all rows of PARTIAL of one chunk to a row of MERGED.

    Of STRANGERS, `lost` is how many there are, and `first_lost` partition and offset of the first few in turn.
    """

    def merge(partial: pa.Table) -> pa.Table:
        parts = [packed.as_buffer() for packed in partial["counters"]]
        if partial["chunk"][0].as_py() == STRANGERS:
            count, *first = _merged_strangers([np.frombuffer(part, np.int64) for part in parts]).tolist()
            tally = Tally(count, 0, tuple(first), ())
        else:
            counters = TwoBitCounters(chunk_length)
            for part in parts:
                counters.merge(np.frombuffer(part, np.uint8))
            tally = counters.tally()
        return pa.table(
            {
                "chunk": partial["chunk"][:1],
                "lost": pa.array([tally.lost]),
                "duplicated": pa.array([tally.duplicated]),
                "first_lost": pa.array([tally.first_lost], _NUMBERS),
                "first_duplicated": pa.array([tally.first_duplicated], _NUMBERS),
            }
        )

    return merge
