"""A worker of an engine that sums values by key. Whoever holds the lock of a partition sums its records.

    python worker.py FOLDER WORKER PARTITIONS DIGEST_KEY

Positions and sums are stored in one transaction: killed at any moment, it goes on where it stood.
"""

from __future__ import annotations

import fcntl
import json
import sqlite3
import sys
import time  # noqa: TID251 - the engine has a clock of its own
from collections.abc import Callable
from pathlib import Path
from typing import IO

DATABASE = "sums.sqlite"
BATCH_RECORDS = 50
IDLE_S = 0.02
TAKE_OVER_S = 0.5
"""How long a worker waits before it takes one partition more: another may want it."""
BITS_64 = (1 << 64) - 1


def open_database(folder: Path, partitions: int) -> sqlite3.Connection:
    """The database of the engine, made if it is not there."""
    database = sqlite3.connect(folder / DATABASE, timeout=60, isolation_level=None)
    database.executescript(
        """
        PRAGMA journal_mode = WAL;
        CREATE TABLE IF NOT EXISTS sums (key TEXT PRIMARY KEY, value INTEGER, counts TEXT, digest TEXT);
        CREATE TABLE IF NOT EXISTS positions (number INTEGER PRIMARY KEY, next INTEGER);
        """
    )
    rows = [(number,) for number in range(partitions)]
    database.executemany("INSERT OR IGNORE INTO positions VALUES (?, 0)", rows)
    return database


class Sums:
    """The sums by key, in the database."""

    def __init__(self, database: sqlite3.Connection, partitions: int, digest_key: int) -> None:
        self.database = database
        self.partitions = partitions
        self.digest_key = digest_key

    def apply(self, partition: int, offset: int, records: list[tuple[str, int]]) -> None:
        """Let records take effect, and store where to go on, all or nothing."""
        self.database.execute("BEGIN IMMEDIATE")
        for number, (key, value) in enumerate(records, start=offset):
            total, counts, digest = self.row(key)
            counts[partition] += 1
            digest = (digest + identity_hash(self.digest_key, partition, number)) & BITS_64
            self.store(key, total + value, counts, digest)
        position = (offset + len(records), partition)
        self.database.execute("UPDATE positions SET next = ? WHERE number = ?", position)
        self.database.execute("COMMIT")

    def row(self, key: str) -> tuple[int, list[int], int]:
        """Sum, number of records from each partition, and digest of a key."""
        found = self.database.execute("SELECT value, counts, digest FROM sums WHERE key = ?", (key,)).fetchone()
        return (found[0], json.loads(found[1]), int(found[2])) if found else (0, [0] * self.partitions, 0)

    def store(self, key: str, value: int, counts: list[int], digest: int) -> None:
        """Put a row in the place of the one with its key."""
        row = (key, value, json.dumps(counts), str(digest))
        self.database.execute("INSERT OR REPLACE INTO sums VALUES (?, ?, ?, ?)", row)


class Partition:
    """A partition of the input that nobody else sums while this worker lives."""

    def __init__(self, folder: Path, number: int, database: sqlite3.Connection) -> None:
        """
        Raises:
            BlockingIOError: another worker has it.
        """
        self.number = number
        self.lock = (folder / f"lock-{number}").open("w")
        fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.log: IO[str] = (folder / f"input-{number}").open()
        where = database.execute("SELECT next FROM positions WHERE number = ?", (number,))
        self.offset: int = where.fetchone()[0]
        for _ in range(self.offset):
            self.log.readline()

    def read(self) -> list[tuple[str, int]]:
        """The next records; a line that is not written to its end is read the next time."""
        records: list[tuple[str, int]] = []
        while len(records) < BATCH_RECORDS:
            before = self.log.tell()
            line = self.log.readline()
            if not line.endswith("\n"):
                self.log.seek(before)
                break
            key, value = json.loads(line)
            records.append((key, value))
        return records


def main(make_sums: Callable[[sqlite3.Connection, int, int], Sums] = Sums) -> None:
    folder, worker, partitions, digest_key = Path(sys.argv[1]), *map(int, sys.argv[2:])
    database = open_database(folder, partitions)
    sums = make_sums(database, partitions, digest_key)
    held: list[Partition] = []
    wanted = [(worker + step) % partitions for step in range(partitions)]  # Its own first.
    take_at = time.monotonic()
    while True:
        if wanted and time.monotonic() >= take_at:
            number = wanted.pop(0)
            take_at += TAKE_OVER_S
            try:
                held.append(Partition(folder, number, database))
            except BlockingIOError:
                wanted.append(number)
        idle = True
        for partition in held:
            if records := partition.read():
                sums.apply(partition.number, partition.offset, records)
                partition.offset += len(records)
                idle = False
        if idle:
            time.sleep(IDLE_S)


def identity_hash(digest_key: int, partition: int, offset: int) -> int:
    """Of a record: the splitmix64 finaliser of where it stands."""
    z = (digest_key + (partition << 48) + offset + 1) & BITS_64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & BITS_64
    z = (z ^ z >> 27) * 0x94D049BB133111EB & BITS_64
    return z ^ z >> 31


if __name__ == "__main__":
    main()
