"""The committed reader: it sees what is committed, as soon as it is, and whatever becomes of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holdfast.fixtures.pipelines.output.files import LocalFiles, name_in
from holdfast.fixtures.pipelines.output.folder_output import (
    AnyFiles,
    FolderOutput,
    Folders,
    Layout,
    Partitions,
    SinkLog,
)
from holdfast.fixtures.pipelines.output.locations import DiskFolder
from holdfast.fixtures.pipelines.output.outgoing import PARQUET_FILES, Commit, FileFormat, FilesOutput
from holdfast.fixtures.pipelines.output.pipeline_output import PipelineOutput
from holdfast.fixtures.pipelines.output.reader import InFolder
from holdfast.fixtures.pipelines.output.stored_output import KeptRows
from holdfast.fixtures.pipelines.rows.decoder import IdentityRows
from holdfast.harness.adapter.polled_output import Watch
from holdfast.harness.adapter.recorder import READER, Recorder
from holdfast.harness.model.events import Event, NodeStarted, ReaderPolled, RowsChanged, RowsVisible
from holdfast.suites.selfcheck.structured_streaming.spark_files import identities, sink_log


class Looking:
    """A reader that looks when it is told to."""

    def __init__(self, root: Path, layout: Layout, declared: FilesOutput = PARQUET_FILES) -> None:
        kept = root / "kept"
        kept.mkdir()
        self._decoder = IdentityRows()
        self._seen = 0
        self._kept = KeptRows(kept)
        self.reader = FolderOutput(LocalFiles(root), "output", layout, self._decoder.columns, KeptRows(kept), declared)

    def look(self) -> list[Event]:
        """What became known."""
        return self._note(self.reader.poll())

    def finish(self) -> list[Event]:
        """What the last look adds."""
        events, polled = Watch(self.reader, 20).finish()
        return self._note([*events, polled])

    def identities(self) -> list[tuple[int, int]]:
        units = [self._kept.rows(number, self._decoder) for number in range(self._seen)]
        return [(row.partition, row.offset) for unit in units for row in unit]  # type: ignore[union-attr]

    def _note(self, events: list[Event]) -> list[Event]:
        self._seen += sum(
            isinstance(event, RowsVisible) or (isinstance(event, RowsChanged) and event.records is not None)
            for event in events
        )
        return events


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "output"


@pytest.fixture
def batches(tmp_path: Path) -> Looking:
    return Looking(tmp_path, Folders(FileFormat.PARQUET))


@pytest.fixture
def sink(tmp_path: Path) -> Looking:
    return Looking(tmp_path, SinkLog(LocalFiles(tmp_path), "output"))


def commit(folder: Path) -> None:
    (folder / "_SUCCESS").touch()


def test_a_folder_is_committed_by_its_marker(batches: Looking, output: Path) -> None:
    folder = output / "batch-000000"
    identities(folder / "part-0.parquet", (0, 0), (0, 1))
    identities(folder / "part-1.parquet", (1, 0))
    assert batches.look() == []
    commit(folder)
    [visible] = batches.look()
    assert isinstance(visible, RowsVisible)
    assert (visible.name, visible.records) == ("batch-000000", 3)
    assert batches.look() == []
    assert batches.identities() == [(0, 0), (0, 1), (1, 0)]


def test_a_folder_without_rows_is_nothing_to_tell(batches: Looking, output: Path) -> None:
    identities(output / "batch-000000" / "part-0.parquet")
    commit(output / "batch-000000")
    assert batches.look() == []


def test_a_torn_file_is_visible_without_rows_and_changes_when_it_is_mended(batches: Looking, output: Path) -> None:
    part = output / "batch-000000" / "part-0.parquet"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"PAR1 torn")
    commit(part.parent)
    [visible] = batches.look()
    assert isinstance(visible, RowsVisible)
    assert visible.records == 0
    identities(part, (0, 0))
    [changed] = batches.look()
    assert isinstance(changed, RowsChanged)
    assert not changed.vanished


def test_what_is_overwritten_changes_and_what_is_removed_vanishes(batches: Looking, output: Path) -> None:
    part = output / "batch-000000" / "part-0.parquet"
    identities(part, (0, 0))
    commit(part.parent)
    batches.look()
    identities(part, (0, 1))
    [changed] = batches.look()
    (part.parent / "_SUCCESS").unlink()
    [vanished] = batches.look()
    assert isinstance(changed, RowsChanged)
    assert isinstance(vanished, RowsChanged)
    assert (changed.vanished, vanished.vanished) == (False, True)
    assert batches.look() == []


def test_the_same_content_written_again_is_no_change(batches: Looking, output: Path) -> None:
    part = output / "batch-000000" / "part-0.parquet"
    identities(part, (0, 0))
    commit(part.parent)
    batches.look()
    content = part.read_bytes()
    part.unlink()
    part.write_bytes(content)
    assert batches.look() == []


def test_the_last_read_compares_the_content_of_everything(batches: Looking, output: Path) -> None:
    part = output / "batch-000000" / "part-0.parquet"
    identities(part, (0, 0))
    commit(part.parent)
    batches.look()
    stamp = part.stat()
    part.write_bytes(part.read_bytes()[:-1] + b"?")
    os.utime(part, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert batches.look() == [], "its stamp is as before"
    changed, polled = batches.finish()
    assert isinstance(changed, RowsChanged)
    assert changed.final
    assert isinstance(polled, ReaderPolled)
    assert polled.polls == 3


def test_of_the_file_sink_only_what_its_log_names_is_committed(sink: Looking, output: Path) -> None:
    for name in ("a.parquet", "b.parquet", "orphan.parquet"):
        identities(output / name, (0, ord(name[0])))
    assert sink.look() == []
    sink_log(output, "0", "a.parquet", "b.parquet")
    assert [event.name for event in sink.look() if isinstance(event, RowsVisible)] == ["a.parquet", "b.parquet"]
    assert sink.identities() == [(0, 97), (0, 98)]


def test_a_compacted_log_names_the_same_files_again(sink: Looking, output: Path) -> None:
    names = [f"{number}.parquet" for number in range(3)]
    for number, name in enumerate(names):
        identities(output / name, (0, number))
    sink_log(output, "8", names[0], names[1])
    sink.look()
    sink_log(output, "9.compact", *names)
    assert [event.name for event in sink.look() if isinstance(event, RowsVisible)] == [names[2]]
    (output / "_spark_metadata" / "8").unlink()
    assert sink.look() == []


def test_a_file_that_the_log_names_and_that_is_not_there_holds_no_rows(sink: Looking, output: Path) -> None:
    sink_log(output, "0", "gone.parquet")
    assert sink.look() == []
    assert sink.identities() == []


def test_files_of_any_pipeline_are_visible_by_a_marker_unless_they_are_hidden(tmp_path: Path, output: Path) -> None:
    looking = Looking(tmp_path, AnyFiles(LocalFiles(tmp_path), "output"))
    for name in ("a.parquet", "day=1/b.parquet", "_temporary/0/c.parquet", ".hidden.parquet"):
        identities(output / name, (0, 0))
    assert looking.look() == []
    commit(output)
    assert [event.name for event in looking.look() if isinstance(event, RowsVisible)] == [
        "a.parquet",
        "day=1/b.parquet",
    ]


def test_where_the_file_sink_has_a_log_it_alone_counts(tmp_path: Path, output: Path) -> None:
    looking = Looking(tmp_path, AnyFiles(LocalFiles(tmp_path), "output"))
    identities(output / "a.parquet", (0, 0))
    identities(output / "orphan.parquet", (0, 0))
    sink_log(output, "0", "a.parquet")
    assert [event.name for event in looking.look() if isinstance(event, RowsVisible)] == ["a.parquet"]


def test_rows_of_other_columns_are_a_problem_and_no_loss(batches: Looking, output: Path) -> None:
    part = output / "batch-000000" / "part-0.parquet"
    part.parent.mkdir(parents=True)
    pq.write_table(pa.table({"partition": [0], "place": [0]}), part)
    commit(part.parent)
    expected = "batch-000000: the output has no column 'offset', only partition, place: write it, too."
    with pytest.raises(OSError, match=expected):
        batches.look()


def test_it_looks_in_a_process_of_its_own(tmp_path: Path, output: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    recorder = Recorder()
    recorder.start_clock()
    where = InFolder(DiskFolder(str(tmp_path)), "output", FilesOutput(commit=Commit.FOLDER_PER_BATCH))
    committed = PipelineOutput(where, IdentityRows.columns, recorder, folder)
    try:
        committed.await_start()
        identities(output / "batch-000000" / "part-0.parquet", (0, 0), (0, 1))
        commit(output / "batch-000000")
        committed.finish()
        committed.decode(IdentityRows())
        assert committed.problem == ""
        assert [(row.partition, row.offset) for row in committed.output.rows()] == [(0, 0), (0, 1)]  # type: ignore[union-attr]
    finally:
        committed.close()
    started, visible, polled = recorder.nodes[READER]
    assert isinstance(started, NodeStarted)
    assert isinstance(visible, RowsVisible)
    assert isinstance(polled, ReaderPolled)
    assert 0 < started.time_ns < visible.time_ns < polled.time_ns
    assert [event.sequence for event in recorder.nodes[READER]] == [0, 1, 2]


STARTED = "an interpreter that aborts at its exit"


def test_what_ends_the_process_ends_the_run_in_one_sentence(
    tmp_path: Path, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _aborts_at_exit(tmp_path / "imported", monkeypatch)
    folder = tmp_path / "run"
    folder.mkdir()
    part = output / "batch-000000" / "part-0.parquet"
    part.parent.mkdir(parents=True)
    pq.write_table(pa.table({"place": [0]}), part)
    commit(part.parent)
    where = InFolder(DiskFolder(str(tmp_path)), "output", FilesOutput(commit=Commit.FOLDER_PER_BATCH))
    committed = PipelineOutput(where, IdentityRows.columns, Recorder(), folder)
    try:
        committed.finish()
        expected = "the output has no column 'partition', only place: write it, too."
        assert committed.problem == f"the committed reader ended: batch-000000: {expected}"
        assert (folder / "reader.log").read_text().startswith(STARTED)
    finally:
        committed.close()


def test_so_does_a_mistake_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _aborts_at_exit(tmp_path / "imported", monkeypatch)
    where = InFolder(DiskFolder(str(tmp_path)), "output", FilesOutput(commit=Commit.FOLDER_PER_BATCH))
    numbered: Any = (1,)
    committed = PipelineOutput(where, numbered, Recorder(), tmp_path)
    try:
        committed.finish()
        mistake = "msgspec.ValidationError: Expected `str`, got `int` - at `$.columns[0]`"
        assert committed.problem == f"the committed reader ended: {mistake}"
    finally:
        committed.close()


def _aborts_at_exit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every interpreter that exits in the ordinary way abort there, as threads of Arrow make it now and then."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        "import atexit, os, sys\n"
        f"print({STARTED!r}, file=sys.stderr, flush=True)\n"
        "atexit.register(os.abort)\n"
        "atexit.register(print, 'terminate called', file=sys.stderr, flush=True)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)


OVERWRITTEN = FilesOutput(commit=Commit.OVERWRITE_PER_BATCH)


@pytest.fixture
def overwritten(tmp_path: Path) -> Looking:
    return Looking(tmp_path, Folders(FileFormat.PARQUET), OVERWRITTEN)


def test_of_a_folder_that_is_overwritten_each_content_is_put_aside(overwritten: Looking, output: Path) -> None:
    part = output / "batch=7" / "part-0.parquet"
    identities(part, (0, 0), (0, 1))
    commit(part.parent)
    [visible] = overwritten.look()
    assert isinstance(visible, RowsVisible)
    identities(part, (0, 0))
    [replaced] = overwritten.look()
    assert isinstance(replaced, RowsChanged)
    assert (replaced.name, replaced.records, replaced.vanished) == ("batch=7", 1, False)
    assert overwritten.look() == []
    assert overwritten.identities() == [(0, 0), (0, 1), (0, 0)]


def test_a_folder_may_be_away_while_it_is_overwritten_and_come_back_as_it_was(
    overwritten: Looking, output: Path
) -> None:
    part = output / "batch=7" / "part-0.parquet"
    identities(part, (0, 0))
    commit(part.parent)
    overwritten.look()
    (part.parent / "_SUCCESS").unlink()
    [away] = overwritten.look()
    commit(part.parent)
    [back] = overwritten.look()
    assert isinstance(away, RowsChanged)
    assert isinstance(back, RowsChanged)
    assert (away.vanished, away.records, back.vanished, back.records) == (True, None, False, 1)


def test_a_folder_without_rows_that_gets_some_becomes_visible(overwritten: Looking, output: Path) -> None:
    part = output / "batch=7" / "part-0.parquet"
    identities(part)
    commit(part.parent)
    assert overwritten.look() == []
    identities(part, (0, 0))
    assert [type(event) for event in overwritten.look()] == [RowsVisible]


def test_partitions_that_are_overwritten_have_no_marker(tmp_path: Path, output: Path) -> None:
    looking = Looking(tmp_path, Partitions(FileFormat.PARQUET), FilesOutput(commit=Commit.OVERWRITE_PARTITIONS))
    identities(output / ".spark-staging-1" / "day=2" / "part-0.parquet", (0, 2))
    assert looking.look() == []
    identities(output / "day=1" / "part-0.parquet", (0, 0))
    identities(output / "part-0.parquet", (0, 1))
    assert [event.name for event in looking.look() if isinstance(event, RowsVisible)] == ["day=1", "output folder"]
    (output / "day=1" / "part-0.parquet").unlink()
    identities(output / "day=1" / "part-1.parquet", (0, 3))
    [replaced] = looking.look()
    assert isinstance(replaced, RowsChanged)
    assert replaced.records == 1


def test_partitions_are_committed_by_the_marker_above_them(overwritten: Looking, output: Path) -> None:
    identities(output / "day=1" / "part-0.parquet", (0, 0))
    identities(output / "day=2" / "part-0.parquet", (0, 1))
    identities(output / ".spark-staging-1" / "day=2" / "part-0.parquet", (0, 2))
    assert overwritten.look() == []
    commit(output)
    assert [event.name for event in overwritten.look() if isinstance(event, RowsVisible)] == ["day=1", "day=2"]


def test_it_says_what_is_there_where_no_row_was_seen(overwritten: Looking, output: Path) -> None:
    overwritten.look()
    assert overwritten.reader.describe().endswith("committed by overwrite-per-batch; it has no file")
    output.mkdir()
    for name in ("a.json", "b.json", "_SUCCESS"):
        (output / name).touch()
    overwritten.look()
    assert overwritten.reader.describe().endswith("it has 3 files (2 .json, 1 _SUCCESS)")


@pytest.mark.parametrize("commits", [True, False])
def test_output_is_the_last_content_of_each_folder(tmp_path: Path, output: Path, commits: bool) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    part = output / "batch=7" / "part-0.parquet"
    identities(part, (0, 0), (0, 1))
    commit(part.parent)
    committed = PipelineOutput(
        InFolder(DiskFolder(str(tmp_path)), "output", OVERWRITTEN), IdentityRows.columns, Recorder(), folder
    )
    try:
        committed.await_start()
        while not committed._versions.last():
            committed.hear()
        if commits:
            identities(part, (1, 5))
        else:
            (part.parent / "_SUCCESS").unlink()
        committed.finish()
        committed.decode(IdentityRows())
        assert (committed.problem, committed.nothing) == ("", "")
        rows = [(row.partition, row.offset) for row in committed.output.rows()]  # type: ignore[union-attr]
        assert rows == ([(1, 5)] if commits else [])
    finally:
        committed.close()


def test_a_folder_of_any_name_is_told_as_it_is(tmp_path: Path) -> None:
    root = tmp_path / "spark+jobs of 100%25"
    uri = LocalFiles(root).uri("output")
    assert uri == f"file://{tmp_path}/spark+jobs of 100%25/output"
    written = f"file://{tmp_path}/spark+jobs%20of%20100%2525/output/day=1%2F2/part-0.parquet"
    assert name_in(uri, written) == "day=1/2/part-0.parquet"
    assert name_in("s3a://bucket/run/output", "s3a://bucket/run/output/part-0.parquet") == "part-0.parquet"


def test_a_folder_that_spark_would_read_as_a_pattern_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"night\[1\] has \[ \] in its name, which Spark reads as a pattern: give --out"):
        LocalFiles(tmp_path / "night[1]")
