"""Tables of Delta Lake and Apache Iceberg as the committed reader sees them: each version that was committed, in order.

They are written by delta-rs and by PyIceberg, in the layout of a Hadoop catalog.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pytest

from holdfast.fixtures.pipelines.output.delta_table import DeltaTable
from holdfast.fixtures.pipelines.output.iceberg_table import IcebergTable
from holdfast.fixtures.pipelines.output.lake_table import LakeTable, OwnFolder
from holdfast.fixtures.pipelines.output.locations import DiskFolder
from holdfast.fixtures.pipelines.output.outgoing import DeltaOutput, IcebergOutput
from holdfast.fixtures.pipelines.output.pipeline_output import PipelineOutput
from holdfast.fixtures.pipelines.output.reader import InLake
from holdfast.fixtures.pipelines.output.stored_output import KeptRows
from holdfast.fixtures.pipelines.output.table_output import TableLook
from holdfast.fixtures.pipelines.rows.decoder import IdentityRows
from holdfast.harness.adapter.recorder import Recorder
from holdfast.harness.model.capability import OutputMode
from holdfast.harness.model.events import Event, RowsChanged, RowsVisible

COLUMNS = ("partition", "offset")
Declared = type[DeltaOutput] | type[IcebergOutput]


class Writer(Protocol):
    """Writes a table: each call is a version. `path`: its folder."""

    path: Path
    declared: Declared

    def append(self, *offsets: int) -> None: ...

    def overwrite(self, *offsets: int) -> None: ...

    def read(self) -> LakeTable: ...


def rows(offsets: Sequence[int]) -> pa.Table:
    return pa.table({"partition": pa.array([0] * len(offsets), pa.int64()), "offset": pa.array(offsets, pa.int64())})


class Delta:
    declared: Declared = DeltaOutput

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, *offsets: int) -> None:
        self._write(offsets, "append")

    def overwrite(self, *offsets: int) -> None:
        self._write(offsets, "overwrite")

    def read(self) -> LakeTable:
        return DeltaTable(DiskFolder("/"), str(self.path))

    def _write(self, offsets: Sequence[int], mode: Any) -> None:
        deltalake = pytest.importorskip("deltalake")
        deltalake.write_deltalake(self.path, rows(offsets), mode=mode)


class Iceberg:
    """By a catalog in memory; its metadata get the names that a Hadoop catalog gives."""

    declared: Declared = IcebergOutput

    def __init__(self, path: Path) -> None:
        self.path = path
        self._table: Any = None
        self._versions = 0

    def append(self, *offsets: int) -> None:
        self._written().append(rows(offsets))
        self._publish()

    def overwrite(self, *offsets: int) -> None:
        self._written().overwrite(rows(offsets))
        self._publish()

    def read(self) -> LakeTable:
        return IcebergTable(DiskFolder("/"), str(self.path))

    def _written(self) -> Any:
        if self._table is None or not self.path.exists():
            catalogs = pytest.importorskip("pyiceberg.catalog.memory")
            catalog = catalogs.InMemoryCatalog("lake", warehouse=str(self.path.parent))
            catalog.create_namespace("shop")
            self._table = catalog.create_table("shop.orders", rows([]).schema, location=f"file://{self.path}")
            self._versions = 0
        return self._table

    def _publish(self) -> None:
        self._versions += 1
        written = self._table.metadata_location.removeprefix("file://")
        partial = self.path / "metadata" / "partial"
        shutil.copy(written, partial)
        partial.rename(partial.with_name(f"v{self._versions}.metadata.json"))


@pytest.fixture(params=[Delta, Iceberg])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Writer:
    make: Callable[[Path], Writer] = request.param
    return make(tmp_path / "its orders")


def looking(table: Writer, folder: Path, **declared: Any) -> TableLook:
    kept = folder / "kept"
    kept.mkdir()
    return TableLook(table.read(), table.declared(path=str(table.path), **declared), COLUMNS, KeptRows(kept))


def counts(events: Sequence[Event]) -> list[int]:
    assert all(isinstance(event, RowsVisible) for event in events)
    return [event.records for event in events if isinstance(event, RowsVisible)]


def test_each_version_that_is_appended_is_a_unit_of_its_own(table: Writer, tmp_path: Path) -> None:
    look = looking(table, tmp_path)
    assert look.poll() == []
    table.append(0, 1)
    table.append(1)
    first, again = look.poll()
    assert counts([first, again]) == [2, 1]
    assert isinstance(first, RowsVisible)
    assert isinstance(again, RowsVisible)
    assert first.poll < again.poll
    assert first.name != again.name
    assert look.poll() == []
    table.append(2)
    assert counts(look.poll()) == [1]
    assert look.poll(final=True) == []


def test_a_row_that_an_appended_table_lost_is_named_though_it_came_back(table: Writer, tmp_path: Path) -> None:
    look = looking(table, tmp_path)
    table.append(0, 1)
    look.poll()
    table.overwrite(0)
    table.append(1)
    gone, *back = look.poll()
    assert isinstance(gone, RowsChanged)
    assert gone.gone == ("(0, 1)",)
    assert counts(back) == [1]


def test_of_a_table_that_is_overwritten_the_last_content_counts(table: Writer, tmp_path: Path) -> None:
    look = looking(table, tmp_path, contract=OutputMode.OVERWRITE)
    table.append(0, 1)
    assert counts(look.poll()) == [2]
    table.overwrite(1, 2, 3)
    [changed] = look.poll()
    assert isinstance(changed, RowsChanged)
    assert (changed.records, changed.gone, changed.vanished) == (3, (), False)


def test_an_upserted_table_names_a_key_that_vanished(table: Writer, tmp_path: Path) -> None:
    look = looking(table, tmp_path, key=("offset",))
    table.append(0, 1)
    look.poll()
    table.overwrite(1)
    [changed] = look.poll()
    assert isinstance(changed, RowsChanged)
    assert changed.gone == ("offset=0",)


def test_a_table_that_is_made_anew_is_read_from_its_first_version(table: Writer, tmp_path: Path) -> None:
    look = looking(table, tmp_path)
    table.append(0)
    table.append(1)
    look.poll()
    shutil.rmtree(table.path)
    [vanished] = look.poll()
    assert isinstance(vanished, RowsChanged)
    assert vanished.vanished
    table.append(0)
    assert counts(look.poll()) == [1]


def test_a_version_that_cannot_be_read_is_looked_at_again(table: Writer, tmp_path: Path) -> None:
    look = looking(table, tmp_path)
    table.append(0)
    [data] = [path for path in table.path.rglob("*.parquet") if "_" not in path.parent.name]
    content = data.read_bytes()
    data.unlink()
    assert look.poll() == []
    assert (look.polls, look.blind_ns > 0) == (0, True)
    with pytest.raises(OSError, match="cannot be read"):
        look.poll(final=True)
    data.write_bytes(content)
    assert counts(look.poll()) == [1]


def test_a_version_that_was_cleaned_up_before_the_look_is_left_out(table: Writer, tmp_path: Path) -> None:
    look = looking(table, tmp_path, contract=OutputMode.OVERWRITE)
    table.append(0, 1)
    [data] = [path for path in table.path.rglob("*.parquet") if "_" not in path.parent.name]
    table.overwrite(2)
    data.unlink()
    assert counts(look.poll()) == [1]


def lead_delta_out(table: Writer, path: str) -> None:
    """The newest version names another file."""
    newest = max((table.path / "_delta_log").glob("*.json"))
    lines = [json.loads(line) for line in newest.read_text().splitlines()]
    for line in lines:
        if "add" in line:
            line["add"]["path"] = path
    newest.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


@pytest.mark.parametrize("form", ["{}", "file://{}", "../elsewhere/part.parquet", "%2E%2E/elsewhere/part.parquet"])
def test_a_log_of_delta_lake_leads_to_no_file_outside(form: str, tmp_path: Path) -> None:
    """Whatever the system under test wrote there was opened."""
    table, secret = Delta(tmp_path / "orders"), tmp_path / "elsewhere" / "part.parquet"
    table.append(0)
    (part,) = table.path.glob("*.parquet")
    secret.parent.mkdir()
    shutil.copy(part, secret)
    lead_delta_out(table, form.format(secret))
    with pytest.raises(OSError, match="which is outside of the folder of the table"):
        list(table.read().contents(patient=False))
    table.append(1)  # The version that names it can no longer be read, and is part of the next one.
    with pytest.raises(OSError, match=r"version 1 .* which is outside of the folder of the table"):
        list(table.read().contents(patient=False))
    *_, read = DeltaTable(DiskFolder("/"), str(table.path), elsewhere=True).contents(patient=False)
    assert read is not None
    assert sorted(read.rows) == [(0, 0), (0, 1)]


def test_metadata_of_iceberg_lead_to_no_file_outside(tmp_path: Path) -> None:
    table = Iceberg(tmp_path / "orders")
    table.append(0)
    (newest,) = (table.path / "metadata").glob("v1.metadata.json")
    content = json.loads(newest.read_text())
    (tmp_path / "elsewhere").mkdir()
    for snapshot in content["snapshots"]:
        name = Path(snapshot["manifest-list"]).name
        shutil.copy(table.path / "metadata" / name, tmp_path / "elsewhere" / name)
        snapshot["manifest-list"] = f"file://{tmp_path}/elsewhere/{name}"
    newest.write_text(json.dumps(content))
    with pytest.raises(OSError, match="which is outside of the folder of the table"):
        list(table.read().contents(patient=False))
    (read,) = IcebergTable(DiskFolder("/"), str(table.path), elsewhere=True).contents(patient=False)
    assert read is not None
    assert read.rows == [(0, 0)]


def test_metadata_of_iceberg_choose_no_code_that_reads(tmp_path: Path) -> None:
    """The module that a property names was imported."""
    table = Iceberg(tmp_path / "orders")
    table.append(0)
    (newest,) = (table.path / "metadata").glob("v1.metadata.json")
    content = json.loads(newest.read_text())
    content["properties"]["py-io-impl"] = "holdfast_nowhere.Files"
    newest.write_text(json.dumps(content))
    (read,) = table.read().contents(patient=False)
    assert read is not None
    assert read.rows == [(0, 0)]


@pytest.mark.parametrize(
    ("location", "inside"),
    [
        ("part.parquet", True),
        ("a/../part.parquet", True),
        ("/lake/orders/part.parquet", True),
        ("file:///lake/orders/part.parquet", True),
        ("file:/lake/orders/part.parquet", True),
        ("/lake/orders-of-others/part.parquet", False),
        ("../part.parquet", False),
        ("a/%2E%2E/%2e%2e/part.parquet", False),
        ("file://elsewhere/lake/orders/part.parquet", False),
        ("s3://lake/orders/part.parquet", False),
        ("https://lake/orders/part.parquet", False),
        ("part\0.parquet", False),
    ],
)
def test_what_is_in_the_folder_of_a_table(location: str, inside: bool) -> None:
    with nullcontext() if inside else pytest.raises(OSError, match="outside of the folder"):
        OwnFolder("/lake/orders").require(location)
    OwnFolder("/lake/100%25").require("/lake/100%25/part.parquet")
    of_a_store = OwnFolder("s3a://lake/run/orders")
    of_a_store.require("s3://lake/run/orders/part.parquet")
    of_a_store.require("s3a://lake/run/orders/part#1?.parquet")
    for other in ("s3a://lake/run/../orders/x", "s3a://other/run/orders/x", "s3a://lake/run/orders2/x", "/etc/passwd"):
        with pytest.raises(OSError, match="outside of the folder"):
            of_a_store.require(other)


def test_it_says_where_it_looked(table: Writer, tmp_path: Path) -> None:
    assert table.read().describe().endswith("its orders, which has no file")
    table.path.mkdir()
    (table.path / "else").touch()
    assert "which has no version in " in table.read().describe()
    assert table.read().describe().endswith("it has else")


def test_nested_values_keep_their_types(tmp_path: Path) -> None:
    deltalake = pytest.importorskip("deltalake")
    lines = pa.array([[("a", 1)], [("b", 2)]], pa.map_(pa.string(), pa.int64()))
    written = pa.table({"partition": [0, 0], "offset": [0, 1], "lines": lines, "at": pa.array([0, 1], pa.date32())})
    deltalake.write_deltalake(tmp_path / "orders", written)
    kept = KeptRows(tmp_path)
    TableLook(DeltaTable(DiskFolder(str(tmp_path)), "orders"), DeltaOutput(), (), kept).poll()
    assert [row["lines"] for row in kept.dicts(0)] == [{"a": 1}, {"b": 2}]


def test_the_reader_process_sees_them(table: Writer, tmp_path: Path) -> None:
    table.append(0, 1)
    folder = tmp_path / "run"
    folder.mkdir()
    declared = table.declared(path=str(table.path))
    committed = PipelineOutput(
        InLake(DiskFolder("/"), str(table.path), declared), IdentityRows.columns, Recorder(), folder
    )
    try:
        committed.await_start()
        table.append(1)
        committed.finish()
        committed.decode(IdentityRows())
        assert (committed.problem, committed.nothing) == ("", "")
        seen = [(row.partition, row.offset) for row in committed.output.rows()]  # type: ignore[union-attr]
        assert sorted(seen) == [(0, 0), (0, 1), (0, 1)]
    finally:
        committed.close()
