"""Rows of contract RECORDS in Parquet, whole and with every kind of damage."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

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
