"""What somebody else may have laid where the harness reads: it is looked at first, and refused in one sentence."""

from __future__ import annotations

import gzip
import json
import os
import socket
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holdfast.fixtures.systems.json_lines.introduction import parse_hello
from holdfast.fixtures.systems.json_lines.messages import Garbage, decode
from holdfast.fixtures.systems.json_lines.store import TABLES, TableFiles, records_held
from holdfast.harness.cli import execute
from holdfast.harness.engine.artefacts import history_files, record_files
from holdfast.harness.engine.artefacts.record_files import read_inputs
from holdfast.harness.engine.certification import result_log
from holdfast.harness.engine.certification.begun import Begun, identity_of, write_begun
from holdfast.harness.engine.certification.request import Request
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.model.events import AnyEvent
from holdfast.harness.spi import outside_files
from holdfast.harness.spi.outside_files import DOCUMENT_BYTES, WRITTEN_BYTES, OutsideFileError, read_outside
from holdfast.suites.selfcheck.abuse.mutations.driving import MOST_MEGABYTES, grown_megabytes
from holdfast.suites.selfcheck.abuse.mutations.kinds import KINDS, mend_digests

NESTED = 100_000
MANY_ROWS = 24_000_000
"""Of two columns, so that they are more values than are read."""
A_GROUP = 8_000_000
Lay = Callable[[Path], object]


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


def listening(path: Path) -> None:
    with closing(socket.socket(socket.AF_UNIX)) as made:
        made.bind(os.path.relpath(path))


LAID: Mapping[str, tuple[Lay, str]] = {
    "pipe": (os.mkfifo, "cannot be read, as it is a pipe; allowed is a regular file: name one"),
    "folder": (Path.mkdir, "cannot be read, as it is a folder; allowed is a regular file: name one"),
    "link to a device": (lambda path: path.symlink_to("/dev/zero"), "cannot be read, as it is a"),
    "socket": (listening, "cannot be read, as it is a socket; allowed is a regular file: name one"),
    "sparse file": (sparse, "is 1,099,511,627,776 bytes long, allowed are"),
}
COMMANDS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "run": ("plan.json", ("run", "PATH", "--tier", "sim")),
    "inspect": ("_metadata", ("checkpoint", "inspect", "PATH")),
    "config": ("flink-conf.yaml", ("config", "check", "PATH")),
    "config of Spark": ("spark-defaults.conf", ("config", "check", "PATH")),
    "nightly": ("holdfast.toml", ("nightly", "--config", "PATH")),
}


@pytest.mark.parametrize("laid", LAID)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_reads_nothing_but_files(
    command: str, laid: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lay, complaint = LAID[laid]
    name, words = COMMANDS[command]
    lay(tmp_path / name)
    code: list[int] = []
    grown = grown_megabytes(lambda: execute([str(tmp_path / name) if word == "PATH" else word for word in words]), code)
    said = capsys.readouterr().err
    if (command, laid) == ("inspect", "folder"):
        complaint = "no checkpoint is there"
    assert (code, said.count("holdfast: ")) == ([3], 1), said
    assert complaint in said
    assert grown < MOST_MEGABYTES


@pytest.mark.parametrize("laid", LAID)
def test_a_program_cannot_lay_anything_else_in_place_of_its_table(laid: str, tmp_path: Path) -> None:
    lay, complaint = LAID[laid]
    lay(tmp_path / "table.json")
    with pytest.raises(ValueError, match=f"^table.json {complaint}"):
        TableFiles(str(tmp_path), TABLES, str(tmp_path / "damages")).rows()
    assert records_held(tmp_path, TABLES, 2) == (0, 0)


@pytest.mark.parametrize("bracket", [b"[", b'{"a":'])
def test_nested_json_of_a_program_is_no_message(bracket: bytes) -> None:
    line = bracket * NESTED
    assert parse_hello(line).silence == "it answered with what is no JSON object"
    for version in (1, 2):
        with pytest.raises(Garbage, match="which is no message of the protocol"):
            decode(line, version)
        with pytest.raises(Garbage, match="which is no message of the protocol"):
            decode(b'{"type":"ack","partition":' + line, version)


@pytest.mark.parametrize("name", ["plan.json", "holdfast.toml", "config.yaml"])
def test_what_is_nested_deeply_is_refused(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / name
    nested = {
        "plan.json": '{"job":' * NESTED,
        "holdfast.toml": f"systems = {'[' * NESTED}",
        "config.yaml": "".join(f"{' ' * depth}k:\n" for depth in range(2_000)),
    }
    path.write_text(nested[name])
    command = next(words for file, words in COMMANDS.values() if file.rpartition(".")[2] == name.rpartition(".")[2])
    assert execute([str(path) if word == "PATH" else word for word in command]) == 3
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "Traceback" not in said


def dense(name: str, limit: int) -> bytes:
    """As much as may be in a file, in as many parts as can be."""
    lists = b"[]," * (limit // 3 - 20) + b"1]}"
    return {
        "plan.json": b'{"job":[' + lists,
        "results.json": b'{"version":5,"runs":[' + lists,
        "night.json": b'{"version":1,"systems":[' + lists,
        "flink-conf.yaml": b"a: b\n" * (limit // 5),
        "config.yaml": bytes(limit),
        "spark-defaults.conf": b"a b\n" * (limit // 4 - 1) + b"\\u",
        "holdfast.toml": b"[a" + b".a" * (limit // 2 - 2) + b"]",
    }[name]


@pytest.mark.parametrize(
    ("name", "words", "limit"),
    [
        ("plan.json", ("run", "PATH", "--tier", "sim"), DOCUMENT_BYTES),
        ("results.json", ("diff", "PATH", "PATH"), DOCUMENT_BYTES),
        ("night.json", ("diff", "PATH", "PATH"), DOCUMENT_BYTES),
        ("flink-conf.yaml", ("config", "check", "PATH"), WRITTEN_BYTES),
        ("config.yaml", ("config", "check", "PATH"), WRITTEN_BYTES),
        ("spark-defaults.conf", ("config", "check", "PATH"), WRITTEN_BYTES),
        ("holdfast.toml", ("nightly", "--config", "PATH"), WRITTEN_BYTES),
    ],
)
@pytest.mark.share(3)
def test_a_document_of_many_small_parts_is_refused_in_bounded_memory(
    name: str, words: tuple[str, ...], limit: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (path := tmp_path / name).write_bytes(dense(name, limit))
    codes: list[int] = []
    command = [str(path) if word == "PATH" else word for word in words]
    assert grown_megabytes(lambda: execute(command), codes) < MOST_MEGABYTES
    said = capsys.readouterr().err
    if name != "flink-conf.yaml":
        assert (codes, said.count("holdfast: ")) == ([3], 1)
    assert len(said) < 1_000


def many_rows(path: Path) -> None:
    """A small file of many rows, as anybody can write it."""
    shape = {"keys": ["k"], "first_offsets": [], "partitions": [_PARTITION | {"length": MANY_ROWS}]}
    zeros = np.zeros(A_GROUP, np.int64)
    columns = {
        "key": pa.DictionaryArray.from_arrays(pa.array(zeros, pa.int32()), pa.array(["k"])),
        "value": pa.array(zeros),
    }
    table = pa.table(columns).replace_schema_metadata({b"holdfast": json.dumps(shape).encode()})
    with pq.ParquetWriter(path, table.schema) as writer:
        for _ in range(MANY_ROWS // A_GROUP):
            writer.write_table(table, row_group_size=A_GROUP)


_PARTITION = {"preloaded": 0, "starts_ms": 0, "records_per_second": 1}


def test_a_small_file_of_many_rows_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """One of 100 million rows filled 6.6 GB."""
    many_rows(path := tmp_path / "inputs.parquet")
    assert path.stat().st_size < 1 << 20
    refusals: list[str] = []

    def read() -> None:
        with pytest.raises(UsageError) as refused:
            read_inputs(path, "inputs.parquet")
        refusals.append(str(refused.value))

    assert grown_megabytes(read, []) < MOST_MEGABYTES
    assert refusals == [
        "inputs.parquet: holds 48,000,000 values, allowed are 40,000,000; raise the limits with "
        "`holdfast --limits FACTOR` if you trust it."
    ]


def test_a_long_text_that_a_small_file_repeats_fills_no_memory(tmp_path: Path) -> None:
    rows = 50_000
    long = "x" * 20_000
    shape = {"keys": [long], "first_offsets": [], "partitions": [_PARTITION | {"length": rows}]}
    table = pa.table(
        {
            "key": pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows), pa.int32()), pa.array([long])),
            "value": pa.array(np.zeros(rows, np.int64)),
        }
    )
    path = tmp_path / "inputs.parquet"
    with pq.ParquetWriter(path, table.schema, store_schema=False) as writer:  # Nothing says that it is a dictionary.
        writer.write_table(table)
        writer.add_key_value_metadata({"holdfast": json.dumps(shape)})
    assert grown_megabytes(lambda: read_inputs(path, "inputs.parquet"), []) < MOST_MEGABYTES


def test_limits_are_raised_by_a_flag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outside_files, "_factor", 1)
    (path := tmp_path / "document").write_bytes(b"x" * 100)
    with pytest.raises(OutsideFileError, match="is 100 bytes long, allowed are 60; raise the limits with"):
        read_outside(path, 60)
    assert execute(["--limits", "2", "rules"]) == 0
    assert read_outside(path, 60) == b"x" * 100
    assert execute(["rules"]) == 0
    with pytest.raises(OutsideFileError):
        read_outside(path, 60)
    assert execute(["--limits", "0", "rules"]) == 3


def test_a_run_with_more_rows_than_are_read_as_objects_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    KINDS["run"].make(tmp_path)
    assert execute(["judge", str(tmp_path / "run")]) == 0
    monkeypatch.setattr(record_files, "OBJECT_ROWS", 3)
    capsys.readouterr()
    assert execute(["judge", str(tmp_path / "run")]) == 3
    assert "rows, allowed are 3; raise the limits with" in capsys.readouterr().err


def test_events_beyond_the_limit_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    KINDS["run"].make(tmp_path)
    monkeypatch.setattr(history_files, "EVENTS_BYTES", 20_000)
    assert execute(["judge", str(tmp_path / "run")]) == 3
    assert "bytes long, allowed are 20,000" in capsys.readouterr().err


def test_a_nested_event_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    KINDS["run"].make(tmp_path)
    history = tmp_path / "run" / "history"
    events = sorted(history.glob("*.jsonl"))[0]
    lines = events.read_bytes().splitlines()
    msgspec.json.decode(lines[0], type=AnyEvent)
    events.write_bytes(b"\n".join([b'{"kind":' * NESTED, *lines[1:], b""]))
    mend_digests(history)
    assert execute(["judge", str(tmp_path / "run")]) == 3
    assert "not whole JSON" in capsys.readouterr().err


def test_packed_logs_together_unpack_to_no_more_than_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of somebody else is gone on with: a small log may unpack to any length."""
    first, second = tmp_path / "results-0001.jsonl.gz", tmp_path / "results-0002.jsonl.gz"
    first.write_bytes(gzip.compress(b"a\nb\n"))
    second.write_bytes(gzip.compress(b"c\n" * 1_000_000))
    lines = outside_files.PackedLines(1_000)
    assert list(lines.of(first)) == [b"a\n", b"b\n"]
    with pytest.raises(OutsideFileError, match="with the logs beside it, to more than 1,000 bytes"):
        list(lines.of(second))
    second.write_bytes(gzip.compress(b"d\n" + b"e" * 1_000_000))
    monkeypatch.setattr(outside_files, "LINE_BYTES", 10)
    with pytest.raises(OutsideFileError, match="holds a line above 10 bytes"):
        list(outside_files.PackedLines().of(second))
    second.write_bytes(first.read_bytes()[:-9])
    assert list(outside_files.PackedLines().of(second)) in ([b"a\n"], [b"a\n", b"b\n"], [])
    second.unlink()
    second.symlink_to(first)
    with pytest.raises(OutsideFileError, match="a link"):
        list(outside_files.PackedLines().of(second))


def test_what_goes_on_reads_no_log_that_unpacks_to_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was read until memory was full."""
    asked = Request(command="", system="reference", folder=Path(), rules=frozenset({"CRD-04"}))
    begun = Begun(identity=identity_of(asked), request=asked)
    write_begun(tmp_path, begun)
    header = msgspec.json.encode(result_log.LogHeader(identity=begun.identity, started="now"))
    (tmp_path / "results-0001.jsonl.gz").write_bytes(gzip.compress((header + b"\n") * 100_000))
    monkeypatch.setattr(result_log, "PackedLines", lambda: outside_files.PackedLines(1_000_000))
    assert execute(["report", str(tmp_path)]) == 3
    assert "results-0001.jsonl.gz: unpacks, with the logs beside it, to more than" in capsys.readouterr().err
    assert not (tmp_path / "results.json").exists()
