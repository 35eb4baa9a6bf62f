"""Backends as somebody else writes them, by the contract alone: what those of these tests do alike, and one on SQLite.

They share nothing with the backends of ours, and leave out timers and TTL. A snapshot is one file, in which each key
group has its place. That of SQLite has lines of JSON.
"""

from __future__ import annotations

import sqlite3
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import ClassVar, Generic, TypeVar
from zlib import crc32

import msgspec

from holdfast.harness.spi.errors import Damaged, Full, Incompatible
from holdfast.harness.spi.state import (
    Cancelled,
    Convert,
    Description,
    Extent,
    Flag,
    Manifest,
    Reduce,
    Snapshot,
    SnapshotKind,
    StateContext,
    StateDescriptor,
    StateEntry,
    StateHandle,
    StateKind,
    StateTable,
    TimerService,
)
from holdfast.harness.spi.storage import CheckpointStreamFactory, Scope

Row = tuple[str, int, bytes, bytes, bytes]
_WHERE = "state = ? AND kg = ? AND ns = ?"


class Stranger:
    """Its life, its states, and the way of its snapshots to a storage and back."""

    name: ClassVar[str]
    flags: ClassVar[frozenset[Flag]]
    longest: ClassVar[Mapping[str, int]]
    """Of keys, values and namespaces, as its description has them."""

    def __init__(self, context: StateContext) -> None:
        if context.options:
            raise ValueError(f"unknown option {min(context.options)}")
        self.context = context
        self.states: dict[str, StateDescriptor] = {}
        self.tables: dict[str, StateTable] = {}
        self.closed = False
        self.phase = "fresh"
        self.newest = 0

    def new_table(self, descriptor: StateDescriptor, reduce: Reduce | None) -> StateTable:
        raise NotImplementedError

    def new_snapshot(self, checkpoint: int) -> Snapshot:
        raise NotImplementedError

    def load(self, contents: Mapping[int, bytes]) -> None:
        """Take over what snapshots have of each key group: all of it, or nothing."""
        raise NotImplementedError

    def describe(self) -> Description:
        key, value, namespace = self.longest.values()
        return Description(
            name=self.name, flags=self.flags, max_key_bytes=key, max_value_bytes=value, max_namespace_bytes=namespace
        )

    def restore(self, parts: Sequence[Manifest], streams: CheckpointStreamFactory, *, claimed: bool) -> None:
        self.begin_restore()
        for part in parts:
            if part.format != self.name or part.max_parallelism != self.context.max_parallelism:
                raise Incompatible(f"{part.format} of max_parallelism {part.max_parallelism}")
        groups = self.context.key_groups if parts else ()
        self.load({group: self._content(parts, group, streams) for group in groups})
        self.states = {state.name: state for part in parts for state in part.descriptors}
        self.newest = max((part.checkpoint for part in parts), default=0)
        self.phase = "restored"

    def restore_entries(self, descriptors: Sequence[StateDescriptor], entries: Iterable[StateEntry]) -> None:
        raise RuntimeError("no canonical form")

    def table(
        self, descriptor: StateDescriptor, reduce: Reduce | None = None, convert: Convert | None = None
    ) -> StateTable:
        self.require(None)
        name = descriptor.name
        if descriptor.ttl_ms is not None or "timers" in descriptor.kind:
            raise ValueError(f"{name}: neither time to live nor timers")
        known = self.states.setdefault(name, descriptor)
        if known != descriptor:
            raise (RuntimeError if name in self.tables else Incompatible)(f"{name} is {known}")
        if name not in self.tables:
            self.tables[name] = self.new_table(descriptor, reduce)
        return self.tables[name]

    def timers(self, descriptor: StateDescriptor) -> TimerService:
        raise ValueError("no timers")

    def snapshot(self, checkpoint: int, kind: SnapshotKind = SnapshotKind.CHECKPOINT) -> Snapshot:
        self.require(None)
        if checkpoint <= self.newest:
            raise RuntimeError(f"checkpoint {checkpoint} is not above {self.newest}")
        self.newest = checkpoint
        return self.new_snapshot(checkpoint)

    def confirmed(self, checkpoint: int) -> None:
        self.require(None)

    def aborted(self, checkpoint: int) -> None:
        self.require(None)

    def require(self, key_group: int | None) -> None:
        if self.closed or self.phase == "restoring":
            raise RuntimeError("closed, or not restored")
        if key_group is not None and key_group not in self.context.key_groups:
            raise RuntimeError(f"key group {key_group} is another's")

    def require_short(self, namespace: bytes, pairs: Iterable[tuple[bytes, bytes]]) -> None:
        for key, value in pairs:
            for (limit, allowed), content in zip(self.longest.items(), (key, value, namespace), strict=True):
                if len(content) > allowed:
                    raise Full(limit, allowed, len(content))

    def require_room(self, needed: int) -> None:
        if needed > self.context.memory_bytes:
            raise Full("memory_bytes", self.context.memory_bytes, needed)

    def while_open(self, pairs: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
        for pair in pairs:
            self.require(None)
            yield pair

    def begin_restore(self) -> None:
        if self.closed or self.tables or self.phase == "restored":
            raise RuntimeError("a restore comes first, and once")
        self.phase = "restoring"

    def _content(self, parts: Sequence[Manifest], group: int, streams: CheckpointStreamFactory) -> bytes:
        holding = [part for part in parts if part.first_key_group <= group < part.end_key_group]
        if len(holding) != 1:
            raise Damaged(f"key group {group} is in {len(holding)} parts")
        [handle] = holding[0].handles
        if handle.reference is None:
            raise Damaged("a placeholder")
        place = handle.key_groups[group]
        content = b"".join(streams.read(handle.reference, place.offset, place.length))
        if crc32(content) != place.checksum:
            raise Damaged(f"key group {group} is not what was written")
        return content


StrangerT = TypeVar("StrangerT", bound=Stranger)


class StrangerSnapshot(Generic[StrangerT]):
    def __init__(self, backend: StrangerT, checkpoint: int) -> None:
        self.backend, self.checkpoint = backend, checkpoint
        self.states = [backend.states[name] for name in sorted(backend.states)]
        self.released = False

    def contents(self) -> Mapping[int, bytes]:
        """By key group."""
        raise NotImplementedError

    def upload(self, streams: CheckpointStreamFactory, cancelled: Cancelled) -> Manifest:
        self.require_held()
        context = self.backend.context
        name = f"{self.backend.name}-{context.operator}-{context.subtask}-{context.attempt}-{self.checkpoint}"
        contents = self.contents()
        if cancelled():
            raise CancelledError
        stream = streams.create(Scope.EXCLUSIVE, name, f"{context.job}/{name}".encode())
        places: dict[int, Extent] = {}
        offset = 0
        try:
            for group, content in contents.items():
                stream.write(content)
                places[group] = Extent(offset, len(content), crc32(content))
                offset += len(content)
            handle = StateHandle(name, Scope.EXCLUSIVE, stream.commit(), places)
        except Exception:
            with suppress(OSError):
                stream.cancel()
            raise
        return Manifest(
            format=self.backend.name,
            checkpoint=self.checkpoint,
            subtask=context.subtask,
            first_key_group=context.key_groups.start,
            end_key_group=context.key_groups.stop,
            max_parallelism=context.max_parallelism,
            handles=(handle,),
            descriptors=tuple(self.states),
        )

    def descriptors(self) -> Sequence[StateDescriptor]:
        return self.states

    def entries(self) -> Iterator[StateEntry]:
        raise RuntimeError("no canonical form")

    def release(self) -> None:
        self.released = True

    def require_held(self) -> None:
        if self.released or self.backend.closed:
            raise RuntimeError("this snapshot was released")


class RowsTable:
    def __init__(self, rows: Rows, descriptor: StateDescriptor, reduce: Reduce | None) -> None:
        self.rows, self.name, self.kind, self.reduce = rows, descriptor.name, descriptor.kind, reduce

    def get(self, key_group: int, namespace: bytes, keys: Sequence[bytes], *, now_ms: int) -> Sequence[bytes | None]:
        place = self._place(key_group, namespace)
        query = f"SELECT value FROM cells WHERE {_WHERE} AND key = ?"
        found = [self.rows.database.execute(query, (*place, key)).fetchone() for key in keys]
        return [row and row[0] for row in found]

    def put(self, key_group: int, namespace: bytes, pairs: Sequence[tuple[bytes, bytes]], *, now_ms: int) -> None:
        place = self._place(key_group, namespace)
        self.rows.require_short(namespace, pairs)
        self.rows.insert("INSERT OR REPLACE", [(*place, key, value) for key, value in pairs])

    def merge(self, key_group: int, namespace: bytes, pairs: Sequence[tuple[bytes, bytes]], *, now_ms: int) -> None:
        found: dict[bytes, bytes | None] = {}
        for key, value in pairs:
            old = found[key] if key in found else self.get(key_group, namespace, [key], now_ms=now_ms)[0]
            found[key] = value if old is None else self._merged(old, value)
        self.put(key_group, namespace, [(key, value or b"") for key, value in found.items()], now_ms=now_ms)

    def remove(self, key_group: int, namespace: bytes, keys: Sequence[bytes]) -> None:
        place = self._place(key_group, namespace)
        with self.rows.database:
            self.rows.database.executemany(f"DELETE FROM cells WHERE {_WHERE} AND key = ?", [(*place, k) for k in keys])

    def scan(
        self, key_group: int, namespace: bytes, start: bytes = b"", end: bytes | None = None, *, now_ms: int
    ) -> Iterator[tuple[bytes, bytes]]:
        place = self._place(key_group, namespace)
        query = f"SELECT key, value FROM cells WHERE {_WHERE} AND key >= ? AND (? IS NULL OR key < ?) ORDER BY key"
        return self.rows.while_open(self.rows.database.execute(query, (*place, start, end, end)).fetchall())

    def namespaces(self, key_group: int) -> Sequence[bytes]:
        place = self._place(key_group, b"")[:2]
        query = "SELECT DISTINCT ns FROM cells WHERE state = ? AND kg = ? ORDER BY ns"
        return [row[0] for row in self.rows.database.execute(query, place)]

    def clear(self, key_group: int, namespace: bytes) -> None:
        place = self._place(key_group, namespace)
        with self.rows.database:
            self.rows.database.execute(f"DELETE FROM cells WHERE {_WHERE}", place)

    def _place(self, key_group: int, namespace: bytes) -> tuple[str, int, bytes]:
        self.rows.require(key_group)
        return self.name, key_group, namespace

    def _merged(self, old: bytes, new: bytes) -> bytes:
        if self.kind is StateKind.LIST:
            return old + new
        if self.reduce is None:
            raise RuntimeError(f"state {self.name!r} does not merge")
        return self.reduce(old, new)


class Rows(Stranger):
    """A backend on SQLite, in memory."""

    name = "rows"
    flags = frozenset({Flag.CANONICAL, Flag.MERGE, Flag.ASYNC_SNAPSHOT})
    longest = {"max_key_bytes": 64, "max_value_bytes": 4_096, "max_namespace_bytes": 16}

    def __init__(self, context: StateContext) -> None:
        super().__init__(context)
        self.database = sqlite3.connect(":memory:")
        self.database.execute(
            "CREATE TABLE cells (state TEXT, kg INT, ns BLOB, key BLOB, value BLOB, PRIMARY KEY (state, kg, ns, key))"
        )

    def new_table(self, descriptor: StateDescriptor, reduce: Reduce | None) -> StateTable:
        return RowsTable(self, descriptor, reduce)

    def new_snapshot(self, checkpoint: int) -> Snapshot:
        return RowsSnapshot(self, checkpoint)

    def load(self, contents: Mapping[int, bytes]) -> None:
        lines = ((group, line) for group, content in contents.items() for line in content.splitlines())
        self.insert("INSERT", [_row(group, line) for group, line in lines])

    def restore_entries(self, descriptors: Sequence[StateDescriptor], entries: Iterable[StateEntry]) -> None:
        self.begin_restore()
        self.states = {each.name: each for each in descriptors}
        rows: list[Row] = []
        for entry in entries:
            if entry.state not in self.states:
                raise Damaged(f"{entry.state} has no descriptor")
            if entry.key_group in self.context.key_groups:
                rows.append((entry.state, entry.key_group, entry.namespace, entry.key, entry.value))
        self.insert("INSERT", rows)
        self.phase = "restored"

    def insert(self, statement: str, rows: Sequence[Row]) -> None:
        query = "SELECT total(length(ns) + length(key) + length(value) + 32) FROM cells"
        with self.database:
            self.database.executemany(f"{statement} INTO cells VALUES (?, ?, ?, ?, ?)", rows)
            self.require_room(int(self.database.execute(query).fetchone()[0]))

    def close(self) -> None:
        self.closed = True
        self.database.close()


class RowsSnapshot(StrangerSnapshot[Rows]):
    """All rows as they were."""

    def __init__(self, backend: Rows, checkpoint: int) -> None:
        super().__init__(backend, checkpoint)
        self.rows: list[Row] = backend.database.execute("SELECT * FROM cells ORDER BY kg").fetchall()

    def contents(self) -> Mapping[int, bytes]:
        groups = self.backend.context.key_groups
        return {group: b"".join(_line(row) for row in self.rows if row[1] == group) for group in groups}

    def entries(self) -> Iterator[StateEntry]:
        self.require_held()
        return iter(sorted(StateEntry(*row) for row in self.rows))

    def release(self) -> None:
        super().release()
        self.rows = []


def _line(row: Row) -> bytes:
    state, _, *fields = row
    return msgspec.json.encode([state, *(b64encode(each).decode() for each in fields)]) + b"\n"


def _row(group: int, line: bytes) -> Row:
    state, *fields = msgspec.json.decode(line, type=tuple[str, str, str, str])
    namespace, key, value = map(b64decode, fields)
    return state, group, namespace, key, value
