"""A backend as somebody else writes it, by the contract alone: rows in DuckDB, and snapshots as Parquet by key group.

It declares nothing: value and map state, full snapshots on the task thread, and a restore.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from pathlib import Path
from typing import Any
from zlib import crc32

from holdfast.harness.spi.errors import Damaged, Full, Incompatible
from holdfast.harness.spi.state import (
    Cancelled,
    Convert,
    Description,
    Extent,
    Manifest,
    Reduce,
    SnapshotKind,
    StateContext,
    StateDescriptor,
    StateEntry,
    StateHandle,
    TimerService,
)
from holdfast.harness.spi.storage import CheckpointStreamFactory, Scope

FORMAT = "duckdb-parquet-1"
MOST_BYTES = {"max_key_bytes": 100, "max_value_bytes": 4_096, "max_namespace_bytes": 50}
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
        for key, value in pairs:
            for (limit, allowed), content in zip(MOST_BYTES.items(), (key, value, namespace), strict=True):
                if len(content) > allowed:
                    raise Full(limit, allowed, len(content))
        with self.backend.transaction():
            if latest := dict(pairs):
                query = "INSERT OR REPLACE INTO cells SELECT ?, ?, ?, unnest(?), unnest(?)"
                self.backend.run(query, [*place, list(latest), list(latest.values())])
            self.backend.require_room()

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


class DuckSnapshot:
    def __init__(self, backend: DuckDBBackend, checkpoint: int) -> None:
        self.backend, self.checkpoint = backend, checkpoint
        self.table = f"at_{checkpoint}"
        self.released = False
        self.states = [backend.states[name] for name in sorted(backend.states)]
        backend.run(f"CREATE TEMP TABLE {self.table} AS SELECT * FROM cells")

    def upload(self, streams: CheckpointStreamFactory, cancelled: Cancelled) -> Manifest:
        if self.released or self.backend.closed:
            raise RuntimeError("this snapshot was released")
        context = self.backend.context
        name = f"duckdb-{context.operator}-{context.subtask}-{context.attempt}-{self.checkpoint}"
        if cancelled():
            raise CancelledError
        stream = streams.create(Scope.EXCLUSIVE, name, f"{context.job}/{name}".encode())
        places: dict[int, Extent] = {}
        offset = 0
        try:
            for group in context.key_groups:
                content = self.parquet(group)
                stream.write(content)
                places[group] = Extent(offset, len(content), crc32(content))
                offset += len(content)
            handle = StateHandle(name, Scope.EXCLUSIVE, stream.commit(), places)
        except Exception:
            with suppress(OSError):
                stream.cancel()
            raise
        return Manifest(
            format=FORMAT,
            checkpoint=self.checkpoint,
            subtask=context.subtask,
            first_key_group=context.key_groups.start,
            end_key_group=context.key_groups.stop,
            max_parallelism=context.max_parallelism,
            handles=(handle,),
            descriptors=tuple(self.states),
        )

    def parquet(self, group: int) -> bytes:
        path = self.backend.file("out.parquet")
        self.backend.run(f"COPY (SELECT * FROM {self.table} WHERE kg = {group}) TO '{path}' (FORMAT parquet)")
        return path.read_bytes()

    def descriptors(self) -> Sequence[StateDescriptor]:
        return self.states

    def entries(self) -> Iterator[StateEntry]:
        raise RuntimeError("no canonical form")

    def release(self) -> None:
        if not self.released and not self.backend.closed:
            self.backend.run(f"DROP TABLE {self.table}")
        self.released = True


class DuckDBBackend:
    def __init__(self, context: StateContext) -> None:
        import duckdb

        if context.options:
            raise ValueError(f"unknown option {min(context.options)}")
        self.context = context
        self.database = duckdb.connect(":memory:", config={"threads": 1})
        columns = "state TEXT, kg INT, ns BLOB, key BLOB, value BLOB, PRIMARY KEY (state, kg, ns, key)"
        self.run(f"CREATE TABLE cells ({columns})")
        self.states: dict[str, StateDescriptor] = {}
        self.tables: dict[str, DuckTable] = {}
        self.closed = False
        self.phase = "fresh"
        self.newest = 0

    def describe(self) -> Description:
        return Description(
            name="duckdb", flags=frozenset(), max_key_bytes=100, max_value_bytes=4_096, max_namespace_bytes=50
        )

    def restore(self, parts: Sequence[Manifest], streams: CheckpointStreamFactory, *, claimed: bool) -> None:
        if self.closed or self.tables or self.phase == "restored":
            raise RuntimeError("a restore comes first, and once")
        self.phase = "restoring"
        for part in parts:
            if part.format != FORMAT or part.max_parallelism != self.context.max_parallelism:
                raise Incompatible(f"{part.format} of max_parallelism {part.max_parallelism}")
        with self.transaction():
            for group in self.context.key_groups if parts else ():
                self.load(parts, group, streams)
            self.require_room()
        self.states = {state.name: state for part in parts for state in part.descriptors}
        self.newest = max((part.checkpoint for part in parts), default=0)
        self.phase = "restored"

    def load(self, parts: Sequence[Manifest], group: int, streams: CheckpointStreamFactory) -> None:
        holding = [part for part in parts if part.first_key_group <= group < part.end_key_group]
        if len(holding) != 1 or holding[0].handles[0].reference is None:
            raise Damaged(f"key group {group} is in {len(holding)} parts")
        [handle] = holding[0].handles
        place = handle.key_groups[group]
        assert handle.reference is not None
        content = b"".join(streams.read(handle.reference, place.offset, place.length))
        if crc32(content) != place.checksum:
            raise Damaged(f"key group {group} is not what was written")
        path = self.file("in.parquet")
        path.write_bytes(content)
        self.run(f"INSERT INTO cells SELECT * FROM read_parquet('{path}')")

    def restore_entries(self, descriptors: Sequence[StateDescriptor], entries: Iterable[StateEntry]) -> None:
        raise RuntimeError("no canonical form")

    def table(
        self, descriptor: StateDescriptor, reduce: Reduce | None = None, convert: Convert | None = None
    ) -> DuckTable:
        self.require(None)
        if descriptor.ttl_ms is not None or "timers" in descriptor.kind:
            raise ValueError(f"{descriptor.name}: neither time to live nor timers")
        known = self.states.setdefault(descriptor.name, descriptor)
        if known != descriptor:
            raise (RuntimeError if descriptor.name in self.tables else Incompatible)(f"{descriptor.name} is {known}")
        return self.tables.setdefault(descriptor.name, DuckTable(self, descriptor.name))

    def timers(self, descriptor: StateDescriptor) -> TimerService:
        raise ValueError("no timers")

    def snapshot(self, checkpoint: int, kind: SnapshotKind = SnapshotKind.CHECKPOINT) -> DuckSnapshot:
        self.require(None)
        if checkpoint <= self.newest:
            raise RuntimeError(f"checkpoint {checkpoint} is not above {self.newest}")
        self.newest = checkpoint
        return DuckSnapshot(self, checkpoint)

    def confirmed(self, checkpoint: int) -> None:
        self.require(None)

    def aborted(self, checkpoint: int) -> None:
        self.require(None)

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

    def require(self, key_group: int | None) -> None:
        if self.closed or self.phase == "restoring":
            raise RuntimeError("closed, or not restored")
        if key_group is not None and key_group not in self.context.key_groups:
            raise RuntimeError(f"key group {key_group} is another's")

    def while_open(self, pairs: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
        for pair in pairs:
            self.require(None)
            yield pair

    def require_room(self) -> None:
        query = "SELECT coalesce(sum(octet_length(ns) + octet_length(key) + octet_length(value) + 32), 0) FROM cells"
        needed = int(self.run(query)[0][0])
        if needed > self.context.memory_bytes:
            raise Full("memory_bytes", self.context.memory_bytes, needed)


class Transaction:
    """All or nothing."""

    def __init__(self, backend: DuckDBBackend) -> None:
        self.backend = backend

    def __enter__(self) -> None:
        self.backend.run("BEGIN")

    def __exit__(self, kind: object, *others: object) -> None:
        self.backend.run("COMMIT" if kind is None else "ROLLBACK")
