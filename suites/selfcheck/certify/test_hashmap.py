"""Our backends: the hash map, the changelog and the incremental one keep and store what they promise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from holdfast.fixtures.backends.changelog.backend import CHECKPOINTS, MAX_FAILURES, ChangelogBackend, changelog
from holdfast.fixtures.backends.changelog.log import IN_MEMORY_BYTES, Change, Replay, Segment
from holdfast.fixtures.backends.hashmap import HashMapBackend
from holdfast.fixtures.backends.heap import OVERHEAD_BYTES
from holdfast.fixtures.backends.named_files import LONGEST_CHAIN, NamedFilesBackend
from holdfast.fixtures.storages.in_memory import StorageFault
from holdfast.harness.spi.errors import Full, Transient
from holdfast.harness.spi.state import (
    KeyedStateBackend,
    KeyedStateBackendFactory,
    Manifest,
    StateContext,
    StateDescriptor,
    StateEntry,
    StateKind,
)
from holdfast.suites.certify import state_backend
from holdfast.suites.certify.answers import behind
from holdfast.suites.certify.state_backend.bench import GROUPS, Bench, shared_paths
from holdfast.suites.certify.state_backend.checks import moves
from holdfast.suites.certify.state_backend.live import Live
from holdfast.suites.certify.state_backend.programs import play
from holdfast.suites.selfcheck.certify.test_kit import LONG, Plain

VALUE = StateDescriptor(name="value", kind=StateKind.VALUE)
MORTAL = StateDescriptor(name="mortal", kind=StateKind.VALUE, ttl_ms=10)
FACTORY: KeyedStateBackendFactory = HashMapBackend


def context(groups: int, **fields: Any) -> StateContext:
    made = StateContext(job="job", operator="operator", subtask=0, attempt=1, key_groups=range(groups),
                        max_parallelism=groups, memory_bytes=1 << 20)  # fmt: skip
    return replace(made, **fields)


def made(memory_bytes: int = 1 << 20) -> HashMapBackend:
    return HashMapBackend(context(2, memory_bytes=memory_bytes))


def kept(backend: HashMapBackend) -> list[int]:
    """Copies that each open snapshot holds."""
    return [sum(map(len, view.before.values())) for view in backend.cells._views]


def test_it_is_a_keyed_state_backend() -> None:
    backend: KeyedStateBackend = made()
    assert backend.describe().name == "hashmap"


def test_a_snapshot_holds_what_has_changed_since_and_no_more() -> None:
    backend = made()
    table = backend.table(VALUE)
    table.put(0, b"", [(b"%d" % number, b"v") for number in range(100)], now_ms=0)
    first = backend.snapshot(1)
    assert kept(backend) == [0]
    table.put(0, b"", [(b"1", b"w"), (b"2", b"w"), (b"new", b"w")], now_ms=0)
    table.put(0, b"", [(b"1", b"x")], now_ms=0)
    second = backend.snapshot(2)
    table.remove(0, b"", [b"1", b"3"])
    assert kept(backend) == [4, 2]
    first.release()
    assert kept(backend) == [2]
    second.release()
    table.clear(0, b"")
    assert kept(backend) == []


def test_the_budget_counts_what_is_there_and_expired_values_make_room() -> None:
    backend = made(2 * (OVERHEAD_BYTES + 3))
    table = backend.table(MORTAL)
    table.put(0, b"n", [(b"1", b"v"), (b"2", b"v")], now_ms=0)
    with pytest.raises(Full, match="memory_bytes"):
        table.put(0, b"n", [(b"1", b"v"), (b"3", b"v")], now_ms=9)
    assert table.get(0, b"n", [b"1", b"2", b"3"], now_ms=9) == [b"v", b"v", None]
    table.put(0, b"n", [(b"3", b"v")], now_ms=10)
    assert table.namespaces(0) == [b"n"]
    assert backend.cells.used_bytes == OVERHEAD_BYTES + 3


AREAS = ("INC-", "SBK-05/")
INCREMENTAL = [check for check in state_backend.CHECKS if check.id.startswith(AREAS)]
"""What a changelog and an incremental backend have to do with each other; the rest is left to the night."""
DRAWN = [check for check in INCREMENTAL if check.id.endswith("/program")]
"""Their files are those of named files in a tenth of the time."""
# The certificate of the reference asks it, too.
test_over_hashmap = pytest.mark.nightly(state_backend.kit("hashmap+changelog"))
test_over_rocksdb = state_backend.kit("rocksdb+changelog", checks=[each for each in INCREMENTAL if each not in DRAWN])
test_programs_over_named_files = state_backend.kit("named-files+changelog", checks=DRAWN)
test_over_named_files = pytest.mark.nightly(state_backend.kit("named-files+changelog"))
test_all_over_rocksdb = pytest.mark.nightly(state_backend.kit("rocksdb+changelog"))
test_twice = pytest.mark.nightly(state_backend.kit("hashmap+changelog+changelog"))
GROUP = GROUPS.start


def logged(bench: Bench) -> tuple[Live, ChangelogBackend]:
    live = bench.fresh()
    backend = behind(live.backend)
    assert isinstance(backend, ChangelogBackend)
    return live, backend


def checkpoint(bench: Bench, live: Live, key: bytes) -> Manifest:
    live.put("value", GROUP, b"", [(key, b"v")])
    taken = live.snapshot()
    manifest = bench.upload(taken)
    taken.snapshot.release()
    bench.complete(live, taken, manifest)
    return manifest


def kinds(manifest: Manifest) -> list[str]:
    return [each.name.rpartition("-")[2] for each in manifest.handles]


def test_every_fourth_checkpoint_materializes_and_those_between_add_one_segment() -> None:
    bench = Bench(changelog(HashMapBackend), HashMapBackend)
    live, _ = logged(bench)
    manifests = [checkpoint(bench, live, b"%d" % number) for number in range(6)]
    assert [len(each.handles) for each in manifests] == [1, 2, 3, 4, 1, 2]
    assert [each.base for each in manifests] == [None, 1, 2, 3, None, 5]
    assert [sum(handle.reference is not None for handle in each.handles) for each in manifests] == [1] * 6
    assert kinds(manifests[3]) == ["1", "log", "log", "log"]
    assert bench.close() == []


def test_the_log_is_cut_at_a_checkpoint_that_is_confirmed_and_not_before() -> None:
    bench = Bench(changelog(HashMapBackend), HashMapBackend)
    live, backend = logged(bench)
    checkpoint(bench, live, b"1")
    assert backend._ended == []
    taken = live.snapshot()
    manifest = bench.upload(taken)
    live.snapshot()
    assert [each for each, _ in backend._ended] == [2, 3]
    bench.complete(live, taken, manifest)
    assert [each for each, _ in backend._ended] == [3]
    assert bench.close() == []


def test_a_materialization_that_fails_costs_a_segment_and_too_many_in_a_row_the_checkpoint() -> None:
    bench = Bench(changelog(HashMapBackend), HashMapBackend)
    backend = bench.backend(bench.factory, options={CHECKPOINTS: "1", MAX_FAILURES: "2"})
    live = bench.adopt(backend, GROUPS, bench.fresh().model)
    first = checkpoint(bench, live, b"0")
    assert len(first.handles) == 1
    for number in range(2):
        live.put("value", GROUP, b"", [(b"k", b"%d" % number)])
        taken = live.snapshot()
        manifest = bench.upload(taken, bench.storage({0: StorageFault.ERROR}))
        assert kinds(manifest)[-1] == "log"
        completed = bench.complete(live, taken, manifest)
        bench.restored(completed).compare()
        bench.check_leaks()
    live.put("value", GROUP, b"", [(b"k", b"last")])
    taken = live.snapshot()
    with pytest.raises(Transient):
        bench.upload(taken, bench.storage({0: StorageFault.ERROR}))
    manifest = bench.upload(taken)
    assert len(manifest.handles) == 1
    bench.restored(bench.complete(live, taken, manifest)).compare()
    assert bench.close() == []


def test_a_wrapped_increment_rests_on_the_materialization_that_the_base_has() -> None:
    from holdfast.fixtures.backends.named_files import NamedFilesBackend

    bench = Bench(changelog(NamedFilesBackend), HashMapBackend)
    live, _ = logged(bench)
    manifests = [checkpoint(bench, live, b"%d" % number) for number in range(9)]
    assert [len(each.handles) for each in manifests] == [1, 2, 3, 4, 2, 3, 4, 5, 3]
    bench.restored(bench.completed[-1]).compare()
    assert bench.close() == []


def test_a_segment_leaves_memory_for_a_local_file(tmp_path: Path) -> None:
    segment = Segment(tmp_path)
    segment.append([Change("s", 0, b"", b"k", b"v" * IN_MEMORY_BYTES)])
    segment.append([])
    assert sum(map(len, segment.pieces())) > IN_MEMORY_BYTES
    segment.hold()
    segment.let_go()
    assert list(segment.pieces())
    segment.let_go()
    with pytest.raises(ValueError, match="closed"):
        list(segment.pieces())


def test_of_one_cell_the_latest_change_counts_and_a_cleared_namespace_is_empty() -> None:
    replay = Replay(frozenset({"t"}))
    assert not replay
    for change in (
        Change("s", 0, b"n", b"gone", b"v"),
        Change("s", 0, b"n"),
        Change("s", 0, b"n", b"k", b"1"),
        Change("s", 0, b"n", b"k", b"2", 7),
        Change("s", 0, b"", b"removed", removed=True),
        Change("t", 0, b"", b"k", b"later"),
        Change("t", 0, b"", b"k", b"fired", removed=True),
    ):
        replay.add(change)
    assert replay
    entries = [
        StateEntry("s", 0, b"", b"kept", b"v"),
        StateEntry("s", 0, b"", b"removed", b"v"),
        StateEntry("s", 0, b"n", b"old", b"v"),
        StateEntry("t", 0, b"", b"k", b"fired"),
        StateEntry("t", 0, b"", b"k", b"other"),
    ]
    assert sorted(replay.over(entries)) == [
        StateEntry("s", 0, b"", b"kept", b"v"),
        StateEntry("s", 0, b"n", b"k", b"2", 7),
        StateEntry("t", 0, b"", b"k", b"later"),
        StateEntry("t", 0, b"", b"k", b"other"),
    ]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({CHECKPOINTS: "0"}, f"{CHECKPOINTS} is '0'; allowed is a whole number from 1."),
        ({MAX_FAILURES: "-1"}, f"{MAX_FAILURES} is '-1'; allowed is a whole number from 0."),
        ({"state.unknown": "1"}, "option 'state.unknown' is unknown"),
    ],
)
def test_a_bad_option_is_one_sentence(options: dict[str, str], sentence: str) -> None:
    with pytest.raises(ValueError) as raised:
        changelog(HashMapBackend)(context(4, options=options))
    assert str(raised.value).startswith(sentence)


def test_what_has_no_canonical_form_is_refused() -> None:
    with pytest.raises(ValueError, match="needs canonical entries, which hashmap does not declare"):
        changelog(Plain)(context(4))


# The certificate of the reference asks it, too.
test_named_files = pytest.mark.nightly(state_backend.kit("holdfast.fixtures.backends.named_files:NamedFilesBackend"))
# No other check has two backends.
OF_CANONICAL_FORM = [check for check in moves.CHECKS if check.rule == "SBK-06"]
test_hashmap_beside_it = state_backend.kit(HashMapBackend, NamedFilesBackend, OF_CANONICAL_FORM)


def stored_checkpoint(bench: Bench, live: Live, key: bytes, *, completes: bool = True) -> Manifest:
    live.put("value", GROUPS.start, b"", [(key, b"v")])
    taken = live.snapshot()
    manifest = bench.upload(taken)
    if completes:
        bench.complete(live, taken, manifest)
    else:
        bench.abort(live, taken, manifest)
    return manifest


def test_a_chain_grows_by_one_file_and_begins_anew() -> None:
    bench = Bench(NamedFilesBackend, HashMapBackend)
    live = bench.fresh()
    manifests = [stored_checkpoint(bench, live, b"%d" % number) for number in range(LONGEST_CHAIN + 2)]
    assert [len(each.handles) for each in manifests] == [*range(1, LONGEST_CHAIN + 1), 1, 2]
    assert [len(shared_paths(each)) for each in manifests] == [1] * len(manifests)
    assert [each.base for each in manifests] == [None, *range(1, LONGEST_CHAIN), None, LONGEST_CHAIN + 1]
    assert [each.handles[0].reference is None for each in manifests] == [False, True, True, True, False, True]
    bench.close()


def test_an_aborted_checkpoint_is_no_base_and_its_changes_are_counted_again() -> None:
    bench = Bench(NamedFilesBackend, HashMapBackend)
    live = bench.fresh()
    first = stored_checkpoint(bench, live, b"1")
    aborted = stored_checkpoint(bench, live, b"2", completes=False)
    following = stored_checkpoint(bench, live, b"3")
    assert (aborted.base, following.base) == (1, 1)
    assert [each.name for each in following.handles][:-1] == [each.name for each in first.handles]
    bench.restored(bench.completed[-1]).compare()
    bench.close()


def test_nothing_changed_is_no_file() -> None:
    bench = Bench(NamedFilesBackend, HashMapBackend)
    live = bench.fresh()
    stored_checkpoint(bench, live, b"1")
    taken = live.snapshot()
    manifest = bench.upload(taken)
    assert [each.reference for each in manifest.handles] == [None]
    bench.restored(bench.complete(live, taken, manifest)).compare()
    bench.close()


@pytest.mark.nightly
def test_long_programs() -> None:
    play(Bench(NamedFilesBackend, HashMapBackend), LONG)
