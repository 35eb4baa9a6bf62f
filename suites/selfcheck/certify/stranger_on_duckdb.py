"""A backend as somebody else writes it, by the contract alone: rows in DuckDB, and snapshots as Parquet by key group.

It declares nothing: value and map state, full snapshots on the task thread, and a restore.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from holdfast.harness.spi.state import Reduce, Snapshot, StateContext, StateDescriptor, StateTable
from holdfast.suites.selfcheck.certify.stranger import Stranger, StrangerSnapshot

WHERE = "state = ? AND kg = ? AND ns = ?"


class DuckTable:
    def __init__(self, backend: DuckDBBackend, name: str) -> None:
        self.backend, self.name = backend, name

    def get(self, key_group: int, namespace: bytes, keys: Sequence[bytes], *, now_ms: int) -> Sequence[bytes | None]:
        place = self.backend.place(self.name, key_group, namespace)
        found = [self.backend.run(f"SELECT value FROM cells WHERE {WHERE} AND key = ?", [*place, key]) for key in keys]
        return [rows[0][0] if rows else None for rows in found]

    def put(self, key_group: int, namespace: bytes, pairs: Sequence[tuple[bytes, bytes]], *, now_ms: int) -> None:
        place = self.backend.place(self.name, key_group, namespace)
        self.backend.require_short(namespace, pairs)
        with self.backend.transaction():
            if latest := dict(pairs):
                query = "INSERT OR REPLACE INTO cells SELECT ?, ?, ?, unnest(?), unnest(?)"
                self.backend.run(query, [*place, list(latest), list(latest.values())])
            self.backend.require_room_for_all()

    def merge(self, key_group: int, namespace: bytes, pairs: Sequence[tuple[bytes, bytes]], *, now_ms: int) -> None:
        raise RuntimeError("nothing merges here")

    def remove(self, key_group: int, namespace: bytes, keys: Sequence[bytes]) -> None:
        place = self.backend.place(self.name, key_group, namespace)
        with self.backend.transaction():
            for key in keys:
                self.backend.run(f"DELETE FROM cells WHERE {WHERE} AND key = ?", [*place, key])

    def scan(
        self, key_group: int, namespace: bytes, start: bytes = b"", end: bytes | None = None, *, now_ms: int
    ) -> Iterator[tuple[bytes, bytes]]:
        place = self.backend.place(self.name, key_group, namespace)
        rows = self.backend.run(f"SELECT key, value FROM cells WHERE {WHERE} ORDER BY key", place)
        found = [(key, value) for key, value in rows if key >= start and (end is None or key < end)]
        return self.backend.while_open(found)

    def namespaces(self, key_group: int) -> Sequence[bytes]:
        place = self.backend.place(self.name, key_group, b"")[:2]
        query = "SELECT DISTINCT ns FROM cells WHERE state = ? AND kg = ? ORDER BY ns"
        return [row[0] for row in self.backend.run(query, place)]

    def clear(self, key_group: int, namespace: bytes) -> None:
        self.backend.run(f"DELETE FROM cells WHERE {WHERE}", self.backend.place(self.name, key_group, namespace))


class DuckDBBackend(Stranger):
    name = "duckdb"
    flags = frozenset()
    longest = {"max_key_bytes": 100, "max_value_bytes": 4_096, "max_namespace_bytes": 50}

    def __init__(self, context: StateContext) -> None:
        import duckdb

        super().__init__(context)
        self.database = duckdb.connect(":memory:", config={"threads": 1})
        columns = "state TEXT, kg INT, ns BLOB, key BLOB, value BLOB, PRIMARY KEY (state, kg, ns, key)"
        self.run(f"CREATE TABLE cells ({columns})")

    def new_table(self, descriptor: StateDescriptor, reduce: Reduce | None) -> StateTable:
        return DuckTable(self, descriptor.name)

    def new_snapshot(self, checkpoint: int) -> Snapshot:
        return DuckSnapshot(self, checkpoint)

    def load(self, contents: Mapping[int, bytes]) -> None:
        path = self.file("in.parquet")
        with self.transaction():
            for content in contents.values():
                path.write_bytes(content)
                self.run(f"INSERT INTO cells SELECT * FROM read_parquet('{path}')")
            self.require_room_for_all()

    def close(self) -> None:
        self.closed = True
        self.database.close()

    def run(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        return list(self.database.execute(query, list(values)).fetchall())

    def transaction(self) -> Transaction:
        return Transaction(self)

    def file(self, name: str) -> Path:
        assert self.context.folder is not None
        return self.context.folder / name

    def place(self, state: str, key_group: int, namespace: bytes) -> list[Any]:
        self.require(key_group)
        return [state, key_group, namespace]

    def require_room_for_all(self) -> None:
        query = "SELECT coalesce(sum(octet_length(ns) + octet_length(key) + octet_length(value) + 32), 0) FROM cells"
        self.require_room(int(self.run(query)[0][0]))


class DuckSnapshot(StrangerSnapshot[DuckDBBackend]):
    def __init__(self, backend: DuckDBBackend, checkpoint: int) -> None:
        super().__init__(backend, checkpoint)
        self.table = f"at_{checkpoint}"
        backend.run(f"CREATE TEMP TABLE {self.table} AS SELECT * FROM cells")

    def contents(self) -> Mapping[int, bytes]:
        return {group: self.parquet(group) for group in self.backend.context.key_groups}

    def parquet(self, group: int) -> bytes:
        path = self.backend.file("out.parquet")
        self.backend.run(f"COPY (SELECT * FROM {self.table} WHERE kg = {group}) TO '{path}' (FORMAT parquet)")
        return path.read_bytes()

    def release(self) -> None:
        if not self.released and not self.backend.closed:
            self.backend.run(f"DROP TABLE {self.table}")
        super().release()


class Transaction:
    """All or nothing."""

    def __init__(self, backend: DuckDBBackend) -> None:
        self.backend = backend

    def __enter__(self) -> None:
        self.backend.run("BEGIN")

    def __exit__(self, kind: object, *others: object) -> None:
        self.backend.run("COMMIT" if kind is None else "ROLLBACK")
