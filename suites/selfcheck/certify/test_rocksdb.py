"""The RocksDB backend passes the kit; its files, its folder and its memory are what its description promises."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import shake_128
from pathlib import Path
from threading import enumerate as threads

import pytest
from msgspec.structs import replace

from holdfast.fixtures.backends.hashmap import HashMapBackend
from holdfast.fixtures.backends.rocksdb import options
from holdfast.fixtures.backends.rocksdb.backend import RocksDBBackend
from holdfast.fixtures.reference.drivers.state_backends import NOT_TAKEN, state_backends
from holdfast.fixtures.reference.parts import REFERENCE
from holdfast.fixtures.storages.in_memory import InMemoryStorage, Place
from holdfast.harness.model import profile
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Plan, WorkloadSpec
from holdfast.harness.spi.state import Manifest, StateContext, StateDescriptor, StateKind
from holdfast.harness.spi.storage import Scope, StorageContext
from holdfast.suites.bench.folder_streams import FolderStreams
from holdfast.suites.certify import state_backend
from holdfast.suites.certify.answers import behind
from holdfast.suites.certify.state_backend.bench import EPOCH, GROUPS, Bench, Completed, never
from holdfast.suites.certify.state_backend.live import Live
from holdfast.suites.certify.state_backend.programs import play
from holdfast.suites.selfcheck.certify.test_kit import LONG

pytest.importorskip("rocksdict", reason="the extra rocksdb is not installed")
# The certificate of the reference asks it, too.
test_rocksdb = pytest.mark.nightly(state_backend.kit("rocksdb"))
VALUE = StateDescriptor(name="value", kind=StateKind.VALUE)


def context(folder: Path, key_groups: range = range(4), **fields: object) -> StateContext:
    made = StateContext(job="job", operator="operator", subtask=0, attempt=1, key_groups=key_groups, max_parallelism=8,
                        memory_bytes=1 << 20, folder=folder)  # fmt: skip
    return replace(made, **fields)


@contextmanager
def bench() -> Iterator[Bench]:
    made = Bench(RocksDBBackend, HashMapBackend)
    yield made
    assert made.close() == []


def completed(bench: Bench, live: Live) -> Completed:
    taken = live.snapshot()
    manifest = bench.upload(taken)
    taken.snapshot.release()
    return bench.complete(live, taken, manifest)


def tables(manifest: Manifest) -> list[str]:
    """Names of the shared files, without what makes them unique."""
    return sorted(each.name.rpartition("-")[2] for each in manifest.handles if each.scope is Scope.SHARED)


class Driven(RocksDBBackend):
    """Compacts when it is told to, and never by itself."""

    description = replace(RocksDBBackend.description, options={})

    def compact(self, start: bytes, end: bytes) -> None:
        from rocksdict import BottommostLevelCompaction, CompactOptions

        chosen = CompactOptions()
        chosen.set_bottommost_level_compaction(BottommostLevelCompaction.force())
        self.cells.database.compact_range(start, end, chosen)


def test_the_golden_run_of_the_seeds() -> None:
    """CP1 {1,2}, CP2 {1,2,3,4}, CP3 {123,4,5}, CP4 {123,456}: two checkpoints are retained (INC-04)."""
    names: dict[str, str] = {}
    live_sets: list[set[str]] = []
    needed: list[set[str]] = []
    made = Bench(Driven, HashMapBackend)
    live = made.fresh()
    backend = behind(live.backend)
    assert isinstance(backend, Driven)
    backend.cells.database.set_options({"disable_auto_compactions": "true"})
    first, second = GROUPS[0], GROUPS[1]

    def added(name: str, key_group: int, number: int) -> None:
        before = {each["name"] for each in backend.cells.database.live_files()}
        live.put("value", key_group, b"", [(b"%d/%d" % (number, each), b"v") for each in range(3)])
        backend.cells.database.flush(True)
        [table] = {each["name"] for each in backend.cells.database.live_files()} - before
        names[Path(table).name] = name

    def merged(name: str, key_group: int) -> None:
        before = {each["name"] for each in backend.cells.database.live_files()}
        backend.compact(key_group.to_bytes(2), (key_group + 1).to_bytes(2))
        [table] = {each["name"] for each in backend.cells.database.live_files()} - before
        names[Path(table).name] = name

    def checkpoint() -> None:
        manifest = completed(made, live).parts[0]
        needed.append({names[table] for table in tables(manifest)})
        live_sets.append({names[path.rpartition("-")[2]] for path in made.storage().list_folder("shared")})

    added("1", first, 1)
    added("2", first, 2)
    checkpoint()
    added("3", first, 3)
    added("4", second, 4)
    checkpoint()
    merged("123", first)
    added("5", second, 5)
    checkpoint()
    added("6", second, 6)
    merged("456", second)
    checkpoint()
    assert needed == [{"1", "2"}, {"1", "2", "3", "4"}, {"123", "4", "5"}, {"123", "456"}]
    assert live_sets[2:] == [{"1", "2", "3", "4", "123", "5"}, {"4", "5", "123", "456"}]
    for each in made.completed:
        made.restored(each).compare()
    assert made.close() == []


def test_a_table_is_stored_once_and_referred_to_by_a_placeholder_once_it_is_confirmed() -> None:
    with bench() as made:
        live = made.fresh()
        live.put("value", GROUPS.start, b"", [(b"1", b"v")])
        first = completed(made, live)
        live.put("value", GROUPS.start, b"", [(b"2", b"v")])
        taken = live.snapshot()
        second = made.upload(taken)
        shared = [each for each in second.handles if each.scope is Scope.SHARED]
        assert [each.reference is None for each in shared] == [True, False]
        assert shared[0].name == first.parts[0].handles[0].name
        assert second.base == first.checkpoint
        made.complete(live, taken, second)


def test_two_lives_from_one_checkpoint_store_one_local_name_under_two_names() -> None:
    with bench() as made:
        live = made.fresh()
        live.put("value", GROUPS.start, b"", [(b"1", b"v")])
        first = completed(made, live)
        stored = []
        for salt in (b"one", b"two"):
            life = made.restored(first)
            life.put("value", GROUPS.start, b"", [(b"2", salt)])
            stored.append(made.upload(life.snapshot()))
        new = [[each for each in manifest.handles[:-1] if each not in first.parts[0].handles] for manifest in stored]
        assert tables(stored[0]) == tables(stored[1])
        assert new[0][0].name != new[1][0].name


def test_nothing_is_left_of_snapshots_and_of_what_is_closed(tmp_path: Path) -> None:
    place = Place()
    storage = InMemoryStorage(StorageContext(uri="memory:", job="job"), place)
    open_files = len(os.listdir("/proc/self/fd"))
    before = len(threads())
    backend = RocksDBBackend(context(tmp_path))
    table = backend.table(VALUE)
    for checkpoint in range(1, 4):
        table.put(0, b"", [(b"k", b"%d" % checkpoint)], now_ms=0)
        snapshot = backend.snapshot(checkpoint)
        snapshot.upload(storage.streams(checkpoint, EPOCH), never)
        backend.confirmed(checkpoint)
        snapshot.release()
        assert [path.name for path in tmp_path.iterdir()] == ["database"]
    pending = backend.snapshot(9)
    scan = table.scan(0, b"", now_ms=0)
    backend.close()
    assert list(tmp_path.iterdir()) == []
    assert (len(os.listdir("/proc/self/fd")), len(threads())) == (open_files, before)
    with pytest.raises(RuntimeError):
        next(scan)
    with pytest.raises(RuntimeError):
        pending.upload(storage.streams(9, EPOCH), never)


def test_a_checkpoint_stores_no_more_for_those_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does the database's folder grow: a manifest that all checkpoints are written to is stored with each."""
    monkeypatch.setattr(options, "LARGEST_MANIFEST_BYTES", 2_000)
    storage = InMemoryStorage(StorageContext(uri="memory:", job="job"), Place())
    backend = RocksDBBackend(context(tmp_path))
    stored: list[int] = []
    for checkpoint in range(1, 121):
        backend.table(VALUE).put(0, b"", [(b"k", b"%d" % checkpoint)], now_ms=0)
        snapshot = backend.snapshot(checkpoint)
        manifest = snapshot.upload(storage.streams(checkpoint, EPOCH), never)
        backend.confirmed(checkpoint)
        snapshot.release()
        stored.append(max(extent.length for extent in manifest.handles[-1].key_groups.values()))
    backend.close()
    assert max(stored[60:]) < 2 * max(stored[:20])


def test_a_restore_that_failed_leaves_nothing_in_the_folder(tmp_path: Path) -> None:
    storage = InMemoryStorage(StorageContext(uri="memory:", job="job"), Place())
    backend = RocksDBBackend(context(tmp_path))
    manifest = Manifest(format="rocksdb-1", checkpoint=1, subtask=0, first_key_group=0, end_key_group=4,
                        max_parallelism=8, handles=(), descriptors=(), opaque=b"\x91\xa8../../up")  # fmt: skip
    with pytest.raises(ValueError, match="cannot be read"):
        backend.restore([manifest], storage.streams(1, EPOCH), claimed=True)
    assert list(tmp_path.iterdir()) == []
    backend.close()


def test_full_snapshots_are_one_exclusive_file(tmp_path: Path) -> None:
    storage = InMemoryStorage(StorageContext(uri="memory:", job="job"), Place())
    backend = RocksDBBackend(context(tmp_path / "a", options={options.INCREMENTAL: "false"}))
    backend.table(VALUE).put(1, b"", [(b"k", b"v"), (b"l", b"w")], now_ms=0)
    backend.table(VALUE).put(3, b"", [(b"k", b"x")], now_ms=0)
    manifest = backend.snapshot(1).upload(storage.streams(1, EPOCH), never)
    [handle] = manifest.handles
    assert (handle.scope, set(handle.key_groups)) == (Scope.EXCLUSIVE, {1, 3})
    backend.close()
    half = RocksDBBackend(context(tmp_path / "b", range(2, 4)))
    half.restore([manifest], storage.streams(1, EPOCH), claimed=False)
    assert list(half.table(VALUE).scan(3, b"", now_ms=0)) == [(b"k", b"x")]
    half.close()


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({options.INCREMENTAL: "maybe"}, "execution.checkpointing.incremental is 'maybe'; allowed are true, false."),
        (
            {options.WRITE_BUFFER_RATIO: "1"},
            "memory.write-buffer-ratio is '1'; allowed is a number above 0 and below 1.",
        ),
        ({options.WRITE_BUFFER_SIZE: "1kb"}, "writebuffer.size is '1kb'; allowed are at least 65536 bytes."),
        ({options.BLOCK_SIZE: "4 apples"}, "block.blocksize: '4 apples' is not a memory size"),
        ({options.THREADS: "0"}, "thread.num is '0'; allowed is a whole number from 1."),
        (
            {options.COMPRESSION: "zip"},
            "compression.per.level is 'zip'; allowed are NO_COMPRESSION, SNAPPY_COMPRESSION, ",
        ),
        ({options.COMPACTION: "FIFO"}, "compaction.style is 'FIFO'; allowed are LEVEL, UNIVERSAL."),
        ({options.WRITE_BUFFERS: "1"}, "writebuffer.count is '1'; allowed is a whole number from 2."),
        ({options.BLOOM_BITS: "few"}, "bits-per-key is 'few'; allowed is a number from 1."),
        (
            {"state.backend.unknown": "1"},
            "option 'state.backend.unknown' is unknown; the nearest of 20 are ",
        ),
    ],
)
def test_a_bad_option_is_one_sentence(given: Mapping[str, str], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError) as raised:
        RocksDBBackend(context(tmp_path, options=given))
    assert sentence in str(raised.value)


def test_without_a_folder_there_is_no_database() -> None:
    with pytest.raises(ValueError, match="names no folder"):
        RocksDBBackend(replace(context(Path()), folder=None))


@pytest.mark.parametrize("compression", options.COMPRESSIONS)
def test_every_compression_is_there(compression: str, tmp_path: Path) -> None:
    given = {options.COMPRESSION: compression, options.BLOOM_FILTER: "true", options.MANAGED: "false"}
    backend = RocksDBBackend(context(tmp_path, options=given))
    table = backend.table(VALUE)
    table.put(0, b"", [(b"k", b"v" * 5_000)], now_ms=0)
    backend.cells.database.flush(True)
    assert table.get(0, b"", [b"k", b"l"], now_ms=0) == [b"v" * 5_000, None]
    backend.close()


REACHES = [
    ({}, "write_buffer_size=67108864", "max_background_jobs=2", "compression=kSnappyCompression", "block_size=4096"),
    ({options.WRITE_BUFFER_SIZE: "1 mb"}, "write_buffer_size=1048576"),
    ({options.WRITE_BUFFERS: "5"}, "max_write_buffer_number=5"),
    ({options.BUFFERS_TO_MERGE: "2", options.WRITE_BUFFERS: "4"}, "min_write_buffer_number_to_merge=2"),
    ({options.COMPACTION: "UNIVERSAL"}, "compaction_style=kCompactionStyleUniversal"),
    ({options.DYNAMIC_LEVELS: "true"}, "level_compaction_dynamic_level_bytes=true"),
    ({options.FILE_SIZE: "1 mb"}, "target_file_size_base=1048576"),
    ({options.LEVEL_SIZE: "2 mb"}, "max_bytes_for_level_base=2097152"),
    ({options.COMPRESSION: "NO_COMPRESSION;LZ4_COMPRESSION"}, "compression_per_level=kNoCompression:kLZ4Compression"),
    ({options.THREADS: "3"}, "max_background_jobs=3"),
    ({options.OPEN_FILES: "77"}, "max_open_files=77"),
    ({options.BLOCK_SIZE: "8 kb"}, "block_size=8192"),
    ({options.METADATA_BLOCK_SIZE: "2 kb"}, "metadata_block_size=2048"),
    ({options.BLOOM_FILTER: "true"}, "filter_policy=bloomfilter"),
    ({options.BLOCK_CACHE: "3 mb"}, "capacity : 3145728"),
    ({options.MANAGED: "true"}, "cache_index_and_filter_blocks=true", "capacity : 873813", "write_buffer_size=174762"),
    ({options.MANAGED: "true", options.WRITE_BUFFER_RATIO: "0.9"}, "capacity : 734003", "write_buffer_size=314572"),
    ({options.FIXED_MEMORY: "16 mb"}, "cache_index_and_filter_blocks=true", "capacity : 13981013"),
    ({options.FIXED_MEMORY: "16 mb", options.PARTITIONED_INDEX: "true"}, "kTwoLevelIndex", "partition_filters=true"),
]  # fmt: skip
"""What a user writes, and what the database then reports of itself; without a budget unless one is asked for."""


@pytest.mark.parametrize(("given", "reported"), [(given, reported) for given, *reported in REACHES])
def test_an_option_of_a_job_reaches_the_database(
    given: Mapping[str, str], reported: Sequence[str], tmp_path: Path
) -> None:
    wanted = {profile.BACKEND: "rocksdb", options.MANAGED: "false", **given}
    configuration = REFERENCE.configure(Plan(job=KEYED_SUM, workload=WorkloadSpec("synthetic"), options=wanted))
    taken = state_backends(configuration, disk=True).options
    backend = RocksDBBackend(context(tmp_path, options=taken))
    backend.table(VALUE).put(0, b"", [(b"k", b"v")], now_ms=0)
    [written], [log] = tmp_path.rglob("OPTIONS-*"), tmp_path.rglob("LOG")
    logged = written.read_text() + log.read_text()
    assert [each for each in reported if each not in logged] == []
    backend.close()


def test_bits_of_a_filter_reach_the_database(tmp_path: Path) -> None:
    """It does not report them: files with more of them are larger."""
    sizes = []
    for bits in ("2", "40"):
        given = {options.BLOOM_FILTER: "true", options.BLOOM_BITS: bits, options.MANAGED: "false"}
        backend = RocksDBBackend(context(tmp_path / bits, options=given))
        backend.table(VALUE).put(0, b"", [(b"%d" % number, b"v") for number in range(10_000)], now_ms=0)
        backend.cells.database.flush(True)
        sizes.append(sum(path.stat().st_size for path in (tmp_path / bits).rglob("*.sst")))
        backend.close()
    assert sizes[1] - sizes[0] > 30_000


def test_every_option_of_the_backend_is_one_of_a_job() -> None:
    known = {key for key in profile.OPTIONS if key.startswith(profile.ROCKSDB)}
    assert set(options.DECLARED) - {options.INCREMENTAL} == known - NOT_TAKEN


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.nightly
def test_ten_times_the_budget_is_written_stored_and_restored_within_it(tmp_path: Path) -> None:
    """160 MB of values with a budget of 16 MB; the process grows by less than half of what it holds."""
    budget_bytes, value_bytes, count = 16 << 20, 1 << 14, 10_240
    storage = FolderStreams(tmp_path / "storage")
    backend = RocksDBBackend(context(tmp_path / "a", range(2), memory_bytes=budget_bytes))
    table = backend.table(VALUE)
    before = resident_bytes()
    for number in range(count):
        table.put(number % 2, b"", [(b"%d" % number, shake_128(b"%d" % number).digest(value_bytes))], now_ms=0)
    manifest = backend.snapshot(1).upload(storage, never)
    backend.confirmed(1)
    table.put(0, b"", [(b"0", b"changed")], now_ms=0)
    second = backend.snapshot(2).upload(storage, never)
    assert sum(path.stat().st_size for path in storage.folder.iterdir()) > count * value_bytes
    backend.close()
    restored = RocksDBBackend(context(tmp_path / "b", range(2), memory_bytes=budget_bytes, attempt=2))
    known = {each.name: each.reference for each in manifest.handles}
    handles = tuple(replace(each, reference=each.reference or known[each.name]) for each in second.handles)
    restored.restore([replace(second, handles=handles)], storage, claimed=True)
    found = restored.table(VALUE)
    for number in range(1, count, 97):
        [value] = found.get(number % 2, b"", [b"%d" % number], now_ms=0)
        assert value == shake_128(b"%d" % number).digest(value_bytes)
    assert found.get(0, b"", [b"0"], now_ms=0) == [b"changed"]
    assert sum(1 for group in range(2) for _ in found.scan(group, b"", now_ms=0)) == count
    assert resident_bytes() - before < 5 * budget_bytes
    restored.close()


@pytest.mark.nightly
def test_long_programs() -> None:
    play(Bench(RocksDBBackend, HashMapBackend), LONG)
