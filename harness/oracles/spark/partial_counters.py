"""What executors run: every task counts its own rows, then the counters of all tasks meet chunk by chunk.

A task holds two bits for each identity of the whole input, 25 MB for 1e8, whatever rows it gets, and sends only the
chunks that it touched. Merging holds one chunk at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pyarrow as pa

from holdfast.harness.oracles.two_bit_counters import Integers, TwoBitCounters

ADDED_AT_ONCE = 1 << 22
"""Numbers to wait for before they are added: counters are fast on large calls, and these take 32 MB."""
PARTIAL = "chunk long, counters binary"
MERGED = "chunk long, lost long, duplicated long, first_lost array<long>, first_duplicated array<long>"
_NUMBERS = pa.list_(pa.field("element", pa.int64()))


def partial_counters(chunks: int, chunk_length: int) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A function for `mapInArrow`: from batches of one column of numbers to rows of PARTIAL.

    Args:
        chunks: how many; every number lies in one.
        chunk_length: how many numbers are a chunk, a multiple of 32.
    """

    def count(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        counters = TwoBitCounters(chunks * chunk_length)
        waiting: list[Integers] = []
        rows = 0
        for batch in batches:
            waiting.append(batch.column(0).to_numpy())
            rows += batch.num_rows
            if rows >= ADDED_AT_ONCE:
                counters.add(np.concatenate(waiting))
                waiting, rows = [], 0
        if rows:
            counters.add(np.concatenate(waiting))
        for chunk, packed in enumerate(counters.packed.reshape(chunks, -1)):
            if packed.any():
                content = pa.array([packed.tobytes()], pa.binary())
                yield pa.record_batch({"chunk": pa.array([chunk]), "counters": content})

    return count


def merged_counters(chunk_length: int) -> Callable[[pa.Table], pa.Table]:
    """A function for `applyInArrow`: from all rows of PARTIAL of one chunk to a row of MERGED."""

    def merge(partial: pa.Table) -> pa.Table:
        counters = TwoBitCounters(chunk_length)
        for packed in partial["counters"]:
            counters.merge(np.frombuffer(packed.as_buffer(), np.uint8))
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
