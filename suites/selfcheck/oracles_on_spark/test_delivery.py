"""The same verdict in this process, on Spark, and in Spark's SQL; and a mutant of the counting is found out."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow.fs import FileSystem, LocalFileSystem

from holdfast.harness.oracles.output.delivery import Delivery, DeliveryCounter
from holdfast.harness.oracles.output.spark import delivery
from holdfast.harness.oracles.output.spark import partial_counters as shipped
from holdfast.harness.oracles.output.spark.delivery import count_on_spark
from holdfast.harness.oracles.output.spark.number_line import Integers, NumberLine
from holdfast.harness.oracles.output.two_bit_counters import NAMED
from holdfast.suites.selfcheck.sql_twin import DUPLICATED, LOST, UNKNOWN

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


Rows = npt.NDArray[np.int64]
"""(n, 2) partition and offset."""
CHUNK_LENGTH = 64
"""Small, so that few rows have many chunks."""
LENGTHS = (CHUNK_LENGTH * 2 + 5, 0, 40, CHUNK_LENGTH * 3)
FIRSTS = (0, 0, 40, 9)
"""A partition may be empty, and one may need no rows."""
LAST = (3, LENGTHS[3] - 1)


class Delivered(msgspec.Struct, frozen=True):
    """A table and what it should hold: offsets `firsts` to `lengths` - 1 of each partition, once."""

    rows: Rows
    files: int = 2
    lengths: tuple[int, ...] = LENGTHS
    firsts: tuple[int, ...] = FIRSTS


def expected(lengths: tuple[int, ...] = LENGTHS, firsts: tuple[int, ...] = FIRSTS) -> Rows:
    """Every identity once, in order."""
    lanes = enumerate(zip(firsts, lengths, strict=True))
    return _rows([(partition, offset) for partition, lane in lanes for offset in range(*lane)])


def without(*identities: tuple[int, int]) -> Rows:
    """Every identity but these."""
    return _rows([row for row in WHOLE.tolist() if tuple(row) not in identities])


def beside(*identities: tuple[int, int]) -> Rows:
    """Every identity and these rows, at the end and so in the last file."""
    return np.concatenate([WHOLE, _rows(identities)])


def _rows(identities: object) -> Rows:
    return np.array(identities, np.int64).reshape(-1, 2)


def _random(seed: int) -> Delivered:
    random = np.random.default_rng(seed)
    rows = np.concatenate([WHOLE[random.random(len(WHOLE)) > 0.05], random.integers(-2, 60, (30, 2)), WHOLE[seed::17]])
    return Delivered(random.permutation(rows), files=1 + 4 * seed)


WHOLE = expected()
CLEAN: dict[str, Callable[[], Delivered]] = {
    "clean": lambda: Delivered(WHOLE),
    "clean-in-many-files": lambda: Delivered(WHOLE[::-1], files=23),
    "nothing-expected": lambda: Delivered(WHOLE[:0], lengths=(), firsts=()),
}
DELIVERIES: dict[str, Callable[[], Delivered]] = {
    "nothing-delivered": lambda: Delivered(WHOLE[:0]),
    "one-lost": lambda: Delivered(without((0, CHUNK_LENGTH))),
    "first-lost": lambda: Delivered(without((0, 0))),
    "last-lost": lambda: Delivered(without(LAST)),
    "range-lost": lambda: Delivered(without(*((0, CHUNK_LENGTH - 7 + offset) for offset in range(10)))),
    "partition-lost": lambda: Delivered(WHOLE[WHOLE[:, 0] == 0]),
    "one-twice": lambda: Delivered(beside((3, CHUNK_LENGTH))),
    "last-twice": lambda: Delivered(beside(LAST)),
    "one-many-times": lambda: Delivered(beside(*[(0, CHUNK_LENGTH)] * 5), files=4),
    "all-twice": lambda: Delivered(np.concatenate([WHOLE, WHOLE])),
    "many-twice-in-many-files": lambda: Delivered(np.concatenate([WHOLE[::-1], WHOLE[::3]]), files=23),
    "partition-foreign": lambda: Delivered(beside((4, 0), (-1, 3), (1 << 40, 3), (1, 0))),
    "offset-foreign": lambda: Delivered(beside((0, LENGTHS[0]), (3, -1), (3, -(1 << 63)), (3, (1 << 63) - 1))),
    "before-first": lambda: Delivered(beside((3, FIRSTS[3] - 1), (2, 39))),
    "one-foreign-often": lambda: Delivered(beside(*[(7, 7)] * 20)),
    "unexpected": lambda: Delivered(WHOLE, lengths=(), firsts=()),
    "random-1": lambda: _random(1),
    "random-2": lambda: _random(2),
    "random-3": lambda: _random(3),
    **CLEAN,
}


def write(folder: Path, delivered: Delivered) -> list[str]:
    """Write the rows into a new folder as files of about equal size, with a few row groups; their paths."""
    folder.mkdir()
    paths = []
    for number, rows in enumerate(np.array_split(delivered.rows, delivered.files)):
        table = pa.table({"partition": rows[:, 0], "offset": rows[:, 1]})
        paths.append(str(folder / f"part-{number:02d}.parquet"))
        pq.write_table(table, paths[-1], row_group_size=100)
    return paths


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
    paths = write(folder / "identities", delivered)
    files = LocalFileSystem()
    return count_on_spark(spark, files, paths, delivered.lengths, delivered.firsts, chunk_length=CHUNK_LENGTH)


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
@pytest.mark.nightly
def test_verdicts_are_equal(name: str, spark: SparkSession, tmp_path: Path) -> None:
    delivered = DELIVERIES[name]()
    verdict = on_spark(spark, tmp_path, delivered)
    assert verdict == in_process(delivered)
    assert verdict == in_sql(spark, tmp_path, delivered)
    assert bool(verdict.lost or verdict.duplicated or verdict.unknown) == (name not in CLEAN)


@pytest.mark.nightly
def test_one_chunk_holds_it_all_by_default(spark: SparkSession, tmp_path: Path) -> None:
    delivered = DELIVERIES["random-1"]()
    paths = write(tmp_path / "identities", delivered)
    verdict = count_on_spark(spark, LocalFileSystem(), paths, delivered.lengths, delivered.firsts)
    assert verdict == in_process(delivered)


def misses_the_last(sound: Callable[..., Iterator[tuple[Integers, Integers]]]) -> object:
    """A task does not see the last row of a batch."""

    def read_rows(files: FileSystem, groups: Iterable[shipped.RowGroup]) -> Iterator[tuple[Integers, Integers]]:
        for partition, offset in sound(files, groups):
            yield partition[:-1], offset[:-1]

    return read_rows


def keeps_the_first(sound: Callable[[int], Callable[[pa.Table], pa.Table]]) -> object:
    """Of the counters of several tasks those of one are kept."""

    def merged_counters(chunk_length: int) -> Callable[[pa.Table], pa.Table]:
        merge = sound(chunk_length)
        return lambda partial: merge(partial[:1])

    return merged_counters


def forgets_the_padding(sound: type[NumberLine]) -> object:
    """What fills the last chunk counts as expected."""

    def line(*arguments: Any) -> NumberLine:
        made = sound(*arguments)
        made.padding = 0
        return made

    return line


@pytest.mark.parametrize(
    ("name", "module", "part", "mutant"),
    [
        ("clean", shipped, "read_rows", misses_the_last),
        ("many-twice-in-many-files", shipped, "merged_counters", keeps_the_first),
        ("clean", delivery, "NumberLine", forgets_the_padding),
    ],
    ids=["last-row-missed", "counters-not-merged", "padding-expected"],
)
@pytest.mark.share(3)
def test_a_wrong_counter_is_found_out(
    name: str,
    module: ModuleType,
    part: str,
    mutant: Callable[[object], object],
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    delivered = DELIVERIES[name]()
    monkeypatch.setattr(module, part, mutant(getattr(module, part)))
    verdict = on_spark(spark, tmp_path, delivered)
    assert verdict != in_process(delivered)
    assert verdict != in_sql(spark, tmp_path, delivered)


_ELSEWHERE = """
import os, sys
from importlib.abc import MetaPathFinder
class Absent(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] == "holdfast":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
import numpy, pyarrow
from pyspark.cloudpickle import loads
count, merge = loads(sys.stdin.buffer.read())
partial = list(count([pyarrow.record_batch({"id": numpy.array([0])})]))
print([merge(pyarrow.Table.from_batches([each])).to_pylist() for each in partial], flush=True)
os._exit(0)  # Arrow's threads may abort an ordinary exit (apache/arrow#34314).
"""


@pytest.mark.nightly
def test_what_executors_run_needs_nothing_of_ours_there(spark: SparkSession, tmp_path: Path) -> None:
    from pyspark.cloudpickle import dumps

    on_spark(spark, tmp_path, CLEAN["clean"]())  # from now on both are sent whole
    line = NumberLine((65,), (), CHUNK_LENGTH)
    paths = write(tmp_path / "few", Delivered(np.array([(0, 3), (0, 3), (0, 64)]), files=1))
    count = shipped.partial_counters(LocalFileSystem(), [(paths[0], 0)], line)
    sent = dumps((count, shipped.merged_counters(CHUNK_LENGTH)))
    done = subprocess.run([sys.executable, "-c", _ELSEWHERE], input=sent, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"'chunk': 0, 'lost': 63, 'duplicated': 1, 'first_lost': [0, 1, 2], 'first_duplicated': [3]" in done.stdout
    assert b"'chunk': 1, 'lost': 63, 'duplicated': 0, 'first_lost': [1, 2, 3], 'first_duplicated': []" in done.stdout
