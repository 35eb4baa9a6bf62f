"""A backend as somebody else writes it, by the contract alone: rocksdict as a dict, and full copies as snapshots.

It shares nothing with ours on RocksDB. It declares that state spills, and that snapshots are asynchronous.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from typing import Any
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
    TimerService,
)
from holdfast.harness.spi.storage import CheckpointStreamFactory, Scope

FORMAT = "rocksdict-copy-1"
MOST_BYTES = {"max_key_bytes": 500, "max_value_bytes": 10_000, "max_namespace_bytes": 200}


class RocksDictTable:
    def __init__(self, backend: RocksDictBackend, name: str) -> None:
        self.backend, self.name = backend, name

    def get(self, key_group: int, namespace: bytes, keys: Sequence[bytes], *, now_ms: int) -> Sequence[bytes | None]:
        prefix = self.prefix(key_group, namespace)
        return [self.backend.database.get(prefix + key) for key in keys]

    def put(self, key_group: int, namespace: bytes, pairs: Sequence[tuple[bytes, bytes]], *, now_ms: int) -> None:
        from rocksdict import WriteBatch

        prefix = self.prefix(key_group, namespace)
        batch = WriteBatch(raw_mode=True)
        for key, value in pairs:
            for (limit, allowed), content in zip(MOST_BYTES.items(), (key, value, namespace), strict=True):
                if len(content) > allowed:
                    raise Full(limit, allowed, len(content))
            batch.put(prefix + key, value)
        self.backend.database.write(batch)

    def merge(self, key_group: int, namespace: bytes, pairs: Sequence[tuple[bytes, bytes]], *, now_ms: int) -> None:
        raise RuntimeError("nothing merges here")

    def remove(self, key_group: int, namespace: bytes, keys: Sequence[bytes]) -> None:
        prefix = self.prefix(key_group, namespace)
        for key in keys:
            self.backend.database.delete(prefix + key)

    def scan(
        self, key_group: int, namespace: bytes, start: bytes = b"", end: bytes | None = None, *, now_ms: int
    ) -> Iterator[tuple[bytes, bytes]]:
        prefix = self.prefix(key_group, namespace)
        found = pairs_of(self.backend.database, prefix)
        chosen = [(key, value) for key, value in found if key >= start and (end is None or key < end)]
        return self.backend.while_open(chosen)

    def namespaces(self, key_group: int) -> Sequence[bytes]:
        found = set()
        for key, _ in pairs_of(self.backend.database, self.prefix(key_group)):
            found.add(key[2 : 2 + int.from_bytes(key[:2])])
        return sorted(found)

    def clear(self, key_group: int, namespace: bytes) -> None:
        self.remove(key_group, namespace, [key for key, _ in self.scan(key_group, namespace, now_ms=0)])

    def prefix(self, key_group: int, namespace: bytes | None = None) -> bytes:
        self.backend.require(key_group)
        state = self.name.encode()
        place = key_group.to_bytes(2) + len(state).to_bytes(2) + state
        return place if namespace is None else place + len(namespace).to_bytes(2) + namespace


class RocksDictSnapshot:
    def __init__(self, backend: RocksDictBackend, checkpoint: int) -> None:
        from rocksdict import Checkpoint

        self.backend, self.checkpoint = backend, checkpoint
        self.path = backend.folder / f"copy-{checkpoint}"
        self.released = False
        self.states = [backend.states[name] for name in sorted(backend.states)]
        Checkpoint(backend.database).create_checkpoint(str(self.path))

    def upload(self, streams: CheckpointStreamFactory, cancelled: Cancelled) -> Manifest:
        if self.released or self.backend.closed:
            raise RuntimeError("this snapshot was released")
        context = self.backend.context
        name = f"copy-{context.operator}-{context.subtask}-{context.attempt}-{self.checkpoint}"
        if cancelled():
            raise CancelledError
        places: dict[int, Extent] = {}
        offset = 0
        stream = streams.create(Scope.EXCLUSIVE, name, f"{context.job}/{name}".encode())
        database = opened(self.path)
        try:
            for group in context.key_groups:
                content = msgspec.msgpack.encode(list(pairs_of(database, group.to_bytes(2))))
                stream.write(content)
                places[group] = Extent(offset, len(content), crc32(content))
                offset += len(content)
            handle = StateHandle(name, Scope.EXCLUSIVE, stream.commit(), places)
        except Exception:
            with suppress(OSError):
                stream.cancel()
            raise
        finally:
            database.close()
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

    def descriptors(self) -> Sequence[StateDescriptor]:
        return self.states

    def entries(self) -> Iterator[StateEntry]:
        raise RuntimeError("no canonical form")

    def release(self) -> None:
        self.released = True
        rmtree(self.path, ignore_errors=True)


class RocksDictBackend:
    def __init__(self, context: StateContext) -> None:
        if context.options:
            raise ValueError(f"unknown option {min(context.options)}")
        assert context.folder is not None
        self.context = context
        self.folder = context.folder
        self.database = opened(context.folder / "live")
        self.states: dict[str, StateDescriptor] = {}
        self.tables: dict[str, RocksDictTable] = {}
        self.closed = False
        self.phase = "fresh"
        self.newest = 0

    def describe(self) -> Description:
        return Description(
            name="rocksdict",
            flags=frozenset({Flag.SPILLS, Flag.ASYNC_SNAPSHOT}),
            max_key_bytes=500,
            max_value_bytes=10_000,
            max_namespace_bytes=200,
        )

    def restore(self, parts: Sequence[Manifest], streams: CheckpointStreamFactory, *, claimed: bool) -> None:
        if self.closed or self.tables or self.phase == "restored":
            raise RuntimeError("a restore comes first, and once")
        self.phase = "restoring"
        for part in parts:
            if part.format != FORMAT or part.max_parallelism != self.context.max_parallelism:
                raise Incompatible(f"{part.format} of max_parallelism {part.max_parallelism}")
        groups = [(group, self.content(parts, group, streams)) for group in self.context.key_groups if parts]
        for group, content in groups:  # Everything is here and intact.
            for key, value in msgspec.msgpack.decode(content, type=list[tuple[bytes, bytes]]):
                self.database.put(group.to_bytes(2) + key, value)
        self.states = {state.name: state for part in parts for state in part.descriptors}
        self.newest = max((part.checkpoint for part in parts), default=0)
        self.phase = "restored"

    def content(self, parts: Sequence[Manifest], group: int, streams: CheckpointStreamFactory) -> bytes:
        holding = [part for part in parts if part.first_key_group <= group < part.end_key_group]
        if len(holding) != 1 or holding[0].handles[0].reference is None:
            raise Damaged(f"key group {group} is in {len(holding)} parts")
        [handle] = holding[0].handles
        assert handle.reference is not None
        place = handle.key_groups[group]
        content = b"".join(streams.read(handle.reference, place.offset, place.length))
        if crc32(content) != place.checksum:
            raise Damaged(f"key group {group} is not what was written")
        return content

    def restore_entries(self, descriptors: Sequence[StateDescriptor], entries: Iterable[StateEntry]) -> None:
        raise RuntimeError("no canonical form")

    def table(
        self, descriptor: StateDescriptor, reduce: Reduce | None = None, convert: Convert | None = None
    ) -> RocksDictTable:
        self.require(None)
        if descriptor.ttl_ms is not None or "timers" in descriptor.kind:
            raise ValueError(f"{descriptor.name}: neither time to live nor timers")
        known = self.states.setdefault(descriptor.name, descriptor)
        if known != descriptor:
            raise (RuntimeError if descriptor.name in self.tables else Incompatible)(f"{descriptor.name} is {known}")
        return self.tables.setdefault(descriptor.name, RocksDictTable(self, descriptor.name))

    def timers(self, descriptor: StateDescriptor) -> TimerService:
        raise ValueError("no timers")

    def snapshot(self, checkpoint: int, kind: SnapshotKind = SnapshotKind.CHECKPOINT) -> RocksDictSnapshot:
        self.require(None)
        if checkpoint <= self.newest:
            raise RuntimeError(f"checkpoint {checkpoint} is not above {self.newest}")
        self.newest = checkpoint
        return RocksDictSnapshot(self, checkpoint)

    def confirmed(self, checkpoint: int) -> None:
        self.require(None)

    def aborted(self, checkpoint: int) -> None:
        self.require(None)

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self.database.close()

    def require(self, key_group: int | None) -> None:
        if self.closed or self.phase == "restoring":
            raise RuntimeError("closed, or not restored")
        if key_group is not None and key_group not in self.context.key_groups:
            raise RuntimeError(f"key group {key_group} is another's")

    def while_open(self, pairs: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
        for pair in pairs:
            self.require(None)
            yield pair


def opened(path: Path) -> Any:
    from rocksdict import Options, Rdict

    return Rdict(str(path), Options(raw_mode=True))


def pairs_of(database: Any, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Keys with a prefix, without it."""
    iterator = database.iter()
    iterator.seek(prefix)
    while iterator.valid() and iterator.key().startswith(prefix):
        yield iterator.key()[len(prefix) :], iterator.value()
        iterator.next()
    iterator.status()
