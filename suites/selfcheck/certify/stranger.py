"""A backend as somebody else writes it, by the contract alone: rows in SQLite, and snapshots as one file of JSON lines.

It shares nothing with the backends of ours, and leaves out timers and TTL.
"""

from __future__ import annotations

import sqlite3
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
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
    SnapshotKind,
    StateContext,
    StateDescriptor,
    StateEntry,
    StateHandle,
    StateKind,
    TimerService,
)
from holdfast.harness.spi.storage import CheckpointStreamFactory, Scope

Row = tuple[str, int, bytes, bytes, bytes]
_WHERE = "state = ? AND kg = ? AND ns = ?"
_FORMAT = "rows-1"
_LONGEST = {"max_key_bytes": 64, "max_value_bytes": 4_096, "max_namespace_bytes": 16}


class Table:
    """One state."""

    def __init__(self, rows: Rows, descriptor: StateDescriptor, reduce: Reduce | None) -> None:
        self.rows, self.name, self.kind, self.reduce = rows, descriptor.name, descriptor.kind, reduce

    def get(self, key_group: int, namespace: bytes, keys: Sequence[bytes], *, now_ms: int) -> Sequence[bytes | None]:
        place = self._place(key_group, namespace)
        query = f"SELECT value FROM cells WHERE {_WHERE} AND key = ?"
        found = [self.rows.database.execute(query, (*place, key)).fetchone() for key in keys]
        return [row and row[0] for row in found]

    def put(self, key_group: int, namespace: bytes, pairs: Sequence[tuple[bytes, bytes]], *, now_ms: int) -> None:
        place = self._place(key_group, namespace)
        with self.rows.database:
            self.rows.database.executemany(
                "INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?, ?)",
                [(*place, key, self._checked(namespace, key, value)) for key, value in pairs],
            )
            self.rows.require_room()

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

    def _checked(self, namespace: bytes, key: bytes, value: bytes) -> bytes:
        for (limit, allowed), content in zip(_LONGEST.items(), (key, value, namespace), strict=True):
            if len(content) > allowed:
                raise Full(limit, allowed, len(content))
        return value


class RowsSnapshot:
    """All rows as they were."""

    def __init__(self, rows: Rows, checkpoint: int) -> None:
        self._rows, self._checkpoint = rows, checkpoint
        self._content: list[Row] | None = rows.database.execute("SELECT * FROM cells ORDER BY kg").fetchall()
        self._states = [rows.states[name] for name in sorted(rows.states)]

    def upload(self, streams: CheckpointStreamFactory, cancelled: Cancelled) -> Manifest:
        context = self._rows.context
        name = f"rows-{context.operator}-{context.subtask}-{context.attempt}-{self._checkpoint}"
        lines = {group: b"".join(_line(row) for row in self._open() if row[1] == group) for group in context.key_groups}
        if cancelled():
            raise CancelledError
        stream = streams.create(Scope.EXCLUSIVE, name, f"{context.job}/{name}".encode())
        places: dict[int, Extent] = {}
        offset = 0
        try:
            for group, content in lines.items():
                stream.write(content)
                places[group] = Extent(offset, len(content), crc32(content))
                offset += len(content)
            handle = StateHandle(name, Scope.EXCLUSIVE, stream.commit(), places)
        except Exception:
            with suppress(OSError):
                stream.cancel()
            raise
        return Manifest(
            format=_FORMAT,
            checkpoint=self._checkpoint,
            subtask=context.subtask,
            first_key_group=context.key_groups.start,
            end_key_group=context.key_groups.stop,
            max_parallelism=context.max_parallelism,
            handles=(handle,),
            descriptors=tuple(self._states),
        )

    def descriptors(self) -> Sequence[StateDescriptor]:
        return self._states

    def entries(self) -> Iterator[StateEntry]:
        return iter(sorted(StateEntry(*row) for row in self._open()))

    def release(self) -> None:
        self._content = None

    def _open(self) -> list[Row]:
        if self._content is None or self._rows.closed:
            raise RuntimeError("this snapshot was released")
        return self._content


class Rows:
    """The backend."""

    def __init__(self, context: StateContext) -> None:
        if context.options:
            raise ValueError(f"unknown option {min(context.options)}")
        self.context = context
        self.database = sqlite3.connect(":memory:")
        self.database.execute(
            "CREATE TABLE cells (state TEXT, kg INT, ns BLOB, key BLOB, value BLOB, PRIMARY KEY (state, kg, ns, key))"
        )
        self.states: dict[str, StateDescriptor] = {}
        self.closed = False
        self._tables: dict[str, Table] = {}
        self._state = "fresh"
        self._newest = 0

    def describe(self) -> Description:
        flags = frozenset({Flag.CANONICAL, Flag.MERGE, Flag.ASYNC_SNAPSHOT})
        return Description(name="rows", flags=flags, max_key_bytes=64, max_value_bytes=4_096, max_namespace_bytes=16)

    def restore(self, parts: Sequence[Manifest], streams: CheckpointStreamFactory, *, claimed: bool) -> None:
        self._begin_restore()
        for part in parts:
            if part.format != _FORMAT:
                raise Incompatible(f"{part.format} is not {_FORMAT}")
            if part.max_parallelism != self.context.max_parallelism:
                raise Incompatible(f"max_parallelism {part.max_parallelism} is not {self.context.max_parallelism}")
        rows = [row for group in self.context.key_groups for row in self._read(parts, group, streams)] if parts else []
        self._take_over([state for part in parts for state in part.descriptors], rows)
        self._newest = max((part.checkpoint for part in parts), default=0)

    def restore_entries(self, descriptors: Sequence[StateDescriptor], entries: Iterable[StateEntry]) -> None:
        self._begin_restore()
        names = {each.name for each in descriptors}
        rows: list[Row] = []
        for entry in entries:
            if entry.state not in names:
                raise Damaged(f"{entry.state} has no descriptor")
            if entry.key_group in self.context.key_groups:
                rows.append((entry.state, entry.key_group, entry.namespace, entry.key, entry.value))
        self._take_over(descriptors, rows)

    def table(self, descriptor: StateDescriptor, reduce: Reduce | None = None, convert: Convert | None = None) -> Table:
        self.require(None)
        if descriptor.ttl_ms is not None or "timers" in descriptor.kind:
            raise ValueError(f"{descriptor.name}: neither time to live nor timers")
        known = self.states.get(descriptor.name)
        if known != descriptor and descriptor.name in self._tables:
            raise RuntimeError(f"{descriptor.name} is registered as {known}")
        if known is not None and known != descriptor:
            raise Incompatible(f"{descriptor.name} was stored as {known}")
        self.states[descriptor.name] = descriptor
        return self._tables.setdefault(descriptor.name, Table(self, descriptor, reduce))

    def timers(self, descriptor: StateDescriptor) -> TimerService:
        raise ValueError("no timers")

    def snapshot(self, checkpoint: int, kind: SnapshotKind = SnapshotKind.CHECKPOINT) -> RowsSnapshot:
        self.require(None)
        if checkpoint <= self._newest:
            raise RuntimeError(f"checkpoint {checkpoint} is not above {self._newest}")
        self._newest = checkpoint
        return RowsSnapshot(self, checkpoint)

    def confirmed(self, checkpoint: int) -> None:
        self.require(None)

    def aborted(self, checkpoint: int) -> None:
        self.require(None)

    def close(self) -> None:
        self.closed = True
        self.database.close()

    def require(self, key_group: int | None) -> None:
        if self.closed or self._state == "restoring":
            raise RuntimeError("closed, or not restored")
        if key_group is not None and key_group not in self.context.key_groups:
            raise RuntimeError(f"key group {key_group} is another's")

    def while_open(self, pairs: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
        for pair in pairs:
            self.require(None)
            yield pair

    def require_room(self) -> None:
        query = "SELECT total(length(ns) + length(key) + length(value) + 32) FROM cells"
        needed = int(self.database.execute(query).fetchone()[0])
        if needed > self.context.memory_bytes:
            raise Full("memory_bytes", self.context.memory_bytes, needed)

    def _begin_restore(self) -> None:
        if self.closed or self._tables or self._state == "restored":
            raise RuntimeError("a restore comes first, and once")
        self._state = "restoring"

    def _take_over(self, states: Sequence[StateDescriptor], rows: list[Row]) -> None:
        with self.database:
            self.database.executemany("INSERT INTO cells VALUES (?, ?, ?, ?, ?)", rows)
            self.require_room()
        self.states = {each.name: each for each in states}
        self._state = "restored"

    def _read(self, parts: Sequence[Manifest], group: int, streams: CheckpointStreamFactory) -> Iterator[Row]:
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
        for line in content.splitlines():
            state, *fields = msgspec.json.decode(line, type=tuple[str, str, str, str])
            namespace, key, value = map(b64decode, fields)
            yield state, group, namespace, key, value


def _line(row: Row) -> bytes:
    state, _, *fields = row
    return msgspec.json.encode([state, *(b64encode(each).decode() for each in fields)]) + b"\n"
