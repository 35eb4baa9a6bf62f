"""The delivery verdict on Spark: tasks read row groups and count, chunks of their counters are merged.

Spark places the tasks, moves the chunks and merges them, but no row passes through Java: Arrow reads the files inside
the tasks, because a row that Java hands to Python costs ten times what it costs to count it. The driver program
receives a few figures for each chunk, never a counter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
from pyarrow.fs import FileSystem

from holdfast.harness.oracles.output import two_bit_counters
from holdfast.harness.oracles.output.delivery import Delivery
from holdfast.harness.oracles.output.spark import number_line
from holdfast.harness.oracles.output.spark import partial_counters as shipped
from holdfast.harness.oracles.output.spark.number_line import NumberLine
from holdfast.harness.oracles.output.two_bit_counters import NAMED, Tally

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CHUNK_LENGTH = 1 << 20
"""256 KB of counters: 1e9 identities are a thousand chunks, and even a thousand tasks send no more of one than a task
can hold."""


def count_on_spark(
    spark: SparkSession,
    files: FileSystem,
    paths: Sequence[str],
    lengths: Sequence[int],
    first_offsets: Sequence[int] = (),
    *,
    chunk_length: int = CHUNK_LENGTH,
) -> Delivery:
    """What `DeliveryCounter` finds but for order, in which tasks do not read.

    Args:
        spark: where to count.
        files: Arrow's; its executors must see the same files in it.
        paths: of Parquet files with integer columns `partition` and `offset`, a row for each delivery.
        lengths: by partition, the number of its identities: offsets 0 to length - 1.
        first_offsets: by partition, the first expected offset; empty: 0 everywhere.
        chunk_length: how many identities are merged at a time, a multiple of 32.
    """
    line = NumberLine(lengths, first_offsets, chunk_length)
    tallies = _tallies(spark, files, paths, line)
    strangers = tallies.get(shipped.STRANGERS, Tally(0, 0, (), ()))
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
    named = line.identities(first_lost), line.identities(first_duplicated)
    first_unknown = tuple(zip(strangers.first_lost[::2], strangers.first_lost[1::2], strict=True))
    return Delivery(lost, duplicated, strangers.lost, 0, *named, first_unknown, ())


def _tallies(spark: SparkSession, files: FileSystem, paths: Sequence[str], line: NumberLine) -> dict[int, Tally]:
    """By chunk that was touched, what its merged counters say."""
    from pyspark.cloudpickle import register_pickle_by_value

    for module in (two_bit_counters, number_line, shipped):
        register_pickle_by_value(module)
    groups = [(path, group) for path in paths for group in range(_row_groups(files, path))]
    # Each task has counters for everything, so there are no more of them than run at a time.
    tasks = min(max(len(groups), 1), spark.sparkContext.defaultParallelism)
    partial = spark.range(0, len(groups), 1, tasks).mapInArrow(
        shipped.partial_counters(files, groups, line), shipped.PARTIAL
    )
    merged = partial.groupBy("chunk").applyInArrow(shipped.merged_counters(line.chunk_length), shipped.MERGED)
    return {chunk: Tally(*tally) for chunk, *tally in merged.collect()}


def _row_groups(files: FileSystem, path: str) -> int:
    with pq.ParquetFile(files.open_input_file(path)) as file:
        return int(file.num_row_groups)
