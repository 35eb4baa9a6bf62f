"""The kit's own committed readers, for formats that it knows. They share no code with any sink."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from urllib.parse import unquote_to_bytes

from holdfast.harness.spi.sink import Row


def files(folder: Path) -> Sequence[Row]:
    """Lines of all files but hidden ones, in the order of their paths."""
    found = []
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if path.is_file() and not any(part.startswith((".", "_")) for part in inside.parts):
            for line in path.read_bytes().split(b"\n")[:-1]:
                key, _, value = line.partition(b"\t")
                found.append(Row(unquote_to_bytes(key), unquote_to_bytes(value)))
    return found


def sqlite(folder: Path) -> Sequence[Row]:
    """Table `rows` of `rows.db`, over a connection that cannot write."""
    database = folder / "rows.db"
    if not database.exists():
        return []
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        if not connection.execute("select 1 from sqlite_master where name = 'rows'").fetchone():
            return []
        return [Row(*row) for row in connection.execute("select key, value from rows order by rowid")]


READERS: Mapping[str, Callable[[Path], Sequence[Row]]] = {"files": files, "sqlite": sqlite}
"""By `SinkDescription.committed_reader`."""
