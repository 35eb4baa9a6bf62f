"""The same verdict in this process, on Spark, and in Spark's SQL; and a mutant of the counting is found out."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from holdfast.harness.oracles.delivery import Delivery, DeliveryCounter
from holdfast.harness.oracles.spark import partial_counters as shipped
from holdfast.harness.oracles.spark.delivery import count_on_spark
from holdfast.harness.oracles.two_bit_counters import NAMED
from holdfast.suites.selfcheck.oracles_on_spark.deliveries import (
    CHUNK_LENGTH,
    CLEAN,
    DELIVERIES,
    Delivered,
    expected,
    write,
)
from holdfast.suites.selfcheck.sql_twin import DUPLICATED, LOST, UNKNOWN

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Batches = Iterable[pa.RecordBatch]
Counting = Callable[[Batches], Iterator[pa.RecordBatch]]
pytestmark = [
    pytest.mark.tier("spark"),
    pytest.mark.xdist_group("judging-session"),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),  # PySpark drops the sockets of its answers
]
SCHEMA = "partition long, offset long"


def in_process(delivered: Delivered) -> Delivery:
    counter = DeliveryCounter(delivered.lengths, first_offsets=delivered.firsts)
    for partition, offset in delivered.rows.tolist():
        counter.count(partition, np.array([offset]))
    return counter.verdict()


def on_spark(spark: SparkSession, folder: Path, delivered: Delivered) -> Delivery:
    write(folder / "identities", delivered)
    rows = spark.read.schema(SCHEMA).parquet(str(folder / "identities"))
    return count_on_spark(rows, delivered.lengths, delivered.firsts, chunk_length=CHUNK_LENGTH)


def in_sql(spark: SparkSession, folder: Path, delivered: Delivered) -> Delivery:
    write(folder / "input", Delivered(expected(delivered.lengths, delivered.firsts)))
    for name in ("identities", "input"):
        spark.read.schema(SCHEMA).parquet(str(folder / name)).createOrReplaceTempView(name)
    lost, duplicated, unknown = (
        tuple((row["partition"], row["offset"]) for row in spark.sql(query).collect())
        for query in (LOST, DUPLICATED, UNKNOWN)
    )
    first = lost[:NAMED], duplicated[:NAMED], unknown[:NAMED]
    return Delivery(len(lost), len(duplicated), len(unknown), 0, *first, ())


@pytest.mark.parametrize("name", DELIVERIES)
def test_verdicts_are_equal(name: str, spark: SparkSession, tmp_path: Path) -> None:
    delivered = DELIVERIES[name]()
    verdict = on_spark(spark, tmp_path, delivered)
    assert verdict == in_process(delivered)
    assert verdict == in_sql(spark, tmp_path, delivered)
    assert bool(verdict.lost or verdict.duplicated or verdict.unknown) == (name not in CLEAN)


def test_one_chunk_holds_it_all_by_default(spark: SparkSession, tmp_path: Path) -> None:
    delivered = DELIVERIES["random-1"]()
    write(tmp_path / "identities", delivered)
    rows = spark.read.parquet(str(tmp_path / "identities"))
    verdict = count_on_spark(rows, delivered.lengths, delivered.firsts)
    assert verdict == in_process(delivered)


def misses_the_last(chunks: int, chunk_length: int) -> Counting:
    """A task does not count the last row that it gets."""

    def count(batches: Batches) -> Iterator[pa.RecordBatch]:
        *whole, last = batches
        yield from sound([*whole, last[:-1]])

    sound = PARTIAL_COUNTERS(chunks, chunk_length)
    return count


def keeps_the_first(chunk_length: int) -> Callable[[pa.Table], pa.Table]:
    """Of the counters of several tasks those of one are kept."""
    sound = MERGED_COUNTERS(chunk_length)
    return lambda partial: sound(partial[:1])


PARTIAL_COUNTERS, MERGED_COUNTERS = shipped.partial_counters, shipped.merged_counters


@pytest.mark.parametrize(
    ("name", "part", "mutant"),
    [
        ("clean", "partial_counters", misses_the_last),
        ("many-twice-in-many-files", "merged_counters", keeps_the_first),
    ],
)
def test_a_wrong_counter_is_found_out(
    name: str,
    part: str,
    mutant: Callable[..., object],
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    delivered = DELIVERIES[name]()
    monkeypatch.setattr(shipped, part, mutant)
    verdict = on_spark(spark, tmp_path, delivered)
    assert verdict != in_process(delivered)
    assert verdict != in_sql(spark, tmp_path, delivered)


_ELSEWHERE = """
import sys
from importlib.abc import MetaPathFinder
class Absent(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] == "holdfast":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
import numpy, pyarrow
from pyspark.cloudpickle import loads
count, merge = loads(sys.stdin.buffer.read())
partial = list(count([pyarrow.record_batch({"number": numpy.array([3, 3, 70])})]))
print([merge(pyarrow.Table.from_batches([each])).to_pylist() for each in partial])
"""


def test_what_executors_run_needs_nothing_of_ours_there(spark: SparkSession, tmp_path: Path) -> None:
    from pyspark.cloudpickle import dumps

    on_spark(spark, tmp_path, CLEAN["clean"]())  # from now on both are sent whole
    sent = dumps((shipped.partial_counters(2, CHUNK_LENGTH), shipped.merged_counters(CHUNK_LENGTH)))  # type: ignore[no-untyped-call]
    done = subprocess.run([sys.executable, "-c", _ELSEWHERE], input=sent, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"'chunk': 0, 'lost': 63, 'duplicated': 1, 'first_lost': [0, 1, 2], 'first_duplicated': [3]" in done.stdout
    assert b"'chunk': 1, 'lost': 63, 'duplicated': 0, 'first_lost': [0, 1, 2], 'first_duplicated': []" in done.stdout
