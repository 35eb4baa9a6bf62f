"""Inputs and outputs of a run as Parquet: columns that any reader understands, and what they cannot say as metadata."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate
from mmap import MADV_DONTNEED, mmap
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TypeVar, cast

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.model.arrow_array import arrow_array, numpy_array
from holdfast.harness.model.job import Contract
from holdfast.harness.model.records import (
    CommittedRows,
    FoldColumns,
    FoldRow,
    IdentityColumns,
    IdentityRow,
    InputLog,
    Output,
    Partition,
    WindowRow,
)
from holdfast.harness.spi.outside_files import OBJECT_ROWS, OutsideFileError, require_values

_SHAPE = b"holdfast"
IN_MEMORY_ROWS = 10_000_000
"""Of two columns: they take 0.3 GB while they are read. More stay in a file."""
_BATCH_ROWS = 1 << 20
_AGAIN = "record the run again"
Shape = TypeVar("Shape")
Rows = Sequence[FoldRow] | Sequence[IdentityRow] | Sequence[WindowRow] | FoldColumns | IdentityColumns


class _PartitionShape(msgspec.Struct, frozen=True):
    length: int
    preloaded: int
    starts_ms: int
    records_per_second: int
    event_step_ms: int = 10
    markers: int = 0


class _InputShape(msgspec.Struct, frozen=True):
    keys: tuple[str, ...]
    first_offsets: tuple[int, ...]
    partitions: tuple[_PartitionShape, ...]
    described: bool = False
    wrong: tuple[tuple[int, int], ...] = ()
    too_high: tuple[int, ...] = ()


class UnitShape(msgspec.Struct, frozen=True):
    name: str
    poll: int
    final: bool
    rows: int
    columnar: bool


class OutputShape(msgspec.Struct, frozen=True):
    units: tuple[UnitShape, ...]


def write_inputs(path: Path, inputs: InputLog) -> None:
    """Write the input of a run as Parquet, with columns partition, offset, key, value.

    Raises:
        OSError: it cannot be written.
    """
    lengths = inputs.lengths()
    shape = _InputShape(
        inputs.keys,
        inputs.first_offsets,
        tuple(
            _PartitionShape(
                len(each), each.preloaded, each.starts_ms, each.records_per_second, each.event_step_ms, each.markers
            )
            for each in inputs.partitions
        ),
        inputs.described,
        inputs.wrong,
        inputs.too_high,
    )
    _write(
        path,
        shape,
        {
            "partition": arrow_array(np.repeat(np.arange(len(lengths)), lengths), pa.int32()),
            "offset": arrow_array(_joined([np.arange(length) for length in lengths]), pa.int64()),
            "key": _texts(_joined([each.key for each in inputs.partitions]), inputs.keys),
            "value": arrow_array(_joined([each.value for each in inputs.partitions]), pa.int64()),
        },
    )


def read_inputs(path: Path, source: str) -> InputLog:
    """What `write_inputs` wrote.

    Args:
        path: of the file.
        source: its name in an error, such as its path inside the run.

    Raises:
        UsageError: it is damaged.
    """
    with _understood(source), pq.ParquetFile(path, read_dictionary=["key"]) as file:
        _require_few(file.metadata, [*_INPUT])
        rows, shape = file.metadata.num_rows, _shape_of(file.schema_arrow, _InputShape)
        _require_columns(pa.Table.from_batches([], file.schema_arrow), _INPUT, source)
        _require_rows(rows, [each.length for each in shape.partitions], source)
        key, value, start = _room_for(rows), _room_for(rows), 0
        for part in _parts_of(file, [*_INPUT]):
            _require_columns(part, _INPUT, source)
            _require_keys(part["key"], shape.keys, source)
            end = start + len(part)
            key[start:end], value[start:end] = _indices(part["key"], shape.keys), numpy_array(part["value"])
            start = end
            _let_go(key, value)
    ends = list(accumulate((each.length for each in shape.partitions), initial=0))
    partitions = tuple(
        Partition(
            key[start:end],
            value[start:end],
            each.preloaded,
            each.starts_ms,
            each.records_per_second,
            each.event_step_ms,
            each.markers,
        )
        for each, start, end in zip(shape.partitions, ends, ends[1:], strict=False)
    )
    return InputLog(shape.keys, partitions, shape.first_offsets, shape.described, shape.wrong, shape.too_high)


def write_outputs(path: Path, output: Output, contract: Contract) -> None:
    """Columns unit, poll, final, and those of the contract."""
    units = output.units
    lengths = [len(unit.rows) for unit in units]
    shape = OutputShape(
        tuple(
            UnitShape(unit.name, unit.poll, unit.final, length, isinstance(unit.rows, FoldColumns | IdentityColumns))
            for unit, length in zip(units, lengths, strict=True)
        )
    )
    columns = {
        "unit": _texts(np.repeat(np.arange(len(units)), lengths), tuple(unit.name for unit in units)),
        "poll": arrow_array(np.repeat([unit.poll for unit in units], lengths), pa.int64()),
        "final": arrow_array(np.repeat([unit.final for unit in units], lengths), pa.bool_()),
    }
    names, content_of, _ = _FORMS[contract]
    contents = [content_of(unit.rows) for unit in units]
    for name, kind in names.items():
        columns[name] = pa.chunked_array([content[name] for content in contents], kind)
    _write(path, shape, columns)


_INPUT = {"key": pa.string(), "value": pa.int64()}
_FOLD = {"key": pa.string(), "value": pa.int64(), "counts": pa.list_(pa.int64()), "digest": pa.uint64()}
_IDENTITY = {"partition": pa.int64(), "offset": pa.int64()}
_WINDOW = {"key": pa.string(), "window": pa.int64(), "value": pa.int64(), "digest": pa.uint64()}


def read_outputs(path: Path | pa.NativeFile, contract: Contract, source: str) -> Output:
    """What `write_outputs` wrote.

    Raises:
        UsageError: it is damaged.
    """
    names, _, restore = _FORMS[contract]
    table, shape = _read(path, OutputShape, source, columns=[*names])
    _require_rows(len(table), [unit.rows for unit in shape.units], source)
    _require_columns(table, names, source)
    units = []
    start = 0
    for unit in shape.units:
        part = table.slice(start, unit.rows)
        try:
            if not unit.columnar:
                require_values(unit.rows, OBJECT_ROWS, "rows")
            rows = restore(part, columnar=unit.columnar)
        except OutsideFileError as error:
            raise UsageError(f"{source}: {error}.") from error
        except (ValueError, TypeError) as error:  # Lists of several lengths, or with nothing in them.
            raise UsageError(f"{source}: the rows of unit {unit.name!r} cannot be read ({error}); {_AGAIN}.") from error
        units.append(CommittedRows(unit.name, unit.poll, rows, unit.final))
        start += unit.rows
    return Output(tuple(units))


def read_output_shape(path: Path | pa.NativeFile, source: str) -> OutputShape:
    """The units of what `write_outputs` wrote, without their rows.

    Raises:
        UsageError: it is damaged.
    """
    return _read(path, OutputShape, source, columns=[])[1]


def require_identities(file: pa.NativeFile, units: Sequence[UnitShape], source: str) -> None:
    """Check by the schema of a file that rows of contract RECORDS can be read from it.

    Raises:
        UsageError: they cannot.
    """
    with _understood(source):
        opened = pq.ParquetFile(file)
        _require_few(opened.metadata, [*_IDENTITY])
        _require_columns(pa.Table.from_batches([], opened.schema_arrow), _IDENTITY, source)
        _require_rows(opened.metadata.num_rows, [unit.rows for unit in units], source)


def identities_of(file: pq.ParquetFile, group: int, source: str) -> Iterator[IdentityColumns]:
    """Rows of contract RECORDS in a group of a file, a part at a time.

    Raises:
        UsageError: they are damaged.
    """
    with _understood(source):
        for part in _parts_of(file, [*_IDENTITY], group):
            _require_columns(part, _IDENTITY, source)
            yield IdentityColumns(numpy_array(part["partition"]), numpy_array(part["offset"]))


def _fold_content(rows: Any) -> dict[str, pa.Array]:
    if isinstance(rows, FoldColumns):
        count, width = rows.counts.shape
        counts = pa.ListArray.from_arrays(
            arrow_array(np.arange(count + 1) * width, pa.int32()), arrow_array(rows.counts.ravel(), pa.int64())
        )
        key = _texts(rows.key, rows.keys).cast(pa.string())
        return {
            "key": key,
            "value": arrow_array(rows.value, pa.int64()),
            "counts": counts,
            "digest": arrow_array(rows.digest, pa.uint64()),
        }
    return {
        "key": arrow_array([row.key for row in rows], pa.string()),
        "value": arrow_array([row.value for row in rows], pa.int64()),
        "counts": arrow_array([row.counts for row in rows], _FOLD["counts"]),
        "digest": arrow_array([row.digest for row in rows], pa.uint64()),
    }


def _identity_content(rows: Any) -> dict[str, pa.Array]:
    if isinstance(rows, IdentityColumns):
        return {"partition": arrow_array(rows.partition, pa.int64()), "offset": arrow_array(rows.offset, pa.int64())}
    return {name: arrow_array([getattr(row, name) for row in rows], pa.int64()) for name in _IDENTITY}


def _fold_rows(part: pa.Table, *, columnar: bool) -> Rows:
    if not columnar:
        columns = (_values(part[name]) for name in _FOLD)
        return tuple(
            FoldRow(key, value, tuple(counts), digest) for key, value, counts, digest in zip(*columns, strict=True)
        )
    keys = tuple(part["key"].unique().to_pylist())
    counts = numpy_array(part["counts"].combine_chunks().flatten())
    return FoldColumns(
        keys,
        _indices(part["key"], keys),
        numpy_array(part["value"]),
        counts.reshape(len(part), -1) if len(part) else counts.reshape(0, 0),
        numpy_array(part["digest"]),
    )


def _identity_rows(part: pa.Table, *, columnar: bool) -> Rows:
    partition, offset = part["partition"], part["offset"]
    if columnar:
        return IdentityColumns(numpy_array(partition), numpy_array(offset))
    return tuple(map(IdentityRow, partition.to_pylist(), offset.to_pylist()))


def _window_content(rows: Any) -> dict[str, pa.Array]:
    return {name: arrow_array([getattr(row, name) for row in rows], kind) for name, kind in _WINDOW.items()}


def _window_rows(part: pa.Table, *, columnar: bool) -> Rows:
    return tuple(map(WindowRow, *(_values(part[name]) for name in _WINDOW)))


_FORMS: dict[Contract, tuple[dict[str, pa.DataType], Callable[[Any], dict[str, pa.Array]], Callable[..., Rows]]] = {
    Contract.FOLD: (_FOLD, _fold_content, _fold_rows),
    Contract.RECORDS: (_IDENTITY, _identity_content, _identity_rows),
    Contract.WINDOW: (_WINDOW, _window_content, _window_rows),
}
"""By contract: columns, how rows become columns, and how columns become rows again."""


def _joined(parts: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def _texts(indices: npt.NDArray[np.int64], texts: tuple[str, ...]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(arrow_array(indices, pa.int32()), arrow_array(texts, pa.string()))


def _indices(column: pa.ChunkedArray, texts: tuple[str, ...]) -> npt.NDArray[np.int64]:
    encoded = _encoded(column)
    place = {text: index for index, text in enumerate(texts)}
    # Texts that no row has need not be known.
    places = np.array([place.get(text, 0) for text in encoded.dictionary.to_pylist()], np.int64)
    return cast("npt.NDArray[np.int64]", places[numpy_array(encoded.indices)])


def _encoded(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """The column as indices of texts, each of which is there once, however many rows have it."""
    return (
        column.unify_dictionaries() if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    ).combine_chunks()


def _values(column: pa.ChunkedArray) -> list[Any]:
    """The values of a column; rows with the same text share it."""
    if not pa.types.is_dictionary(column.type):
        return cast("list[Any]", column.to_pylist())
    encoded = _encoded(column)
    texts = encoded.dictionary.to_pylist()
    return [texts[index] for index in numpy_array(encoded.indices)]


def _require_rows(rows: int, lengths: Sequence[int], source: str) -> None:
    if min(lengths, default=0) < 0 or sum(lengths) != rows:
        raise UsageError(f"{source}: has {rows:,} rows, and {sum(lengths):,} were written; {_AGAIN}.")


def _require_columns(table: pa.Table, wanted: Mapping[str, pa.DataType], source: str) -> None:
    """
    Raises:
        UsageError: a column is missing, of another type, or has no value somewhere.
    """
    for name, kind in wanted.items():
        if table.column_names.count(name) != 1:
            raise UsageError(
                f"{source}: has {table.column_names.count(name)} columns {name!r}, allowed is 1; {_AGAIN}."
            )
        column = table[name]
        found = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if found != kind:
            raise UsageError(f"{source}: column {name!r} is of type {column.type}, allowed is {kind}; {_AGAIN}.")
        if column.null_count:
            raise UsageError(f"{source}: column {name!r} has no value in {column.null_count:,} rows; {_AGAIN}.")


def _require_keys(column: pa.ChunkedArray, keys: tuple[str, ...], source: str) -> None:
    if strangers := set(column.unique().to_pylist()) - set(keys):
        raise UsageError(f"{source}: key {min(strangers)!r} is none of the workload's; {_AGAIN}.")


def _require_few(metadata: pq.FileMetaData, columns: list[str]) -> None:
    """Check the sizes that the file states, before a value of it is decoded.

    Raises:
        OutsideFileError: there are too many.
    """
    require_values(metadata.num_rows * max(len(columns), 1) if columns else 0)
    values = 0
    for group in range(metadata.num_row_groups):
        chunks = metadata.row_group(group)
        parts = [chunks.column(index) for index in range(chunks.num_columns)]
        values += sum(max(part.num_values, 0) for part in parts if part.path_in_schema.partition(".")[0] in columns)
    require_values(values)


def _write(path: Path, shape: msgspec.Struct, columns: dict[str, Any]) -> None:
    table = pa.table(columns).replace_schema_metadata({_SHAPE: msgspec.json.encode(shape)})
    pq.write_table(table, path)


def _parts_of(file: pq.ParquetFile, columns: Sequence[str], group: int | None = None) -> Iterator[pa.Table]:
    """Rows of a file, or of a group of them, in order and a part at a time, however they are grouped."""
    groups = None if group is None else [group]
    for batch in file.iter_batches(_BATCH_ROWS, row_groups=groups, columns=columns, use_threads=False):
        part = pa.Table.from_batches([batch])
        part.validate(full=True)  # Text need not be UTF-8 just because its column says so.
        yield part


def _room_for(rows: int) -> npt.NDArray[np.int64]:
    """In memory; that of many rows is a file without a name, of which as much is in memory as the machine can spare."""
    if rows <= IN_MEMORY_ROWS:
        return np.empty(rows, np.int64)
    with TemporaryFile() as file:
        return np.memmap(file, np.int64, "w+", shape=(rows,))


def _let_go(*columns: npt.NDArray[np.int64]) -> None:
    """Let the operating system take the memory of filled columns back."""
    for column in columns:
        if isinstance(column, np.memmap):
            column.flush()
            cast("mmap", column.base).madvise(MADV_DONTNEED)


def _shape_of(schema: pa.Schema, kind: type[Shape]) -> Shape:
    return msgspec.json.decode((schema.metadata or {})[_SHAPE], type=kind)


@contextmanager
def _understood(source: str) -> Iterator[None]:
    """
    Raises:
        UsageError: what is read within is no file that was written here, or holds too much.
    """
    try:
        yield
    except OutsideFileError as error:
        raise UsageError(f"{source}: {error}.") from error
    except (
        *(pa.ArrowException, KeyError, OSError, UnicodeDecodeError, msgspec.MsgspecError, RecursionError),
        *(ValueError, MemoryError, OverflowError),
    ) as error:
        said = " ".join(str(error).split())
        raise UsageError(f"{source}: not a Parquet file of this program ({said}); {_AGAIN}.") from error


def _read(path: Path | pa.NativeFile, kind: type[Shape], source: str, columns: list[str]) -> tuple[pa.Table, Shape]:
    """These columns alone, texts as a dictionary: a text that a small file repeats would fill the memory."""
    names = [name for name in columns if name == "key"]
    with _understood(source), pq.ParquetFile(path, read_dictionary=names) as file:
        _require_few(file.metadata, columns)
        table = file.read(columns=columns)
        table.validate(full=True)
        return table, _shape_of(table.schema, kind)
