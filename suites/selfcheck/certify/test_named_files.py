"""The incremental backend passes the kit, and its files are those that its description promises."""

from __future__ import annotations

import pytest

from holdfast.fixtures.backends.hashmap import HashMapBackend
from holdfast.fixtures.backends.named_files import LONGEST_CHAIN, NamedFilesBackend
from holdfast.harness.spi.state import Manifest
from holdfast.suites.certify import state_backend
from holdfast.suites.certify.state_backend.bench import GROUPS, Bench, shared_paths
from holdfast.suites.certify.state_backend.checks import canonical
from holdfast.suites.certify.state_backend.live import Live
from holdfast.suites.certify.state_backend.programs import play
from holdfast.suites.selfcheck.certify.test_kit import LONG

# The certificate of the reference asks it, too.
test_named_files = pytest.mark.nightly(state_backend.kit("holdfast.fixtures.backends.named_files:NamedFilesBackend"))
# No other check has two backends.
test_hashmap_beside_it = state_backend.kit(HashMapBackend, NamedFilesBackend, canonical.CHECKS)


def checkpoint(bench: Bench, live: Live, key: bytes, *, completes: bool = True) -> Manifest:
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
    manifests = [checkpoint(bench, live, b"%d" % number) for number in range(LONGEST_CHAIN + 2)]
    assert [len(each.handles) for each in manifests] == [*range(1, LONGEST_CHAIN + 1), 1, 2]
    assert [len(shared_paths(each)) for each in manifests] == [1] * len(manifests)
    assert [each.base for each in manifests] == [None, *range(1, LONGEST_CHAIN), None, LONGEST_CHAIN + 1]
    assert [each.handles[0].reference is None for each in manifests] == [False, True, True, True, False, True]
    bench.close()


def test_an_aborted_checkpoint_is_no_base_and_its_changes_are_counted_again() -> None:
    bench = Bench(NamedFilesBackend, HashMapBackend)
    live = bench.fresh()
    first = checkpoint(bench, live, b"1")
    aborted = checkpoint(bench, live, b"2", completes=False)
    following = checkpoint(bench, live, b"3")
    assert (aborted.base, following.base) == (1, 1)
    assert [each.name for each in following.handles][:-1] == [each.name for each in first.handles]
    bench.restored(bench.completed[-1]).compare()
    bench.close()


def test_nothing_changed_is_no_file() -> None:
    bench = Bench(NamedFilesBackend, HashMapBackend)
    live = bench.fresh()
    checkpoint(bench, live, b"1")
    taken = live.snapshot()
    manifest = bench.upload(taken)
    assert [each.reference for each in manifest.handles] == [None]
    bench.restored(bench.complete(live, taken, manifest)).compare()
    bench.close()


@pytest.mark.nightly
def test_long_programs() -> None:
    play(Bench(NamedFilesBackend, HashMapBackend), LONG)
