"""How values are mutated: JSON in its structure, texts and bytes where they can break, Parquet by its columns, and what
is laid in place of a file."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from holdfast.harness.sim.streams import Stream

MOST_RECORDS = 1_000
"""A plan with more is well formed and runs for long, which says nothing of its reader."""
ODD: Sequence[Any] = (
    None, True, False, 0, -1, 1, 2, 3, MOST_RECORDS, 2**31, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**64, 10**40, -(2**63),
    0.5, 1e308, "", "x", "..", "/", "\0", "\n", "é", "\U0001f980", "x" * 300, "-1", "1e9", [], {}, [[]], {"": {}},
    [None] * 3,
)  # fmt: skip
ODD_TEXTS = (
    b"\0", b"\xff\xfe", b"\r\n", b"NaN", b"Infinity", b'"\\ud800"', b"{" * 2_000, b"[" * 2_000, b"1" * 999,
    b"9" * 5_000, b"[" * 100_000, b'{"a":' * 50_000, b"&a [*a]", b"1e999999999",
)  # fmt: skip
_DEEPEST = 12
MANY_ROWS, _GROUP = 100_000_000, 10_000_000


def mutated_json(content: bytes, draw: Stream) -> bytes:
    """JSON with one to three changes of structure; not always valid for its reader, always JSON."""
    value = json.loads(content)
    for _ in range(draw.between(1, 3)):
        value = _changed(value, draw, _DEEPEST)
    return json.dumps(value).encode()


def _changed(value: Any, draw: Stream, depth: int) -> Any:
    """The value with a change at one place: here, or further down."""
    inner = [key for key, each in _items(value) if isinstance(each, dict | list)]
    if inner and depth and draw.chance(0.7):
        key = draw.choice(inner)
        return _with(value, key, _changed(value[key], draw, depth - 1))
    keys = [key for key, _ in _items(value)]
    if not keys or draw.chance(0.05):
        return draw.choice(ODD)
    key = draw.choice(keys)
    kind = draw.below(6)
    if kind == 0:
        return _without(value, key)
    if kind == 1:
        return _with(value, draw.choice(("", "unknown", "type", "version")), draw.choice(ODD)) if isinstance(
            value, dict
        ) else [*value, value[key]]  # fmt: skip
    if kind == 2:
        return _with(value, key, value[draw.choice(keys)])
    if kind == 3 and type(value[key]) is int:
        return _with(value, key, value[key] + draw.choice((-1, 1, 7, 2**31, -(2**63))))
    if kind == 4 and isinstance(value[key], str):
        return _with(value, key, value[key][: draw.below(len(value[key]) + 1)] + draw.choice(("", "x", "\0", "/../x")))
    return _with(value, key, draw.choice(ODD))


def _items(value: Any) -> Sequence[tuple[Any, Any]]:
    if isinstance(value, dict):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, list) else ()


def _with(value: Any, key: Any, changed: Any) -> Any:
    if isinstance(value, dict):
        return {**value, key: changed}
    return [changed if index == key else each for index, each in enumerate(value)]


def _without(value: Any, key: Any) -> Any:
    return {name: each for name, each in _items(value) if name != key} if isinstance(value, dict) else [
        each for index, each in enumerate(value) if index != key
    ]  # fmt: skip


def mutated_lines(content: bytes, draw: Stream) -> bytes:
    """Lines of JSON: one of them mutated, removed, doubled or moved, or the last one cut."""
    lines = content.splitlines(keepends=True)
    if not lines:
        return draw.choice(ODD_TEXTS)
    index, kind = draw.below(len(lines)), draw.below(5)
    if kind == 0:
        del lines[index]
    elif kind == 1:
        lines.insert(draw.below(len(lines)), lines[index])
    elif kind == 2:
        lines[-1] = lines[-1][: draw.below(len(lines[-1]))]
    else:
        lines[index] = mutated_json(lines[index], draw) + b"\n"
    return b"".join(lines)


def mutated_bytes(content: bytes, draw: Stream) -> bytes:
    """Bytes flipped, cut, doubled, or put in between."""
    kind, place = draw.below(5), draw.below(len(content) + 1)
    if kind == 0:
        return content[:place]
    if kind == 1:
        return content[:place] + draw.choice(ODD_TEXTS) + content[place:]
    if kind == 2:
        return content[:place] + content[min(place + draw.between(1, 40), len(content)) :]
    if kind == 3:
        return content + content
    return content[:place] + bytes([draw.below(256)]) + content[place + 1 :]


def mutated_text(content: bytes, draw: Stream) -> bytes:
    """Lines of a configuration: removed, doubled, indented, or with another key or value."""
    lines = content.splitlines()
    for _ in range(draw.between(1, 3)):
        index, kind = draw.below(len(lines)), draw.below(6)
        key, _, value = lines[index].partition(b":")
        odd = str(draw.choice(ODD)).encode()
        changed: Sequence[bytes] = (
            b"",
            lines[index] + b"\n" + lines[index],
            b"  " + lines[index],
            key + b": " + odd,
            odd + b":" + value,
            key + b":" + value[: draw.below(len(value) + 1)],
        )
        lines[index] = changed[kind]
    return b"\n".join(lines)


_TYPES = (pa.int8(), pa.int32(), pa.uint64(), pa.float64(), pa.string(), pa.binary(), pa.bool_(), pa.null(),
          pa.list_(pa.int32()), pa.dictionary(pa.int32(), pa.string()), pa.timestamp("us"))  # fmt: skip


def mutate_parquet(path: Path, draw: Stream) -> None:
    """A file of Parquet with other columns, types, rows or metadata."""
    table = pq.read_table(path)
    names = table.column_names
    name, kind = draw.choice(names), draw.below(8)
    index = names.index(name)
    if kind == 0:
        table = table.drop_columns([name])
    elif kind == 1:
        table = table.rename_columns([f"{each}s" if each == name else each for each in names])
    elif kind == 2:
        table = _retyped(table, index, draw.choice(_TYPES))
    elif kind == 3:
        table = table.set_column(index, name, pa.nulls(len(table), table.schema.field(index).type))
    elif kind == 4:
        table = table.slice(draw.below(len(table) + 1)) if draw.chance(0.5) else pa.concat_tables([table, table])
    elif kind == 5:
        table = table.append_column("more", pa.nulls(len(table), pa.int64()))
    elif kind == 6:
        path.write_bytes(_many_rows(table.schema))
        return
    else:
        shape = (table.schema.metadata or {}).get(b"holdfast", b"{}")
        mutate = draw.choice((mutated_json, mutated_bytes))
        table = table.replace_schema_metadata(draw.choice(({b"holdfast": mutate(shape, draw)}, {}, {b"other": shape})))
    pq.write_table(table, path)


@cache
def _many_rows(schema: pa.Schema) -> bytes:
    """A small file of as many rows as nobody sends by accident."""
    part = pa.table([pa.nulls(_GROUP, field.type) for field in schema], schema)
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, schema) as writer:
        for _ in range(MANY_ROWS // _GROUP):
            writer.write_table(part, row_group_size=_GROUP)
    return bytes(sink.getvalue())


def lay_something_else(path: Path, draw: Stream) -> None:
    """In place of a file, what is none, or is none that anybody can read."""
    content = path.read_bytes()
    path.unlink()
    kind = draw.below(7)
    if kind == 0:
        path.mkdir()
    elif kind == 1:
        os.mkfifo(path)
    elif kind == 2:
        path.symlink_to(draw.choice(("/etc/passwd", "/dev/zero", ".", "..", "nowhere", path.name)))
    elif kind == 3:
        path.with_name(draw.choice(("x.json", "x.jsonl", "é", ".x", "x" * 200))).write_bytes(content)
    elif kind == 4:
        path.touch()
    elif kind == 5:
        with path.open("wb") as file:
            file.truncate(1 << draw.between(26, 43))


def mutated_gzip(content: bytes, draw: Stream) -> bytes:
    """Lines of JSON that were packed; once in a while, far more than they seem to be."""
    if draw.chance(0.05):
        return gzip.compress(draw.choice((b"\0", b"[", b" ")) * (1 << 28), 1)
    return gzip.compress(mutated_lines(gzip.decompress(content), draw))


def _retyped(table: pa.Table, index: int, kind: pa.DataType) -> pa.Table:
    try:
        column = table.column(index).cast(kind, safe=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        column = pa.nulls(len(table), kind)
    return table.set_column(index, table.column_names[index], column)


Mutate = Callable[[bytes, Stream], bytes]
BY_SUFFIX: Mapping[str, Sequence[Mutate]] = {
    ".json": (mutated_json, mutated_json, mutated_bytes),
    ".jsonl": (mutated_lines, mutated_lines, mutated_bytes),
    ".gz": (mutated_gzip, mutated_gzip, mutated_bytes),
    ".yaml": (mutated_text, mutated_text, mutated_bytes),
    ".parquet": (mutated_bytes,),
}
"""How a file may be mutated; what is named twice is so twice as often."""
