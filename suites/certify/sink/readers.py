"""The kit's own committed readers, for formats that it knows. They share no code with any sink."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from urllib.parse import unquote_to_bytes

from holdfast.harness.spi.sink import Row
from holdfast.suites.certify.check import Violation


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
    """Table `rows` of `rows.db`, over a connection that cannot write. Text in it is text, and equals no bytes.

    Raises:
        Violation: E2E-03: it is no such table.
    """
    database = folder / "rows.db"
    if not database.exists():
        return []
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        connection.text_factory = lambda text: text.decode(errors="replace")
        try:
            if not connection.execute("select 1 from sqlite_master where name = 'rows'").fetchone():
                return []
            return [Row(*row) for row in connection.execute("select key, value from rows order by rowid")]
        except sqlite3.Error as error:
            raise Violation(
                "E2E-03", f"table `rows (key BLOB, value BLOB)` of rows.db cannot be read: {error}."
            ) from error


READERS: Mapping[str, Callable[[Path], Sequence[Row]]] = {"files": files, "sqlite": sqlite}
"""By `SinkDescription.committed_reader`."""
