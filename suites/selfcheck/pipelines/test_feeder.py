"""Files of input: every record once, in order, and in every format that can be declared."""

from __future__ import annotations

import gzip
import io
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet as pq
import pytest

from holdfast.fixtures.pipelines.input.feeder import (
    FILE_INTERVAL_MS,
    IDLE_INTERVAL_MS,
    FedRecords,
    InputFiles,
    QueryFeeder,
    fed_by_files,
)
from holdfast.fixtures.pipelines.input.incoming import Incoming
from holdfast.fixtures.pipelines.output.file_formats import FileRows, is_of
from holdfast.fixtures.pipelines.output.outgoing import (
    PARQUET_FILES,
    Commit,
    FileFormat,
    FilesOutput,
    Isolation,
    TableOutput,
    TopicOutput,
    outgoing_of,
)
from holdfast.fixtures.pipelines.rows.decoder import WrongColumns
from holdfast.fixtures.workloads.synthetic import Synthetic
from holdfast.harness.adapter.feeder import Records
from holdfast.harness.engine.executor.run import MARKER_KEY, with_markers
from holdfast.harness.model.capability import OutputMode
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.records import InputLog, Partition
from holdfast.suites.selfcheck.systems.driving import PLAN, identity_hash

INPUTS = Synthetic().generate({"records": 100, "preloaded_percent": 10, "records_per_second": 45, "keys": 3}, 1)
SIGN = 1 << 64


def fed(folder: Path, until_ms: int) -> InputFiles:
    feeder, files = fed_by_files(FedRecords(INPUTS, Incoming(), PLAN.digest_key), folder / "input")
    feeder.begin(0)
    for now_ms in range(0, until_ms, 10):
        feeder.tend(now_ms)
    return files


def files(folder: Path) -> list[Path]:
    return sorted((folder / "input").iterdir())


def test_only_what_is_preloaded_is_there_before_the_query_has_committed(tmp_path: Path) -> None:
    feeder, _ = fed_by_files(FedRecords(INPUTS, Incoming(), PLAN.digest_key), tmp_path / "input")
    feeder.tend(10_000)
    assert [pq.read_table(path).num_rows for path in files(tmp_path)] == [10]


def test_every_record_is_fed_once_and_in_order(tmp_path: Path) -> None:
    fed(tmp_path, 2_000)
    rows = [row for path in files(tmp_path) for row in pq.read_table(path).to_pylist()]
    for index, partition in enumerate(INPUTS.partitions):
        mine = [row for row in rows if row["partition"] == index]
        assert [row["offset"] for row in mine] == list(range(len(partition)))
        assert [row["value"] for row in mine] == partition.value.tolist()
        assert [row["key"] for row in mine] == [INPUTS.keys[key] for key in partition.key.tolist()]


def test_the_weight_is_the_identity_hash_as_a_signed_number(tmp_path: Path) -> None:
    fed(tmp_path, 200)
    for row in pq.read_table(files(tmp_path)[0]).to_pylist():
        assert row["weight"] % SIGN == identity_hash(row["partition"], row["offset"])


def test_files_are_apart_in_time_and_ordered_by_it(tmp_path: Path) -> None:
    fed(tmp_path, 2_000)
    modified = [path.stat().st_mtime_ns // 1_000_000 for path in files(tmp_path)]
    assert modified == sorted(set(modified))
    assert len(modified) <= 2 + 2_000 // FILE_INTERVAL_MS


def test_positions_behind_a_file(tmp_path: Path) -> None:
    written = fed(tmp_path, 3_000)
    behind = [written.positions(path.name) for path in files(tmp_path)]
    assert behind[0] == (5, 5)
    assert behind[-1] == INPUTS.lengths()
    assert behind == sorted(behind)


def test_markers_are_fed_when_the_faults_are_healed_and_files_without_records_go_on_before(tmp_path: Path) -> None:
    inputs = with_markers(INPUTS, KEYED_SUM)
    feeder, written = fed_by_files(FedRecords(inputs, Incoming(), PLAN.digest_key), tmp_path / "input")
    feeder.begin(0)
    for now_ms in range(0, 4_000, 10):
        feeder.tend(now_ms)
    last = files(tmp_path)[-1]
    assert (pq.read_table(last).num_rows, written.positions(last.name)) == (0, INPUTS.lengths())
    feeder.feed_markers()
    feeder.tend(5_000)
    last = files(tmp_path)[-1]
    assert pq.read_table(last)["key"].to_pylist() == [MARKER_KEY] * len(inputs.partitions)
    assert written.positions(last.name) == inputs.lengths()


def test_when_all_is_fed_files_without_records_go_on(tmp_path: Path) -> None:
    fed(tmp_path, 1_500)
    before = len(files(tmp_path))
    written = fed(tmp_path / "longer", 1_500 + 10 * IDLE_INTERVAL_MS)
    later = files(tmp_path / "longer")
    assert len(later) >= before + 8
    assert pq.read_table(later[-1]).num_rows == 0
    assert written.positions(later[-1].name) == INPUTS.lengths()


class Noting:
    """An appender that notes what is appended: partitions with numbers of records, and marks."""

    problem = ""

    def __init__(self) -> None:
        self.noted: list[tuple[int, int] | str] = []

    def append(self, partition: int, first: int, records: Records) -> int:
        self.noted.append((partition, len(records)))
        return len(records)

    def mark(self) -> None:
        self.noted.append("mark")

    def settle(self) -> int:
        return 0

    def close(self) -> None:
        """Nothing is held."""


@pytest.mark.parametrize(
    ("interval_ms", "expected"),
    [
        (0, {0: [(0, 3), "mark"], 10: [], 500: ["mark"], 510: [(0, 1)], 1_000: ["mark"]}),
        (150, {0: [(0, 3)], 10: [], 150: ["mark"], 510: [], 650: [(0, 1)], 1_000: ["mark"]}),
    ],
)
def test_a_mark_comes_with_the_last_records_or_a_step_behind_them(
    interval_ms: float, expected: dict[int, list[tuple[int, int] | str]]
) -> None:
    """Behind a mark, markers wait for the next step where steps are apart."""
    numbers = np.arange(5, dtype=np.int64)
    noting = Noting()
    feeder = QueryFeeder(
        InputLog(("a",), (Partition(numbers * 0, numbers, preloaded=1, markers=1),)), noting, interval_ms
    )
    assert noting.noted == [(0, 1)]
    feeder.begin(0)
    seen = {}
    for now_ms in expected:
        if now_ms == 510:
            feeder.feed_markers()
        noting.noted = []
        feeder.tend(now_ms)
        seen[now_ms] = noting.noted
    assert seen == expected
    assert feeder.whole


def stepped(preloaded: int, commits: list[int | None], width: int = 2) -> list[list[tuple[int, int] | str]]:
    """What is appended with each step, of partitions of seven records and a marker.

    Args:
        preloaded: of each partition.
        commits: by step, the last micro-batch with a commit; None: all is healed.
        width: how many partitions there are.
    """
    numbers = np.arange(8, dtype=np.int64)
    noting = Noting()
    partitions = (Partition(numbers * 0, numbers, preloaded=preloaded, markers=1),) * width
    feeder = QueryFeeder(InputLog(("a",), partitions), noting, interval_ms=0)
    feeder.begin(0)
    appended = []
    for now_ms, committed in enumerate(commits):
        noting.noted = []
        if committed is None:
            feeder.feed_markers()
        else:
            feeder.hold_tail(committed)
            feeder.tend(now_ms)
        appended.append(noting.noted)
    assert feeder.whole
    return appended


def test_the_last_records_come_one_by_one_behind_the_heal_where_marks_show_nothing() -> None:
    """A query begins no micro-batch without a record there, and a run that is healed waits for two."""
    both = [(0, 1), (1, 1)]
    commits = [0, 5, None, 5, 5, 6, 9, 9, 10, 11]
    assert stepped(1, commits) == [[(0, 3), (1, 3), "mark"], [], [], both, [], both, both, [], [(0, 1)], [(1, 1)]]


def test_where_everything_was_preloaded_the_markers_come_one_by_one() -> None:
    assert stepped(7, [0, None, 0, 0, 1]) == [["mark"], [], [(0, 1)], [], [(1, 1)]]


def test_of_one_partition_that_was_preloaded_a_record_comes_before_its_marker() -> None:
    assert stepped(7, [0, None, 0, 0, 1], width=1) == [["mark"], [], [(0, 1)], [], [(0, 1)]]


ROWS = [{"key": "a", "value": 1}, {"key": "b", "value": None}]


def written(write: Any) -> bytes:
    content = io.BytesIO()
    write(pa.Table.from_pylist(ROWS), content)
    return content.getvalue()


JSON = b'{"key":"a","value":1}\n{"key":"b"}\n'


@pytest.mark.parametrize(
    ("declared", "name", "content"),
    [
        (PARQUET_FILES, "part-0.snappy.parquet", written(pq.write_table)),
        (FilesOutput(format=FileFormat.ORC), "part-0.orc", written(pa.orc.write_table)),
        (FilesOutput(format=FileFormat.JSON), "part-0.json", JSON),
        (FilesOutput(format=FileFormat.JSON), "part-0.json.gz", gzip.compress(JSON)),
        (FilesOutput(format=FileFormat.CSV, header=True), "part-0.csv", b"key,value\na,1\nb,\n"),
        (FilesOutput(format=FileFormat.CSV, schema="key string, value long"), "part-0.csv", b"a,1\nb,\n"),
    ],
    # Compressed bytes hold the time: as names they would differ from one test process to the next.
    ids=["parquet", "orc", "json", "json-compressed", "csv-with-header", "csv-with-schema"],
)
def test_rows_are_the_same_in_every_format(declared: FilesOutput, name: str, content: bytes) -> None:
    assert is_of(declared.format, name)
    for columns in (("key", "value"), ()):
        assert FileRows(declared, columns).table([(name, content)]).to_pylist() == ROWS


def test_text_is_a_column() -> None:
    rows = FileRows(FilesOutput(format=FileFormat.TEXT), ("value",)).table([("part-0.txt", b"one\ntwo\n")])
    assert rows.to_pylist() == [{"value": "one"}, {"value": "two"}]


def test_a_schema_decides_where_values_look_like_something_else() -> None:
    declared = FilesOutput(format=FileFormat.CSV, schema="key string, value double")
    assert FileRows(declared, ()).table([("part-0.csv", b"007,1\n")]).to_pylist() == [{"key": "007", "value": 1.0}]
    declared = FilesOutput(format=FileFormat.JSON, schema="value double")
    assert FileRows(declared, ()).table([("part-0.json", b'{"value":1}')])["value"].type == pa.float64()


def test_times_and_decimals_are_read_as_spark_writes_them() -> None:
    schema = "at timestamp, cents decimal(10, 2)"
    row = {"at": datetime(2024, 1, 1, 0, 0, 0, 280_000, UTC), "cents": Decimal("1.50")}
    for declared, content in (
        (FilesOutput(format=FileFormat.JSON, schema=schema), b'{"at":"2024-01-01T00:00:00.280Z","cents":1.50}\n'),
        (FilesOutput(format=FileFormat.JSON, schema=schema), b'{"at":"2024-01-01T05:30:00.280+05:30","cents":1.5}\n'),
        (FilesOutput(format=FileFormat.CSV, schema=schema), b"2024-01-01T00:00:00.280Z,1.50\n"),
    ):
        assert FileRows(declared, ()).table([("part-0", content)]).to_pylist() == [row]
    declared = FilesOutput(format=FileFormat.JSON, schema="at timestamp")
    with pytest.raises(WrongColumns, match="not of the declared schema"):
        FileRows(declared, ()).table([("part-0", b'{"at":"yesterday"}')])


def test_the_folder_of_a_partition_is_a_column() -> None:
    file = ("day=7/zone=a%20b/part-0.parquet", written(pq.write_table))
    [first, _] = FileRows(PARQUET_FILES, ("key", "day", "zone")).table([file]).to_pylist()
    assert first == {"key": "a", "day": 7, "zone": "a b"}
    [first, _] = (
        FileRows(PARQUET_FILES, ("day",)).table([("day=007/part-0.parquet", written(pq.write_table))]).to_pylist()
    )
    assert first == {"day": "007"}


@pytest.mark.parametrize("file_format", [FileFormat.JSON, FileFormat.CSV])
@pytest.mark.parametrize("columns", [(), ("key", "day")])
def test_a_schema_may_name_the_column_of_a_folder(file_format: FileFormat, columns: tuple[str, ...]) -> None:
    content = b'{"key":"a"}\n' if file_format is FileFormat.JSON else b"a\n"
    declared = FilesOutput(format=file_format, schema="day int, key string")
    rows = FileRows(declared, columns).table([("day=7/part-0", content)]).to_pylist()
    assert rows == [{"key": "a", "day": 7}]


def test_files_without_rows_are_no_rows() -> None:
    for declared in (FilesOutput(format=FileFormat.JSON), FilesOutput(format=FileFormat.CSV, schema="key string")):
        assert FileRows(declared, ("key",)).table([("part-0", b"")]).num_rows == 0
    assert FileRows(PARQUET_FILES, ("key",)).table([]).num_rows == 0


def test_a_torn_file_is_told_from_one_of_another_format() -> None:
    with pytest.raises(ValueError, match="Parquet"):
        FileRows(PARQUET_FILES, ()).table([("part-0.parquet", b"PAR1 torn")])
    for declared, content in (
        (FilesOutput(format=FileFormat.JSON), b"a,1\n"),
        (FilesOutput(format=FileFormat.CSV, schema="key string"), b"a,1\n"),
    ):
        with pytest.raises(WrongColumns, match=f"it cannot be read as {declared.format}"):
            FileRows(declared, ()).table([("part-0", content)])


@pytest.mark.parametrize(
    ("declared", "outgoing", "mode"),
    [
        (None, PARQUET_FILES, OutputMode.APPEND),
        (
            {"kind": "files", "format": "json", "commit": "overwrite-per-batch"},
            FilesOutput(format=FileFormat.JSON, commit=Commit.OVERWRITE_PER_BATCH),
            OutputMode.OVERWRITE,
        ),
        (
            {"kind": "topic", "isolation": "read_uncommitted"},
            TopicOutput(isolation=Isolation.READ_UNCOMMITTED),
            OutputMode.APPEND,
        ),
        (
            {"kind": "table", "url": "sqlite:///{output}/orders.db", "table": "orders", "key": ["order_id"]},
            TableOutput(url="sqlite:///{output}/orders.db", table="orders", key=("order_id",)),
            OutputMode.UPSERT,
        ),
        (
            {"kind": "table", "url": "sqlite:///orders.db", "table": "orders"},
            TableOutput(url="sqlite:///orders.db", table="orders"),
            OutputMode.APPEND,
        ),
    ],
)
def test_what_a_module_declares(declared: Any, outgoing: Any, mode: OutputMode) -> None:
    found = outgoing_of(SimpleNamespace(OUTPUT=declared), "mine")  # type: ignore[arg-type]
    assert (found, found.mode) == (outgoing, mode)


@pytest.mark.parametrize(
    ("declared", "sentence"),
    [
        (
            "files",
            "OUTPUT of pipeline 'mine' is 'files': use a dict whose kind is one of files, topic, table, ",
        ),
        ({"kind": "queue"}, "use a dict whose kind is one of files, topic, table, delta, iceberg."),
        (
            {"kind": "files", "formt": "csv"},
            "unknown field `formt`; files takes format (parquet, json, csv, ",
        ),
        ({"kind": "files", "format": "avro"}, "'avro'"),
        ({"kind": "files", "format": "csv"}, "CSV files without a header need a schema"),
        ({"kind": "files", "format": "csv", "schema": "key"}, "schema has 'key', and a column is a name and one of"),
        ({"kind": "topic", "format": "orc"}, "format is 'orc', and messages are json or text"),
        ({"kind": "table", "url": "mysql://x", "table": "a"}, "url is 'mysql://x': write postgresql:// alone"),
        ({"kind": "table", "url": "postgresql://a:b@c/d", "table": "a"}, "write postgresql:// alone"),
        ({"kind": "table", "url": "sqlite:///x", "table": "a; drop"}, "table is 'a; drop', and is a plain name"),
        ({"kind": "table", "url": "sqlite:///x", "table": "a", "contract": "upsert"}, "there is no key"),
        ({"kind": "delta", "path": "orders"}, "path is 'orders': begin it with {output}, or with /"),
        ({"kind": "iceberg", "contract": "upsert"}, "there is no key"),
        ({"kind": "table", "url": "sqlite:///x"}, "`table`; table takes url, table, key"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_sentence(declared: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match="OUTPUT of pipeline 'mine'") as refused:
        outgoing_of(SimpleNamespace(OUTPUT=declared), "mine")  # type: ignore[arg-type]
    assert sentence in str(refused.value)
