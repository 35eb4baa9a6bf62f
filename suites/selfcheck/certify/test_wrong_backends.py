"""Each wrong backend is refuted by the check that is meant for it, which every right one passes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from threading import Semaphore

import pytest
from msgspec.structs import replace

from holdfast.fixtures.backends.blocks import Content
from holdfast.fixtures.backends.changelog.backend import changelog
from holdfast.fixtures.backends.hashmap import HashMapBackend
from holdfast.fixtures.backends.heap import HeapCells, View
from holdfast.fixtures.backends.named_files import Base, NamedFilesBackend, NamedFilesSnapshot
from holdfast.fixtures.backends.rocksdb.backend import RocksDBBackend
from holdfast.fixtures.backends.table import Cell, Stored
from holdfast.fixtures.mutants.state_backends import VARIANTS
from holdfast.fixtures.mutants.state_backends.beyond import StoresSeveralFiles
from holdfast.fixtures.mutants.state_backends.holding import CopiesByNumber, TrustsItsFolder
from holdfast.fixtures.mutants.state_backends.increments import with_snapshot
from holdfast.fixtures.mutants.state_backends.restores import ConvertsWhatIsRead, ReplaysItsLog
from holdfast.harness.model.status import Status
from holdfast.harness.spi.state import KeyedStateBackendFactory, Manifest, SnapshotKind
from holdfast.harness.spi.storage import CheckpointStreamFactory
from holdfast.suites.certify import state_backend
from holdfast.suites.certify.check import CheckVerdict
from holdfast.suites.certify.state_backend import judge, programs, world
from holdfast.suites.selfcheck.certify.written import refuting, unshrunk

CHECKS = {check.id: check for check in state_backend.CHECKS}
EVERYWHERE = frozenset({"INC-02", "INC-03", "ASY-01", "SBK-05"})
"""Rules that several checks can find broken."""
KILLED_BY = {
    "mixes-namespaces": "SBK-01/program",
    "scan-shows-later-writes": "SBK-01/program",
    "scan-includes-its-end": "SBK-01/program",
    "scans-in-pages": "SBK-01/many-keys",
    "scans-behind-close": "SBK-02/released",
    "clear-keeps-its-room": "SBK-01/emptied-budget",
    "counts-all-of-a-batch": "SBK-01/emptied-budget",
    "empty-is-nothing": "SBK-01/program",
    "folds-backwards": "SBK-01/program",
    "swallows-full": "SBK-01/full-budget",
    "puts-in-portions": "SBK-01/program",
    "half-a-batch": "SBK-01/lengths",
    "half-of-its-limit": "SBK-01/lengths",
    "merges-up-to-half": "SBK-01/merged-length",
    "reading-renews": "SBK-01/program",
    "one-millisecond-too-long": "SBK-01/program",
    "fires-too-early": "SBK-01/program",
    "deleted-timers-fire": "SBK-01/program",
    "ignores-options": "SBK-09/options",
    "sees-later-writes": "ASY-02/program",
    "sees-later-removals": "SBK-03/program",
    "large-have-no-versions": "SBK-03/program",
    "release-frees-others": "SBK-03/program",
    "release-unmarks-others": "SBK-03/program",
    "second-release-frees-another": "SBK-03/program",
    "counts-releases": "SBK-03/program",
    "confirmed-frees-the-older": "SBK-03/program",
    "M1-forgets-timers": "SBK-02/program",
    "stores-first-elements": "SBK-02/program",
    "swallows-errors": "SBK-02/upload-errors",
    "cannot-repeat": "SBK-02/upload-errors",
    "asks-too-late": "ASY-05/cancelled",
    "entries-of-now": "SBK-06/program",
    "entries-live-for-ever": "SBK-06/program",
    "fires-again": "SBK-02/program",
    "one-lock": "ASY-02/program",
    "numbers-repeat": "SBK-02/ascending",
    "forgets-restored-number": "SBK-02/ascending",
    "reads-another-range": "SBK-05/program",
    "first-part-only": "SBK-05/program",
    "counts-its-groups": "SBK-05/gaps",
    "N2-half-restored": "SBK-02/restore-errors",
    "skips-damage": "SBK-02/restore-errors",
    "starts-empty": "SBK-02/restore-errors",
    "M1-timers-sleep": "SBK-02/program",
    "names-by-format": "SBK-04/program",
    "unregistered-live-for-ever": "SBK-02/unregistered-expiry",
    "renews-at-restore": "SBK-02/expiry",
    "N2-replays-its-log": "SBK-02/program",
    "forgets-the-unread": "SBK-02/program",
    "takes-any-schema": "SBK-04/incompatible",
    "O3-takes-any-parallelism": "SBK-04/of-another-job",
    "converts-again": "SBK-04/program",
    "converts-one-by-one": "SBK-04/refusing-function",
    "converts-in-snapshots": "SBK-04/under-a-snapshot",
    "converted-live-for-ever": "SBK-04/program",
    "converts-what-is-read": "SBK-04/program",
    "converts-what-is-got": "SBK-04/program",
    "recomputes-expiry": "SBK-04/other-ttl",
    "keeps-the-old-ttl": "SBK-04/other-ttl",
    "keeps-foreign-entries": "SBK-06/program",
    "takes-foreign-entries": "SBK-06/program",
    "answers-beside-its-groups": "SBK-05/program",
    "drops-namespaces": "SBK-06/another-backend",
    "F3-rests-on-the-uploaded": "INC-01/program",
    "forgets-behind-the-confirmed": "INC-01/aborted-behind",
    "restores-for-free": "SBK-01/restored-budget",
    "restores-beyond-the-budget": "SBK-01/restored-budget",
    "keeps-empty-namespaces": "SBK-01/program",
    "describes-the-upload": "SBK-02/registered-during",
    "lengths-of-two-bytes": "SBK-01/lengths",
    "groups-of-one-byte": "SBK-05/program",
    "states-of-the-first": "SBK-02/program",
    "omits-removals": "INC-01/program",
    "stores-everything": "SBK-09/incremental",
    "increments-of-everything": "INC-01/small-changes",
    "forgets-aborted-changes": "INC-01/program",
    "back-to-the-older": "INC-02/program",
    "last-confirmed": "INC-02/program",
    "F1-deletes-the-subsumed": "INC-02/program",
    "F5-same-names": "INC-02/names",
    "names-by-origin": "INC-02/names",
    "stores-again": "INC-03/lost-answers",
    "leaves-failed-uploads": "SBK-02/upload-errors",
    "claims-the-unclaimed": "INC-02/unclaimed",
    "claims-behind-an-abort": "INC-02/unclaimed",
    "claims-several-parts": "SBK-05/program",
    "claims-of-another-subtask": "SBK-05/program",
    "names-without-subtask": "SBK-05/program",
    "same-value-is-no-change": "SBK-02/expiry",
    "shared-savepoints": "INC-02/savepoint-between",
    "full-above-a-few": "INC-08/change-rates",
    "reads-the-first-64": "SBK-11/operations",
    "savepoints-of-nothing": "SBK-02/savepoint",
    "savepoints-forget-removals": "INC-02/savepoint-between",
    "dashed-names": "INC-02/operators",
    "reversed-chain": "SBK-02/crashes",
    "unknown-placeholders": "INC-02/program",
    "moves-extents": "SBK-02/program",
    "keeps-released-views": "ASY-06/freed",
    "keeps-every-version": "ASY-06/versions",
    "spills-nowhere": "SBK-08/within-memory",
    "leaves-out-the-too-large": "SBK-07/one-file",
    "makes-room": "SBK-10/together",
    "deletes-the-merged": "INC-04/golden-run",
    "trusts-its-folder": "LOC-01/on-and-off",
    "needs-its-copy": "LOC-02/full-disk",
    "trusts-half-a-copy": "LOC-03/full-disk",
    "copies-by-number": "LOC-03/numbers-again",
    "needs-its-folder": "LOC-02/no-folder",
    "rocksdb-F3-rests-on-the-uploaded": "INC-01/program",
    "rocksdb-F5-names-of-tables": "INC-02/names",
    "rocksdb-copies-whole-parts": "SBK-05/program",
    "rocksdb-links-without-flush": "SBK-02/program",
    "rocksdb-old-manifest": "INC-01/program",
    "rocksdb-keeps-its-folders": "ASY-06/freed",
    "rocksdb-claims-foreign-tables": "INC-02/unclaimed",
    "changelog-cuts-too-early": "INC-01/program",
    "changelog-replays-twice": "INC-09/replay",
    "changelog-gives-up-at-once": "INC-09/failed-materializations",
    "changelog-never-gives-up": "INC-09/failed-materializations",
    "changelog-forgets-conversions": "SBK-04/program",
    "changelog-loses-its-materialization": "INC-02/program",
    "joins-names": "SBK-01/program",
    "answers-with-views": "SBK-01/program",
    "reuses-its-answer": "SBK-01/program",
    "loses-the-evicted": "SBK-01/many-keys",
    "leaves-a-thread": "ASY-06/closed",
    "leaves-a-file": "ASY-06/closed",
    "wipes-its-successor": "REC-09/program",
    "aborts-by-number": "REC-09/program",
    "merges-in-portions": "SBK-01/program",
    "answers-once": "SBK-01/many-keys",
    "converts-by-group": "SBK-04/refusing-somewhere",
    "forgets-large-clears": "SBK-02/many-changes",
    "merges-without-removals": "INC-01/program",
    "trusts-long-extents": "SBK-02/large-damage",
    "leaves-the-first-files": "INC-03/large-errors",
    "asks-once": "ASY-05/large-cancelled",
}
SHRUNK = ("scan-shows-later-writes", "deleted-timers-fire", "sees-later-removals")
"""Of what drawn programs refute, some whose smallest programs are looked at."""


@pytest.fixture(autouse=True)
def _less_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is held up here is held up for ever."""
    monkeypatch.setattr(world, "PATIENCE_S", 1.0)


def refuted(variant: str, check: str) -> CheckVerdict:
    verdict = refuting(judge(CHECKS[check], VARIANTS[variant], HashMapBackend), *EVERYWHERE)
    assert verdict.witness
    return verdict


def test_each_variant_is_in_the_table() -> None:
    assert VARIANTS.keys() == KILLED_BY.keys()


@pytest.mark.parametrize(("variant", "check"), KILLED_BY.items())
@pytest.mark.share(2)
def test_it_is_refuted_by_its_check(variant: str, check: str) -> None:
    with unshrunk():
        refuted(variant, check)


def test_whoever_was_held_up_is_not_waited_for_as_long_in_smaller_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The certificate of a backend with one lock took longer than its limit."""
    waited_s: list[float] = []

    class Noting(Semaphore):
        def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:
            if timeout:
                waited_s.append(timeout)
            return super().acquire(blocking, timeout)

    monkeypatch.setattr(world, "Semaphore", Noting)
    monkeypatch.setattr(programs, "LITTLE_PATIENCE_S", 0.01)
    refuted("one-lock", KILLED_BY["one-lock"])
    known = waited_s.index(0.01)
    assert set(waited_s[:known]) == {world.PATIENCE_S}
    assert set(waited_s[known:]) == {0.01}


@pytest.mark.nightly
@pytest.mark.parametrize("variant", SHRUNK)
def test_a_program_that_refutes_it_is_short_and_the_same_again(variant: str) -> None:
    verdict = refuted(variant, KILLED_BY[variant])
    assert 2 <= len(verdict.witness) <= 12, verdict.text
    assert "steps before" not in verdict.text
    assert refuted(variant, KILLED_BY[variant]) == verdict


class WipesItsLog(ReplaysItsLog):
    """The right twin of N2: it finds the file of the dead attempt, and begins another."""

    def restore(self, parts: Sequence[Manifest], streams: CheckpointStreamFactory, *, claimed: bool) -> None:
        assert self.context.folder is not None
        (self.context.folder / "log").unlink(missing_ok=True)
        super().restore(parts, streams, claimed=claimed)


class ReadsItsCopy(TrustsItsFolder):
    """The right twin of that one: what the copy does not hold is read from the storage."""

    def loaded(self, parts: Sequence[Manifest], streams: CheckpointStreamFactory) -> Iterator[tuple[Cell, Stored]]:
        assert self.context.folder is not None
        copied = [each for each in parts if (self.context.folder / f"copy-{each.checkpoint}").exists()]
        covered = [range(each.first_key_group, each.end_key_group) for each in copied]
        own = covered == [self.context.key_groups]
        return super().loaded(parts, streams) if own else HashMapBackend.loaded(self, parts, streams)


class CountsItsCopy(CopiesByNumber):
    """The right twin of both: a copy with too few lines is passed over, and an attempt keeps none of others."""

    def loaded(self, parts: Sequence[Manifest], streams: CheckpointStreamFactory) -> Iterator[tuple[Cell, Stored]]:
        own = self.copy_of(max((each.checkpoint for each in parts), default=0))
        for other in own.parent.glob("copy-*"):
            if other != own:
                other.unlink()
        return super().loaded(parts, streams)


class ConvertsBeforeSnapshots(HashMapBackend):
    """A near miss: values are converted when they are read, and what is left when a snapshot is taken."""

    def make_cells(self) -> HeapCells:
        return _ReadFirst(self.context.memory_bytes)


class _ReadFirst(ConvertsWhatIsRead):
    def open_view(self) -> View:
        self.read(list(self.waiting))
        return super().open_view()


class KeyGroupsSnapshot(NamedFilesSnapshot):
    """Stores each key group that has changed."""

    def increment(self) -> Content:
        groups = {cell.key_group for cell in self.changed}
        beside = {cell for group, cells in self.full_content() if group in groups for cell, _ in cells}
        return self.content_of(self.changed | beside)


class RewritesKeyGroups(NamedFilesBackend):
    """A near miss: one changed value takes along those of its key group, a quarter of all."""

    def make_snapshot(self, checkpoint: int, kind: SnapshotKind) -> NamedFilesSnapshot:
        return KeyGroupsSnapshot(self, checkpoint, kind)


class RefersInFull(NamedFilesBackend):
    """A near miss: files of its base are referred to by their references, and not by placeholders."""

    def confirmed(self, checkpoint: int) -> None:
        files = self.uploaded.get(checkpoint)
        super().confirmed(checkpoint)
        if files is not None and self._base is not None and self._base.checkpoint == checkpoint:
            self._base = Base(checkpoint, files)


class ShortValues(HashMapBackend):
    """A near miss: it takes what it declares, which drawn values and merges would outgrow."""

    description = replace(HashMapBackend.description, max_value_bytes=4_096)


ALSO_RIGHT: Mapping[str, Sequence[KeyedStateBackendFactory]] = {
    "SBK-01/lengths": [ShortValues],
    "SBK-01/merged-length": [ShortValues],
    "SBK-03/program": [ShortValues],
    "SBK-02/program": [WipesItsLog],
    "LOC-01/on-and-off": [WipesItsLog, ReadsItsCopy, CountsItsCopy],
    "LOC-02/full-disk": [ReadsItsCopy, CountsItsCopy],
    "LOC-02/no-folder": [ReadsItsCopy, CountsItsCopy],
    "LOC-03/full-disk": [CountsItsCopy],
    "LOC-03/numbers-again": [CountsItsCopy],
    "SBK-04/program": [ConvertsBeforeSnapshots],
    "SBK-04/under-a-snapshot": [ConvertsBeforeSnapshots],
    "SBK-04/refusing-function": [ConvertsBeforeSnapshots],
    "SBK-04/refusing-somewhere": [ConvertsBeforeSnapshots],
    "ASY-05/large-cancelled": [with_snapshot(StoresSeveralFiles)],
    "INC-03/large-errors": [with_snapshot(StoresSeveralFiles)],
    "SBK-02/large-damage": [with_snapshot(StoresSeveralFiles)],
    "SBK-02/restore-errors": [ReadsItsCopy],
    "INC-01/small-changes": [RewritesKeyGroups],
    "INC-08/change-rates": [RewritesKeyGroups],
    "SBK-07/one-file": [RefersInFull],
    "SBK-10/together": [RefersInFull],
    "SBK-08/within-memory": [RocksDBBackend],
}
"""To whom a check applies, where it does not to most, or who comes near to what it refutes."""


def test_a_local_file_that_is_wiped_is_accepted() -> None:
    assert judge(CHECKS["SBK-02/program"], WipesItsLog, HashMapBackend).status is Status.PASS


@pytest.mark.parametrize("check", sorted({*KILLED_BY.values()}))
@pytest.mark.share(12)
def test_the_same_check_accepts_the_right_ones(check: str) -> None:
    right_ones = (HashMapBackend, NamedFilesBackend, changelog(HashMapBackend), *ALSO_RIGHT.get(check, ()))
    statuses = {judge(CHECKS[check], right, HashMapBackend).status for right in right_ones}
    assert Status.PASS in statuses
    assert statuses <= {Status.PASS, Status.NOT_APPLICABLE}
