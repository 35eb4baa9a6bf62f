"""State backends side by side: cost of operations, and of snapshots and restores, full against incremental.

One program runs on a dict, on the backends `hashmap` and `rocksdb` by their contract, and on SQLite directly: batches
of 100 records, each of which reads a value and writes another. Snapshots are taken of states of several sizes, of which
a share has changed since the confirmed one; bytes are those of all files that are new, and files lie on a local disk.
With `--peer` the program also runs on Flink's `hashmap` and `rocksdb`, record by record, as Flink works.

python -m holdfast.suites.bench.state_backends [--megabytes 10,100] [--keys 200000] [--plot FILE] [--peer]
"""

from __future__ import annotations

import os
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NamedTuple, Protocol

import typer
from markupsafe import Markup
from msgspec.structs import replace
from rich.console import Console

from holdfast.fixtures.backends.changelog.backend import changelog
from holdfast.fixtures.backends.hashmap import HashMapBackend
from holdfast.fixtures.backends.rocksdb.backend import RocksDBBackend
from holdfast.fixtures.backends.rocksdb.options import INCREMENTAL
from holdfast.harness.model.events import FileReference
from holdfast.harness.spi.state import (
    KeyedStateBackend,
    KeyedStateBackendFactory,
    StateContext,
    StateDescriptor,
    StateKind,
)
from holdfast.reports.svg import element, number
from holdfast.suites.bench.figures import load, median, table
from holdfast.suites.bench.folder_streams import FolderStreams
from holdfast.suites.bench.peers import flink_state
from holdfast.suites.bench.peers.cache import DEFAULT_CACHE, PeerCache

_COLOURS = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#9d755d")
_WIDTH, _HEIGHT, _LEFT, _TOP = 300, 160, 16, 40


class Panel(NamedTuple):
    """One panel.

    Attributes:
        title: with the unit of the values.
        groups: names of the groups, from left to right.
        values: by name of a series, one value for each group.
    """

    title: str
    groups: Sequence[str]
    values: Mapping[str, Sequence[float]]


def bars(panels: Sequence[Panel]) -> str:
    """All panels beside each other, each with its own scale, which its highest bar says."""
    drawn = [_panel(panel, _LEFT + index * (_WIDTH + 2 * _LEFT)) for index, panel in enumerate(panels)]
    width, height = len(panels) * (_WIDTH + 2 * _LEFT), _TOP + _HEIGHT + 60
    legend = [
        _text(_LEFT + index * 150 + 14, height - 8, name)
        + element("rect", x=_LEFT + index * 150, y=height - 18, width=10, height=10, fill=_COLOURS[index])
        for index, name in enumerate(panels[0].values)
    ]
    background = element("rect", width=width, height=height, fill="#fff")
    return str(
        element("svg", background, *drawn, *legend, xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width} {height}")
    )


def _panel(panel: Panel, left: float) -> Markup:
    highest = max((value for values in panel.values.values() for value in values), default=1.0) or 1.0
    slot = _WIDTH / len(panel.groups)
    wide = slot * 0.8 / len(panel.values)
    written = f"{highest:,.0f}" if highest >= 100 else f"{highest:.3g}"
    parts = [_text(left, 16, panel.title), _text(left, 32, f"highest: {written}", size=10)]
    for at, group in enumerate(panel.groups):
        parts.append(_text(left + at * slot, _TOP + _HEIGHT + 16, group))
        for index, values in enumerate(panel.values.values()):
            tall = _HEIGHT * values[at] / highest
            bar = element("rect", element("title", f"{values[at]:,.3g}"), x=number(left + at * slot + index * wide),
                          y=number(_TOP + _HEIGHT - tall), width=number(wide * 0.9), height=number(tall),
                          fill=_COLOURS[index])  # fmt: skip
            parts.append(bar)
    return Markup("").join(parts)


def _text(x: float, y: float, content: str, size: int = 12) -> Markup:
    return element("text", content, x=number(x), y=number(y), font_size=size, font_family="sans-serif")


BATCH = 100
GROUPS = range(8)
BUDGET_BYTES = 64 << 20
AMPLE_BYTES = 1 << 34
VALUE_BYTES = 1_000
RATES = (1, 10, 100)
REPEATS = 3
VALUE = StateDescriptor(name="value", kind=StateKind.VALUE)
SUM = StateDescriptor(name="sum", kind=StateKind.REDUCING)
Pairs = Sequence[tuple[bytes, bytes]]


class Store(Protocol):
    """What the program needs."""

    def get(self, keys: Sequence[bytes]) -> Sequence[bytes | None]:
        """Values of keys."""

    def put(self, pairs: Pairs) -> None:
        """Set values."""

    def merge(self, pairs: Pairs) -> None:
        """Add to sums."""


def added(old: bytes, new: bytes) -> bytes:
    """The sum of two numbers of 8 bytes."""
    return (int.from_bytes(old) + int.from_bytes(new)).to_bytes(8)


class InDict:
    """The least that there is."""

    def __init__(self) -> None:
        self.values: dict[bytes, bytes] = {}

    def get(self, keys: Sequence[bytes]) -> Sequence[bytes | None]:
        return [self.values.get(key) for key in keys]

    def put(self, pairs: Pairs) -> None:
        self.values.update(pairs)

    def merge(self, pairs: Pairs) -> None:
        for key, value in pairs:
            self.values[key] = added(self.values.get(key, b""), value)


class InBackend:
    """A backend, by its contract."""

    def __init__(self, backend: KeyedStateBackend) -> None:
        self._values = backend.table(VALUE)
        self._sums = backend.table(SUM, added)

    def get(self, keys: Sequence[bytes]) -> Sequence[bytes | None]:
        return self._values.get(0, b"", keys, now_ms=0)

    def put(self, pairs: Pairs) -> None:
        self._values.put(0, b"", pairs, now_ms=0)

    def merge(self, pairs: Pairs) -> None:
        self._sums.merge(0, b"", pairs, now_ms=0)


class InSqlite:
    """A file of SQLite with a log ahead, which is not forced to the disk."""

    def __init__(self, path: Path) -> None:
        self.database = sqlite3.connect(path)
        self.database.execute("PRAGMA journal_mode = wal")
        self.database.execute("PRAGMA synchronous = off")
        self.database.execute("CREATE TABLE cells (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID")

    def get(self, keys: Sequence[bytes]) -> Sequence[bytes | None]:
        found = (self.database.execute("SELECT value FROM cells WHERE key = ?", (key,)).fetchone() for key in keys)
        return [row and row[0] for row in found]

    def put(self, pairs: Pairs) -> None:
        with self.database:
            self.database.executemany("INSERT OR REPLACE INTO cells VALUES (?, ?)", pairs)

    def merge(self, pairs: Pairs) -> None:
        for pair, old in zip(pairs, self.get([key for key, _ in pairs]), strict=True):
            self.put([(pair[0], added(old or b"", pair[1]))])


class Cost(NamedTuple):
    """Microseconds of one key, and records per second."""

    put: float
    get: float
    merge: float
    records: float


def cost(store: Store, keys: int) -> Cost:
    """Of one store, filled with so many keys."""
    names = [number.to_bytes(8) for number in range(keys)]
    random.Random(1).shuffle(names)
    batches = [names[at : at + BATCH] for at in range(0, keys, BATCH)]
    some = batches[: max(1, len(batches) // 4)]
    put = _each(batches, lambda batch: store.put([(key, b"v" * 40) for key in batch]))
    get = _each(some, store.get)
    merge = _each(some, lambda batch: store.merge([(b"s" + key, b"\0" * 7 + b"\1") for key in batch]))
    program = _each(some, lambda batch: _records(store, batch))
    read = len(some) * BATCH
    return Cost(1e6 * put / keys, 1e6 * get / read, 1e6 * merge / read, read / program)


def _each(batches: Sequence[Sequence[bytes]], call: Callable[[Sequence[bytes]], object]) -> float:
    """Seconds of all calls."""
    begun = time.monotonic()
    for batch in batches:
        call(batch)
    return time.monotonic() - begun


def _records(store: Store, batch: Sequence[bytes]) -> None:
    """Each record reads the value of its key, and writes one that depends on it."""
    found = store.get(batch)
    store.put([(key, (old or b"")[:32] + b"12345678") for key, old in zip(batch, found, strict=True)])


class Snapshots(NamedTuple):
    """What one snapshot and its restore cost: milliseconds of the synchronous part, seconds, bytes."""

    pause_ms: float
    snapshot_s: float
    restore_s: float
    written_bytes: float


def snapshots(
    factory: KeyedStateBackendFactory, options: Mapping[str, str], megabytes: int, folder: Path
) -> dict[int, Snapshots]:
    """By percent that has changed since the confirmed snapshot, medians of repeats."""
    keys = (megabytes << 20) // VALUE_BYTES
    streams = FolderStreams(folder / "storage")
    context = StateContext(job="job", operator="operator", subtask=0, attempt=1, key_groups=GROUPS, max_parallelism=8,
                           memory_bytes=AMPLE_BYTES if factory is HashMapBackend else BUDGET_BYTES,
                           folder=folder / "1", options=options)  # fmt: skip
    (folder / "1").mkdir()
    backend = factory(context)
    _change(backend, range(keys), 0)
    known = _completed(backend, streams)
    found: dict[int, Snapshots] = {}
    checkpoint = 1
    for percent in RATES:
        repeats = []
        for repeat in range(REPEATS):
            checkpoint += 1
            _change(backend, range(0, keys, 100 // percent), checkpoint)
            before, begun = streams.written_bytes, time.monotonic()
            snapshot = backend.snapshot(checkpoint)
            pause = time.monotonic() - begun
            manifest = snapshot.upload(streams, lambda: False)
            taken = time.monotonic() - begun
            backend.confirmed(checkpoint)
            snapshot.release()
            written = streams.written_bytes - before
            known |= {each.name: each.reference for each in manifest.handles if each.reference is not None}
            handles = tuple(replace(each, reference=known[each.name]) for each in manifest.handles)
            place = folder / f"restored-{percent}-{repeat}"
            place.mkdir()
            other = factory(replace(context, folder=place, attempt=2))
            restored = _timed(lambda: other.restore([replace(manifest, handles=handles)], streams, claimed=False))  # noqa: B023
            other.close()
            repeats.append(Snapshots(1_000 * pause, taken, restored, written))
        found[percent] = Snapshots(*(median(column) for column in zip(*repeats, strict=True)))
    backend.close()
    return found


def _completed(backend: KeyedStateBackend, streams: FolderStreams) -> dict[str, FileReference | None]:
    """The first, full one; its files by name."""
    snapshot = backend.snapshot(1)
    manifest = snapshot.upload(streams, lambda: False)
    backend.confirmed(1)
    snapshot.release()
    return {each.name: each.reference for each in manifest.handles}


def _change(backend: KeyedStateBackend, numbers: range, salt: int) -> None:
    """Write values that nothing makes shorter."""
    values = backend.table(VALUE)
    source = random.Random(salt)
    for at in range(0, len(numbers), 1_000):
        by_group: dict[int, list[tuple[bytes, bytes]]] = {}
        for key in numbers[at : at + 1_000]:
            by_group.setdefault(key % len(GROUPS), []).append((key.to_bytes(8), source.randbytes(VALUE_BYTES)))
        for key_group, pairs in by_group.items():
            values.put(key_group, b"", pairs, now_ms=0)


def _timed(call: Callable[[], object]) -> float:
    begun = time.monotonic()
    call()
    return time.monotonic() - begun


@contextmanager
def _stores(folder: Path) -> Iterator[Mapping[str, Store]]:
    context = StateContext(job="job", operator="operator", subtask=0, attempt=1, key_groups=GROUPS, max_parallelism=8,
                           memory_bytes=BUDGET_BYTES, folder=folder)  # fmt: skip
    on_the_heap = HashMapBackend(replace(context, memory_bytes=AMPLE_BYTES))
    on_the_disk = RocksDBBackend(context)
    sqlite = InSqlite(folder / "sqlite")
    yield {"dict": InDict(), "hashmap": InBackend(on_the_heap), "rocksdb": InBackend(on_the_disk), "sqlite": sqlite}
    sqlite.database.close()
    on_the_disk.close()


KINDS: Mapping[str, tuple[KeyedStateBackendFactory, Mapping[str, str]]] = {
    "hashmap, full": (HashMapBackend, {}),
    "rocksdb, full": (RocksDBBackend, {INCREMENTAL: "false"}),
    "rocksdb, incremental": (RocksDBBackend, {}),
    "rocksdb, changelog": (changelog(RocksDBBackend), {}),
}


def main(
    keys: Annotated[int, typer.Option(min=400, help="Keys of the cost of operations.")] = 200_000,
    megabytes: Annotated[str, typer.Option(help="Sizes of state, separated by commas.")] = "10,100",
    plot: Annotated[Path | None, typer.Option(help="Where an SVG of the largest size goes.")] = None,
    peer: Annotated[bool, typer.Option("--peer/--no-peer", help="Flink's backends, too.")] = False,
    cache: Annotated[Path, typer.Option(help="Where the peer is installed.")] = DEFAULT_CACHE,
) -> None:
    """Measure, and print two tables."""
    console = Console(soft_wrap=True)
    with tempfile.TemporaryDirectory() as folder, _stores(Path(folder)) as stores:
        costs = {name: cost(store, keys) for name, store in stores.items()}
    for backend in flink_state.BACKENDS if peer else ():
        figures = flink_state.cost(PeerCache(cache), backend, keys, sorted(os.sched_getaffinity(0)))
        costs[f"Flink {backend}"] = Cost(**figures)
    least = costs["dict"]
    rows = [
        [name, f"{each.put:.1f}", f"{each.get:.1f}", f"{each.merge:.1f}", f"{each.records:,.0f}",
         f"{least.records / each.records:.1f} x"]
        for name, each in costs.items()
    ]  # fmt: skip
    columns = ["store", "put µs", "get µs", "merge µs", "records/s", "slower than dict"]
    console.print(table(f"{keys:,} keys of 8 bytes, values of 40, batches of {BATCH}", columns, rows))
    sizes = [int(size) for size in megabytes.split(",")]
    rows, found = [], {}
    for size in sizes:
        for kind, (factory, options) in KINDS.items():
            with tempfile.TemporaryDirectory() as folder:
                found[size, kind] = snapshots(factory, options, size, Path(folder))
            for percent, each in found[size, kind].items():
                rows.append([f"{size} MB, {kind}", f"{percent} %", f"{each.written_bytes / (1 << 20):.1f}",
                             f"{each.pause_ms:.1f}", f"{each.snapshot_s:.2f}", f"{each.restore_s:.2f}"])  # fmt: skip
    columns = ["state", "changed", "MB written", "pause ms", "snapshot s", "restore s"]
    console.print("\n" + table("Snapshots and restores", columns, rows))
    console.print(f"\n{load()}")
    if plot is not None:
        plot.write_text(bars(_panels({kind: found[sizes[-1], kind] for kind in KINDS}, sizes[-1])))


def _panels(found: Mapping[str, Mapping[int, Snapshots]], megabytes: int) -> list[Panel]:
    groups = [f"{percent} % changed" for percent in RATES]
    shown: tuple[tuple[str, Callable[[Snapshots], float]], ...] = (
        (f"MB written, of {megabytes} MB", lambda each: each.written_bytes / (1 << 20)),
        ("snapshot, s", lambda each: each.snapshot_s),
        ("restore, s", lambda each: each.restore_s),
    )
    return [
        Panel(title, groups, {kind: [figure(each[percent]) for percent in RATES] for kind, each in found.items()})
        for title, figure in shown
    ]


if __name__ == "__main__":
    typer.run(main)
