"""Messages of an output topic as rows, whatever they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from holdfast.fixtures.pipelines.output.kept_rows import KeptRows
from holdfast.fixtures.pipelines.output.outgoing import FileFormat
from holdfast.fixtures.pipelines.output.topic_output import TopicRows


class Message:
    """What a consumer hands over."""

    def __init__(self, offset: int, value: bytes | None, key: bytes | None = None, partition: int = 0) -> None:
        self._fields = {"offset": offset, "value": value, "key": key, "partition": partition}

    def __getattr__(self, name: str) -> Any:
        return lambda: self._fields[name]


def kept(folder: Path, file_format: FileFormat, columns: tuple[str, ...], *messages: Message) -> list[Any]:
    """By unit, its rows."""
    rows = TopicRows("orders", file_format, columns, KeptRows(folder))
    for unit in rows.group(messages):
        rows.keep(unit)
    return [pa.ipc.open_file(path.read_bytes()).read_all().to_pylist() for path in sorted(folder.iterdir())]


def test_values_are_objects_of_any_shape(tmp_path: Path) -> None:
    messages = (
        Message(0, b'{"id":1,"order":{"items":[{"sku":"a","count":2}]}}'),
        Message(1, None),
        Message(2, b'{"id":2}'),
        Message(0, b'{"id":3,"order":null}', partition=1),
    )
    nested = {"items": [{"sku": "a", "count": 2}]}
    first = [{"id": 1, "order": nested}, {"id": 2, "order": None}]
    assert kept(tmp_path, FileFormat.JSON, (), *messages) == [first, [{"id": 3, "order": None}]]


def test_only_columns_that_are_judged_are_kept(tmp_path: Path) -> None:
    assert kept(tmp_path, FileFormat.JSON, ("id",), Message(0, b'{"id":1,"x":2}')) == [[{"id": 1}]]


def test_key_and_value_are_texts(tmp_path: Path) -> None:
    messages = Message(0, b"one", b"a"), Message(1, b"two")
    rows = [{"key": "a", "value": "one"}, {"key": None, "value": "two"}]
    assert kept(tmp_path, FileFormat.TEXT, ("key", "value"), *messages) == [rows]


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (b"\x00\x01", "orders-0-from-7: a message is not json of these columns"),
        (b"[1]", "a row is \\[1\\], and no object"),
        (b'{"sum":1}', "a row has none of the columns id, only sum"),
    ],
)
def test_a_message_of_another_kind_is_a_problem(value: bytes, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(OSError, match=sentence):
        kept(tmp_path, FileFormat.JSON, ("id",), Message(7, value))
