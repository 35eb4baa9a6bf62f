"""Delivery verdict on Spark: counters by mapInArrow beside a group-by and an anti-join, same rows, same cores.

The rows are those of the bench in one process, spread over four partitions and files of shuffled Parquet. Both sides
read partition and offset from these files in one session and must find the same; they take turns, after a warm-up of
each that is not timed. *Processor* is the time that Java and all its Python workers spent, which another user of the
machine hardly changes. The joins are those of the slow twin, as counts: `duplicated` is a
group-by, `lost` an anti-join against the identities that are expected, and Spark plans both as it likes.

python -m holdfast.suites.bench.delivery_on_spark [--records 10000000] [--cores 2] [--repeats 3]
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import typer
from pyarrow.fs import LocalFileSystem
from rich.progress import track

from holdfast.harness.engine.site.spark_session import judging_session
from holdfast.harness.oracles.output.spark.delivery import count_on_spark
from holdfast.suites.bench.delivery import shuffled
from holdfast.suites.bench.figures import load, median, spent_s, table, with_spread

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = ("by", "seconds", "M rows/s", "of counters", "processor s", "of counters", "found")
PARTITIONS = 4
ROW_GROUP = 1 << 20
WARM_UP_RECORDS = 1_000_000
_DUPLICATED = 'SELECT count(*) FROM (SELECT 1 FROM rows GROUP BY partition, "offset" HAVING count(*) > 1)'
_LOST = 'SELECT count(*) FROM input ANTI JOIN rows USING (partition, "offset")'
_INPUT = 'SELECT p.id AS partition, o.id AS "offset" FROM range({partitions}) p CROSS JOIN range({length}) o'
Found = tuple[int, int]


class Timing(NamedTuple):
    """Wall time and processor time in seconds."""

    wall: float
    processor: float


def total(timings: Sequence[Timing]) -> Timing:
    """One after the other."""
    return Timing(sum(each.wall for each in timings), sum(each.processor for each in timings))


class Sample(NamedTuple):
    """Time by part, and what was found: lost and duplicated."""

    timings: tuple[Timing, ...]
    found: Found


class Stopwatch:
    """Runs from its making."""

    def __init__(self) -> None:
        self._wall, self._processor = time.perf_counter(), spent_s(os.getpid())

    def read(self) -> Timing:
        """Since then."""
        return Timing(time.perf_counter() - self._wall, spent_s(os.getpid()) - self._processor)


def write(folder: Path, records: int, deliveries: int = 1) -> None:
    """Write the rows; a row group goes to each file in turn."""
    schema = pa.schema({"partition": pa.int64(), "offset": pa.int64()})
    writers = [pq.ParquetWriter(folder / f"part-{number}.parquet", schema) for number in range(PARTITIONS)]
    length = records // PARTITIONS
    turn = 0
    for ids in track(shuffled(length * PARTITIONS, deliveries), "writing the rows", total=None, transient=True):
        for start in range(0, len(ids), ROW_GROUP):
            group = ids[start : start + ROW_GROUP]
            writers[turn % PARTITIONS].write_table(
                pa.table({"partition": group // length, "offset": group % length}, schema)
            )
            turn += 1
    for writer in writers:
        writer.close()


def count(spark: SparkSession, folder: Path, length: int) -> Sample:
    """Count with two bits for each identity."""
    watch = Stopwatch()
    paths = [str(path) for path in sorted(folder.iterdir())]
    found = count_on_spark(spark, LocalFileSystem(), paths, (length,) * PARTITIONS)
    return Sample((watch.read(),), (found.lost, found.duplicated))


def join(spark: SparkSession, folder: Path, length: int) -> Sample:
    """Group and join in Spark's SQL."""
    spark.read.parquet(str(folder)).createOrReplaceTempView("rows")
    spark.sql(_INPUT.format(partitions=PARTITIONS, length=length)).createOrReplaceTempView("input")
    timings, answers = [], []
    for query in (_DUPLICATED, _LOST):
        watch = Stopwatch()
        answers.append(spark.sql(query).collect()[0][0])
        timings.append(watch.read())
    return Sample(tuple(timings), (answers[1], answers[0]))


SIDES: dict[str, Callable[[SparkSession, Path, int], Sample]] = {"counters": count, "joins": join}


def compared(spark: SparkSession, records: int, repeats: int) -> list[tuple[str, ...]]:
    """The rows of the table."""
    samples: dict[str, list[Sample]] = {name: [] for name in SIDES}
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        for size, name in ((WARM_UP_RECORDS, "warm-up"), (records, "rows")):
            place = Path(folder, name)
            place.mkdir()
            write(place, size)
            for _ in track(range(repeats), f"{size:,} rows ({name})", transient=True):
                for side, work in SIDES.items():
                    samples[side].append(work(spark, place, size // PARTITIONS))
                    taken = total(samples[side][-1].timings)
                    print(f"{name}: {side} {taken.wall:.1f} s, processor {taken.processor:.1f} s", file=sys.stderr)
            if name == "warm-up":
                samples = {side: [] for side in SIDES}
    verdicts = {sample.found for each in samples.values() for sample in each}
    if len(verdicts) > 1:
        raise RuntimeError(f"counters and joins disagree on (lost, duplicated): {verdicts}")
    lost, duplicated = verdicts.pop()
    counted, joined = ([sample.timings for sample in each] for each in samples.values())
    parts = {
        "counters": [timings[0] for timings in counted],
        "Spark SQL duplicated": [timings[0] for timings in joined],
        "Spark SQL lost": [timings[1] for timings in joined],
        "Spark SQL": [total(timings) for timings in joined],
    }
    ours = [median(column) for column in zip(*parts["counters"], strict=True)]
    lines: list[tuple[str, ...]] = []
    for name, timings in parts.items():
        wall, processor = zip(*timings, strict=True)
        lines.append(
            (
                name,
                with_spread(wall),
                f"{records / median(wall) / 1e6:.1f}",
                f"{median(wall) / ours[0]:.1f}",
                with_spread(processor),
                f"{median(processor) / ours[1]:.1f}",
                f"{lost} lost, {duplicated} twice",
            )
        )
    return lines


def main(
    records: Annotated[int, typer.Option(min=PARTITIONS, help="How many identities.")] = 10_000_000,
    cores: Annotated[int, typer.Option(min=1, help="Of this machine, for both sides.")] = 2,
    repeats: Annotated[int, typer.Option(min=1, help="How often each side is measured.")] = 3,
    memory: Annotated[str, typer.Option(help="Of Spark's Java.")] = "6g",
) -> None:
    """Measure and print."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    settings = {
        "spark.driver.memory": memory,
        "spark.sql.ansi.doubleQuotedIdentifiers": "true",
        "spark.sql.shuffle.partitions": str(4 * cores),
    }
    with judging_session(f"local[{cores}]", settings) as spark:
        rows = compared(spark, records, repeats)
        title = f"Delivery of {records:,} shuffled records, Spark {spark.version} on {cores} cores, {repeats} repeats"
    print(table(f"{title}, {load()}", COLUMNS, rows))


if __name__ == "__main__":
    typer.run(main)
