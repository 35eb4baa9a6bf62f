"""Columns of Arrow for whoever starts often: `pyarrow.array` and `to_numpy` import pandas where it is installed, which
takes nearly as long as all else that a worker imports. What works on buffers does without."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

_CODES = {pa.int64(): "q", pa.uint64(): "Q"}


def arrow_array(values: Sequence[Any] | npt.NDArray[Any], kind: pa.DataType) -> pa.Array:
    """A column as `pyarrow.array` makes it, which is called for what is not plainly of its type. That cuts off
    fractions, which are refused here.

    Args:
        values: of the column.
        kind: texts, int64, uint64 or lists of these; of an array of NumPy also int32 and bool.

    Raises:
        pyarrow.ArrowException: as of `pyarrow.array`: a value is of another type, or too large; or it is no whole
            number.
        UnicodeEncodeError: a text cannot be written in UTF-8.
    """
    try:
        made = _of_numpy(values, kind) if isinstance(values, np.ndarray) else _of_values(values, kind)
    except (TypeError, OverflowError):
        made = None
    return _of_anything(values, kind) if made is None else made


def _of_anything(values: Sequence[Any] | npt.NDArray[Any], kind: pa.DataType) -> pa.Array:
    made = pa.array(values, kind)
    for given, stored in zip(values, made.to_pylist(), strict=True):
        numbers, kept = (given, stored) if isinstance(stored, list) else ([given], [stored])
        for number, whole in zip(numbers, kept, strict=True):
            if isinstance(whole, int) and whole != number:
                raise pa.ArrowInvalid(f"{number} is no whole number, and {kind} has room for no other")
    return made


def _of_numpy(values: npt.NDArray[Any], kind: pa.DataType) -> pa.Array | None:
    if kind == pa.bool_():
        if values.size and values.dtype != bool:
            return None
        return _of_buffers(kind, len(values), np.packbits(values.astype(bool), bitorder="little"))
    with np.errstate(invalid="ignore"):
        converted = np.ascontiguousarray(values, str(kind))
    return _of_buffers(kind, len(values), converted) if np.array_equal(converted, values) else None


def _of_values(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    if kind == pa.string():
        encoded = [str.encode(each) for each in values]
        return _of_buffers(kind, len(encoded), _ends(map(len, encoded)), b"".join(encoded))
    if pa.types.is_list(kind):
        ends = _ends(map(len, values))
        items = _of_values([*chain.from_iterable(values)], kind.value_type)
        return pa.ListArray.from_arrays(_of_buffers(pa.int32(), len(ends), ends), items)
    return _of_buffers(kind, len(values), array(_CODES[kind], values))


def numpy_array(column: pa.Array | pa.ChunkedArray) -> npt.NDArray[Any]:
    """The numbers of a column without gaps, not copied where they lie in one piece.

    Raises:
        TypeError: they are no numbers.
        ValueError: one is missing.
    """
    if column.type == pa.bool_():
        raise TypeError("truth values are bits in a column, and no numbers")
    kind = np.dtype(str(column.type))
    if column.null_count:
        raise ValueError(f"{column.null_count} of {len(column)} values are missing")
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    parts = [np.frombuffer(each.buffers()[1], kind, len(each), each.offset * kind.itemsize) for each in chunks if each]
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, kind), *parts])


def _ends(lengths: Iterable[int]) -> array[int]:
    return array("i", accumulate(lengths, initial=0))


def _of_buffers(kind: pa.DataType, length: int, *buffers: Any) -> pa.Array:
    return pa.Array.from_buffers(kind, length, [None, *map(pa.py_buffer, buffers)])
