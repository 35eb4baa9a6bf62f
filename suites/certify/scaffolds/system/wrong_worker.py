"""Wrong, against E2E-02: sums are kept in a field. They are stored, and never read again."""

from __future__ import annotations

import sqlite3

from holdfast.suites.certify.scaffolds.system.right_worker import Sums, main


class SumsInMemory(Sums):
    """Sums that a restart forgets."""

    def __init__(self, database: sqlite3.Connection, partitions: int, digest_key: int) -> None:
        super().__init__(database, partitions, digest_key)
        self.rows: dict[str, tuple[int, list[int], int]] = {}

    def row(self, key: str) -> tuple[int, list[int], int]:
        return self.rows.get(key, (0, [0] * self.partitions, 0))

    def store(self, key: str, value: int, counts: list[int], digest: int) -> None:
        super().store(key, value, counts, digest)
        self.rows[key] = (value, counts, digest)


if __name__ == "__main__":
    main(SumsInMemory)
