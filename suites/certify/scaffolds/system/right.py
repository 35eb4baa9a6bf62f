"""The adapter of an engine of two processes: how it is started, fed and read. Change it into that of yours.

The engine itself is in the file of its worker; it knows nothing of Holdfast.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path

from holdfast.harness.adapter import engine
from holdfast.harness.adapter.reader import Reader
from holdfast.harness.model.records import FoldRow
from holdfast.suites.certify.scaffolds.system.right_worker import DATABASE, open_database


class Engine(engine.Engine):
    """Input is a file of lines for each partition. Positions and sums are in one SQLite file."""

    workers = 2
    program = Path(__file__).with_name("right_worker.py")

    def begin(self) -> None:
        for partition in range(self.place.partitions):
            (self.place.folder / f"input-{partition}").touch()
        self.database = open_database(self.place.folder, self.place.partitions)

    def command(self, worker: int) -> Sequence[str]:
        place = self.place
        arguments = (place.folder, worker, place.partitions, place.digest_key)
        return [sys.executable, str(self.program), *map(str, arguments)]

    def append(self, partition: int, offset: int, records: Sequence[tuple[str, int]]) -> None:
        with (self.place.folder / f"input-{partition}").open("a") as log:
            log.write("".join(json.dumps(record) + "\n" for record in records))

    def positions(self) -> Sequence[int]:
        return [next_offset for (next_offset,) in self.database.execute("SELECT next FROM positions ORDER BY number")]

    def reader(self) -> Reader:
        return Reader.of(Table, str(self.place.folder / DATABASE))

    def end(self) -> None:
        self.database.close()


class Table:
    """The sums, as a process of the harness reads them (adapter.reader.CommittedTable)."""

    def __init__(self, path: str) -> None:
        self._database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)

    def rows(self) -> list[FoldRow]:
        found = self._database.execute("SELECT key, value, counts, digest FROM sums ORDER BY key")
        return [FoldRow(key, value, tuple(json.loads(counts)), int(digest)) for key, value, counts, digest in found]
