"""A backend as somebody else writes it, by the contract alone: rocksdict as a dict, and full copies as snapshots.

It shares nothing with ours on RocksDB. It declares that state spills, and that snapshots are asynchronous.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from shutil import rmtree
from typing import Any

import msgspec

from holdfast.harness.spi.state import Flag, Reduce, Snapshot, StateContext, StateDescriptor, StateTable
from holdfast.suites.selfcheck.certify.stranger import Stranger, StrangerSnapshot


class RocksDictTable:
    def __init__(self, backend: RocksDictBackend, name: str) -> None:
        self.backend, self.name = backend, name

    def get(self, key_group: int, namespace: bytes, keys: Sequence[bytes], *, now_ms: int) -> Sequence[bytes | None]:
        prefix = self.prefix(key_group, namespace)
        return [self.backend.database.get(prefix + key) for key in keys]

    def put(self, key_group: int, namespace: bytes, pairs: Sequence[tuple[bytes, bytes]], *, now_ms: int) -> None:
        from rocksdict import WriteBatch

        prefix = self.prefix(key_group, namespace)
        self.backend.require_short(namespace, pairs)
        batch = WriteBatch(raw_mode=True)
        for key, value in pairs:
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


class RocksDictBackend(Stranger):
    name = "rocksdict"
    flags = frozenset({Flag.SPILLS, Flag.ASYNC_SNAPSHOT})
    longest = {"max_key_bytes": 500, "max_value_bytes": 10_000, "max_namespace_bytes": 200}

    def __init__(self, context: StateContext) -> None:
        super().__init__(context)
        assert context.folder is not None
        self.folder = context.folder
        self.database = opened(context.folder / "live")

    def new_table(self, descriptor: StateDescriptor, reduce: Reduce | None) -> StateTable:
        return RocksDictTable(self, descriptor.name)

    def new_snapshot(self, checkpoint: int) -> Snapshot:
        return RocksDictSnapshot(self, checkpoint)

    def load(self, contents: Mapping[int, bytes]) -> None:
        for group, content in contents.items():
            for key, value in msgspec.msgpack.decode(content, type=list[tuple[bytes, bytes]]):
                self.database.put(group.to_bytes(2) + key, value)

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self.database.close()


class RocksDictSnapshot(StrangerSnapshot[RocksDictBackend]):
    def __init__(self, backend: RocksDictBackend, checkpoint: int) -> None:
        from rocksdict import Checkpoint

        super().__init__(backend, checkpoint)
        self.path = backend.folder / f"copy-{checkpoint}"
        Checkpoint(backend.database).create_checkpoint(str(self.path))

    def contents(self) -> Mapping[int, bytes]:
        with closing(opened(self.path)) as database:
            return {
                group: msgspec.msgpack.encode(list(pairs_of(database, group.to_bytes(2))))
                for group in self.backend.context.key_groups
            }

    def release(self) -> None:
        super().release()
        rmtree(self.path, ignore_errors=True)


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
