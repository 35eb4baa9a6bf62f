"""What a system on trial may have laid where its output, checkpoints or store are read: it is looked at first, and an
obstacle is named in one sentence, which leaves the run undecided."""

from __future__ import annotations

import gzip
import os
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from unittest.mock import create_autospec

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holdfast.fixtures.host.kept_file import keep
from holdfast.fixtures.pipelines.input.incoming import read_sample
from holdfast.fixtures.pipelines.output.delta_table import DeltaTable
from holdfast.fixtures.pipelines.output.file_formats import FileRows
from holdfast.fixtures.pipelines.output.files import LocalFiles
from holdfast.fixtures.pipelines.output.locations import DiskFolder
from holdfast.fixtures.pipelines.output.outgoing import FileFormat, FilesOutput
from holdfast.fixtures.systems.flink.connectors import PartFiles
from holdfast.fixtures.systems.flink.log import LogTail
from holdfast.fixtures.systems.flink.stored import StoredCheckpoints
from holdfast.fixtures.systems.json_lines.store import STATE, Store
from holdfast.fixtures.systems.json_lines.workers import Workers
from holdfast.fixtures.systems.structured_streaming.fetched_results import _table
from holdfast.fixtures.tables.readers import RowFiles, SqliteTable
from holdfast.harness.adapter.damaged_file import FLIP
from holdfast.harness.adapter.recorder import Recorder
from holdfast.suites.selfcheck.abuse.mutations.driving import MOST_MEGABYTES, grown_megabytes
from holdfast.suites.selfcheck.abuse.test_hostile_files import LAID, sparse

READERS: Mapping[str, tuple[str, Callable[[Path], object]]] = {
    "file of a pipeline": ("out.parquet", lambda path: LocalFiles(path.parent).read(path.name)),
    "file of a Flink job": ("part-0-0", lambda path: PartFiles(str(path.parent)).new_rows()),
    "database of a pipeline": ("out.db", lambda path: [*SqliteTable(path, "sums").contents(patient=False)]),
    "file of a store": ("store", keep),
    "sample": ("sample.jsonl", lambda path: read_sample(path, "", "")),
    "sample of Parquet": ("sample.parquet", lambda path: read_sample(path, "", "")),
    "sample of Avro": ("sample.avro", lambda path: read_sample(path, "", "")),
    "answer of a batch query": ("answer.arrow", lambda path: _table(path.with_suffix(""))),
}
NOT_LONG = ("database of a pipeline", "sample of Parquet")
"""What is read in parts has no limit in bytes: of a sparse file there is no part."""
ROWS = 30_000_000


@pytest.mark.parametrize("laid", LAID)
@pytest.mark.parametrize("reader", READERS)
def test_nothing_but_files_is_read(reader: str, laid: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lay, complaint = LAID[laid]
    name, read = READERS[reader]
    lay(path := tmp_path / name)
    refusals: list[str] = []

    def look() -> None:
        with pytest.raises((OSError, ValueError)) as refused:
            read(path)
        refusals.append(str(refused.value))

    assert grown_megabytes(look, []) < MOST_MEGABYTES
    assert name in refusals[0]
    if laid != "sparse file" or reader not in NOT_LONG:
        assert complaint in refusals[0]


@pytest.mark.parametrize("laid", ["pipe", "link to a device", "sparse file"])
def test_rows_in_files_are_not_waited_for(laid: str, tmp_path: Path) -> None:
    lay, complaint = LAID[laid]
    lay(tmp_path / "rows")
    reader = RowFiles(tmp_path)
    if laid == "sparse file":
        with pytest.raises(OSError, match=complaint):
            list(reader.contents(patient=True))
    else:
        assert [content and content.rows for content in reader.contents(patient=True)] == [[]]


def test_files_of_checkpoints_are_summed_up_within_limits(tmp_path: Path) -> None:
    folder = tmp_path / "checkpoints" / "job" / "chk-1"
    folder.mkdir(parents=True)
    (folder / "_metadata").write_bytes(b"x" * 3_000_000)
    os.mkfifo(folder / "pipe")
    stored = StoredCheckpoints(tmp_path / "checkpoints", tmp_path / "savepoints", "job")
    (found,) = stored.files(str(folder / "_metadata"))
    assert found.length == 3_000_000
    sparse(folder / "state")
    with pytest.raises(OSError, match=r"chk-1/state is 1,099,511,627,776 bytes long, allowed are"):
        stored.listed()


@pytest.mark.parametrize("laid", ["pipe", "link to a device", "sparse file"])
def test_a_log_is_read_as_far_as_it_can_be(laid: str, tmp_path: Path) -> None:
    LAID[laid][0](path := tmp_path / "log")
    answers: list[object] = []
    assert grown_megabytes(lambda: list(LogTail(path).lines()), answers) < MOST_MEGABYTES
    assert answers == [[]]


def many_rows(rows: int) -> bytes:
    sink = pa.BufferOutputStream()
    table = pa.table({"key": pa.array(np.zeros(1_000_000, np.int64)), "value": pa.array(np.zeros(1_000_000, np.int64))})
    with pq.ParquetWriter(sink, table.schema) as writer:
        for _ in range(rows // 1_000_000):
            writer.write_table(table)
    return bytes(sink.getvalue())


@pytest.mark.parametrize(
    ("name", "make", "declared", "complaint"),
    [
        ("a.parquet", lambda: many_rows(ROWS), FilesOutput(), f"holds {2 * ROWS:,} values, allowed are"),
        (
            "a.txt.gz",
            lambda: gzip.compress(bytes(1 << 30), 1),
            FilesOutput(format=FileFormat.TEXT),
            "is 33,554,433 bytes long, allowed are",
        ),
    ],
)
def test_a_small_file_of_a_pipeline_fills_no_memory(
    name: str, make: Callable[[], bytes], declared: FilesOutput, complaint: str
) -> None:
    content, rows = make(), FileRows(declared, ())

    def read() -> None:
        with pytest.raises(OSError, match=f"^{name} {complaint}"):
            rows.table([(name, content)])

    assert grown_megabytes(read, []) < MOST_MEGABYTES


def test_nested_rows_are_none(tmp_path: Path) -> None:
    rows = FileRows(FilesOutput(format=FileFormat.JSON), ("key",))
    with pytest.raises(Exception, match="cannot be read as json"):
        rows.table([("a.json", b"[" * 100_000)])


def test_a_table_without_an_end_is_not_read_to_its_end(tmp_path: Path) -> None:
    with closing(sqlite3.connect(path := tmp_path / "out.db")) as database:
        endless = "WITH RECURSIVE sums(key, value) AS (SELECT 1, 1 UNION ALL SELECT key + 1, 1 FROM sums)"
        database.execute(f"CREATE VIEW sums AS {endless} SELECT * FROM sums")

    def read() -> None:
        with pytest.raises(OSError, match="holds 1,000,001 rows or more, allowed are 1,000,000"):
            list(SqliteTable(path, "sums").contents(patient=False))

    assert grown_megabytes(read, []) < MOST_MEGABYTES


def test_a_pipe_in_place_of_a_file_of_a_lake_is_not_waited_for(tmp_path: Path) -> None:
    deltalake = pytest.importorskip("deltalake")
    deltalake.write_deltalake(tmp_path / "sums", pa.table({"key": [1], "value": [2]}))
    table = DeltaTable(DiskFolder(str(tmp_path)), "sums")
    (content,) = table.contents(patient=True)
    assert content is not None
    assert content.rows == [(1, 2)]
    (part,) = (tmp_path / "sums").glob("*.parquet")
    part.unlink()
    os.mkfifo(part)
    with pytest.raises(OSError, match="cannot be read, as it is a pipe"):
        list(DeltaTable(DiskFolder(str(tmp_path)), "sums").contents(patient=True))


def test_no_file_is_damaged_but_one_of_the_store_that_holds_something(tmp_path: Path) -> None:
    (store := tmp_path / "store").mkdir()
    (outside := tmp_path / "outside").write_bytes(b"of somebody else")
    (store / "link").symlink_to(outside)
    (store / "empty").touch()
    damaged = Store(store, tmp_path / "damages", Recorder(), create_autospec(Workers, instance=True))
    with pytest.raises(OSError, match="the program has no file with content in store yet"):
        damaged.damage(STATE, FLIP)
    assert outside.read_bytes() == b"of somebody else"
