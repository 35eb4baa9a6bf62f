"""A keyed state backend: values are in a dict, and a snapshot is one file of MessagePack.

The contract is `holdfast.harness.spi.state`. This backend declares the least that is useful: what a flag stands for and
is not declared, such as timers or increments, is never used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    TimerService,
)
from holdfast.harness.spi.storage import CheckpointStreamFactory, Scope

FORMAT = "example-1"
DESCRIPTION = Description(
    name="example",
    flags=frozenset({Flag.ASYNC_SNAPSHOT}),
    max_key_bytes=1_000,
    max_value_bytes=100_000,
    max_namespace_bytes=1_000,
)
OVERHEAD_BYTES = 100
"""Of one value in memory, beside its bytes."""
Place = tuple[str, int, bytes]
"""Name of a state, key group, namespace."""
Values = Mapping[Place, Mapping[bytes, bytes]]


class Backend:
    """The values of one subtask; called on the task thread alone."""

    def __init__(self, context: StateContext) -> None:
        for key in context.options:
            raise ValueError(f"option {key!r} is unknown; this backend has none.")
        self.context = context
        self.values: dict[Place, dict[bytes, bytes]] = {}
        self.used_bytes = 0
        self.descriptors: dict[str, StateDescriptor] = {}
        self.tables: dict[str, Table] = {}
        self.newest = 0
        self.phase = "fresh"
        self.closed = False

    def describe(self) -> Description:
        return DESCRIPTION

    def restore(self, parts: Sequence[Manifest], streams: CheckpointStreamFactory, *, claimed: bool) -> None:
        if self.closed or self.tables or self.phase == "restored":
            raise RuntimeError("a restore comes first, and once.")
        # Behind a restore that raises, nothing else works: no job begins empty in silence.
        self.phase = "restoring"
        for part in parts:
            if part.format != FORMAT:
                raise Incompatible(f"format {part.format} is not {FORMAT}.")
            if part.max_parallelism != self.context.max_parallelism:
                raise Incompatible(f"maximum parallelism {part.max_parallelism} is not {self.context.max_parallelism}.")
        # Everything is read and checked before anything is taken over.
        values: dict[Place, dict[bytes, bytes]] = {}
        for group in self.context.key_groups if parts else ():
            for (state, namespace), pairs in _read(parts, group, streams).items():
                values[state, group, namespace] = pairs
        used_bytes = sum(_size(place, *pair) for place, pairs in values.items() for pair in pairs.items())
        if used_bytes > self.context.memory_bytes:
            raise Full("memory_bytes", self.context.memory_bytes, used_bytes)
        self.values, self.used_bytes = values, used_bytes
        self.descriptors = {each.name: each for part in parts for each in part.descriptors}
        self.newest = max((part.checkpoint for part in parts), default=0)
        self.phase = "restored"

    def restore_entries(self, descriptors: Sequence[StateDescriptor], entries: Iterable[StateEntry]) -> None:
        raise ValueError("this backend does not declare canonical.")

    def table(self, descriptor: StateDescriptor, reduce: Reduce | None = None, convert: Convert | None = None) -> Table:
        self.require_open()
        if descriptor.ttl_ms is not None or "timers" in descriptor.kind:
            raise ValueError(f"{descriptor.name}: this backend has neither time to live nor timers.")
        known = self.descriptors.setdefault(descriptor.name, descriptor)
        if known != descriptor and descriptor.name in self.tables:
            raise RuntimeError(f"{descriptor.name} is registered as {known}.")
        if known != descriptor:
            raise Incompatible(f"{descriptor.name} was stored as {known}, and is registered as {descriptor}.")
        return self.tables.setdefault(descriptor.name, Table(self, descriptor.name))

    def timers(self, descriptor: StateDescriptor) -> TimerService:
        raise ValueError("this backend does not declare timers.")

    def snapshot(self, checkpoint: int, kind: SnapshotKind = SnapshotKind.CHECKPOINT) -> Snapshot:
        self.require_open()
        if checkpoint <= self.newest:
            raise RuntimeError(f"checkpoint {checkpoint} is not above {self.newest}.")
        self.newest = checkpoint
        return Snapshot(self, checkpoint, self.view())

    def view(self) -> Values:
        """Of everything, as it is now. The task goes on writing while it is uploaded, so each dict is copied."""
        return {place: dict(pairs) for place, pairs in self.values.items()}

    def confirmed(self, checkpoint: int) -> None:
        self.require_open()

    def aborted(self, checkpoint: int) -> None:
        self.require_open()

    def close(self) -> None:
        self.closed = True

    def require_open(self) -> None:
        if self.closed or self.phase == "restoring":
            raise RuntimeError("this backend is closed, or its restore failed.")


class Table:
    """One state."""

    def __init__(self, backend: Backend, name: str) -> None:
        self.backend, self.name = backend, name

    def get(self, key_group: int, namespace: bytes, keys: Sequence[bytes], *, now_ms: int) -> Sequence[bytes | None]:
        pairs = self.backend.values.get(self.place(key_group, namespace), {})
        return [pairs.get(key) for key in keys]

    def put(self, key_group: int, namespace: bytes, pairs: Sequence[tuple[bytes, bytes]], *, now_ms: int) -> None:
        place, backend = self.place(key_group, namespace), self.backend
        for key, value in pairs:
            _require_short("max_key_bytes", DESCRIPTION.max_key_bytes, key)
            _require_short("max_value_bytes", DESCRIPTION.max_value_bytes, value)
        _require_short("max_namespace_bytes", DESCRIPTION.max_namespace_bytes, namespace)
        # A batch that raises has changed nothing, so its end is known before it begins.
        new, old = dict(pairs), backend.values.get(place, {})
        replaced = sum(_size(place, key, old[key]) for key in new if key in old)
        used_bytes = backend.used_bytes - replaced + sum(_size(place, *pair) for pair in new.items())
        if used_bytes > backend.context.memory_bytes:
            raise Full("memory_bytes", backend.context.memory_bytes, used_bytes)
        if new:  # An empty batch makes no namespace.
            backend.values.setdefault(place, {}).update(new)
        backend.used_bytes = used_bytes

    def merge(self, key_group: int, namespace: bytes, pairs: Sequence[tuple[bytes, bytes]], *, now_ms: int) -> None:
        raise RuntimeError("this backend does not declare merge.")

    def remove(self, key_group: int, namespace: bytes, keys: Sequence[bytes]) -> None:
        place = self.place(key_group, namespace)
        pairs = self.backend.values.get(place, {})
        for key in keys:
            if key in pairs:
                self.backend.used_bytes -= _size(place, key, pairs.pop(key))
        if not pairs:
            self.backend.values.pop(place, None)

    def scan(
        self, key_group: int, namespace: bytes, start: bytes = b"", end: bytes | None = None, *, now_ms: int
    ) -> Iterator[tuple[bytes, bytes]]:
        pairs = self.backend.values.get(self.place(key_group, namespace), {})
        # A list of its own: what is written before the iterator ends does not show.
        return self.while_open(
            sorted(each for each in pairs.items() if start <= each[0] and (end is None or each[0] < end))
        )

    def while_open(self, pairs: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
        for pair in pairs:
            self.backend.require_open()
            yield pair

    def namespaces(self, key_group: int) -> Sequence[bytes]:
        wanted = self.place(key_group, b"")[:2]
        return sorted(place[2] for place in self.backend.values if place[:2] == wanted)

    def clear(self, key_group: int, namespace: bytes) -> None:
        place = self.place(key_group, namespace)
        self.remove(key_group, namespace, list(self.backend.values.get(place, ())))

    def place(self, key_group: int, namespace: bytes) -> Place:
        self.backend.require_open()
        if key_group not in self.backend.context.key_groups:
            raise RuntimeError(f"key group {key_group} belongs to another subtask.")
        return self.name, key_group, namespace


class Snapshot:
    """Values as they were; `upload` runs on another thread than the task's."""

    def __init__(self, backend: Backend, checkpoint: int, values: Values) -> None:
        self.backend, self.checkpoint = backend, checkpoint
        self.values: Values | None = values
        self.states = tuple(backend.descriptors[name] for name in sorted(backend.descriptors))

    def upload(self, streams: CheckpointStreamFactory, cancelled: Cancelled) -> Manifest:
        values = self.values
        if values is None or self.backend.closed:
            raise RuntimeError("this snapshot was released.")
        context = self.backend.context
        if cancelled():
            raise CancelledError
        # No two attempts give one name to two contents; a second try of this upload repeats name and token.
        name = f"{context.operator}-{context.subtask}-{context.attempt}-{self.checkpoint}"
        stream = streams.create(Scope.EXCLUSIVE, name, name.encode())
        extents: dict[int, Extent] = {}
        offset = 0
        try:
            for group in sorted({group for _, group, _ in values}):
                rows = [
                    (place[0], place[2], *pair)
                    for place, pairs in values.items()
                    if place[1] == group
                    for pair in pairs.items()
                ]
                content = msgspec.msgpack.encode(rows)
                stream.write(content)
                extents[group] = Extent(offset, len(content), crc32(content))
                offset += len(content)
            reference = stream.commit()
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
            handles=(StateHandle(name, Scope.EXCLUSIVE, reference, extents),),
            descriptors=self.states,
        )

    def descriptors(self) -> Sequence[StateDescriptor]:
        return self.states

    def entries(self) -> Iterator[StateEntry]:
        raise ValueError("this backend does not declare canonical.")

    def release(self) -> None:
        self.values = None


def _read(
    parts: Sequence[Manifest], group: int, streams: CheckpointStreamFactory
) -> Mapping[tuple[str, bytes], dict[bytes, bytes]]:
    """One key group, by state and namespace. Former subtasks may have owned other ranges than this one does."""
    owners = [part for part in parts if part.first_key_group <= group < part.end_key_group]
    if len(owners) != 1:
        raise Damaged(f"key group {group} is in {len(owners)} parts, and not in one.")
    found: dict[tuple[str, bytes], dict[bytes, bytes]] = {}
    for handle in owners[0].handles:
        extent = handle.key_groups.get(group)
        if extent is None or handle.reference is None:
            continue
        content = b"".join(streams.read(handle.reference, extent.offset, extent.length))
        # A storage checks whole files alone; of a range, its reader has the checksum.
        if crc32(content) != extent.checksum:
            raise Damaged(f"key group {group} of {handle.name} is not what was written.")
        for state, namespace, key, value in msgspec.msgpack.decode(content, type=list[tuple[str, bytes, bytes, bytes]]):
            found.setdefault((state, namespace), {})[key] = value
    return found


def _size(place: Place, key: bytes, value: bytes) -> int:
    return len(place[2]) + len(key) + len(value) + OVERHEAD_BYTES


def _require_short(limit: str, allowed: int, content: bytes) -> None:
    if len(content) > allowed:
        raise Full(limit, allowed, len(content))
