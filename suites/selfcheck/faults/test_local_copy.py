"""Spoilt local copies: what becomes of them, and what proves it."""

from __future__ import annotations

import pytest

from holdfast.faults.local_copy import spoil_local_copy
from holdfast.fixtures.reference.drivers.controls.local_disk import Copies, SpoiltDisks
from holdfast.harness.model.events import LocalCopySpoilt
from holdfast.suites.selfcheck.faults.scene import NotedHarness, at, landed

OLD, NEW, OTHER = "job-0/sum[0]/copy-1", "job-0/sum[0]/copy-2", "job-0/sum[1]/copy-2"
DISKS = {0: {OLD: b"older", NEW: b"newer!"}, 1: {OTHER: b"another"}}


def spoilt(worker: int, way: str, *paths: str) -> LocalCopySpoilt:
    return LocalCopySpoilt(worker=worker, way=way, paths=paths)


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (spoilt(0, "flip", NEW), True),
        (spoilt(0, "flip"), False),
        (spoilt(1, "flip", OTHER), False),
        (spoilt(0, "truncate", NEW), False),
    ],
)
def test_it_lands_where_a_copy_of_the_worker_was_changed(event: LocalCopySpoilt, expected: bool) -> None:
    assert landed(spoil_local_copy(0, "flip"), [at(150, "harness", event)]) is expected


def test_to_remember_changes_nothing_and_lands() -> None:
    assert landed(spoil_local_copy(0, "remember"), [at(150, "harness", spoilt(0, "remember"))])


class Dictionaries:
    """Disks that are dictionaries, and what the harness recorded."""

    def __init__(self, disks: Copies) -> None:
        self.disks = {worker: dict(files) for worker, files in disks.items()}
        self.harness = NotedHarness()
        self.control = SpoiltDisks(self, self.harness)

    def copies(self) -> Copies:
        return self.disks

    def leave_copy(self, worker: int, path: str, content: bytes | None) -> None:
        if content is None:
            del self.disks[worker][path]
        else:
            self.disks[worker][path] = content

    def spoil(self, worker: int, way: str) -> dict[str, bytes | None]:
        """What becomes of the files that change."""
        before = {path: content for files in self.disks.values() for path, content in files.items()}
        self.control.spoil(worker, way)
        after = {path: content for files in self.disks.values() for path, content in files.items()}
        changed = {path: after.get(path) for path, content in before.items() if after.get(path) != content}
        assert self.harness.recorded.pop() == LocalCopySpoilt(worker=worker, way=way, paths=tuple(changed))
        return changed


@pytest.mark.parametrize(
    ("way", "expected"),
    [
        ("remove", {NEW: None}),
        ("truncate", {NEW: b"new"}),
        ("flip", {NEW: b"newdr!"}),
        ("foreign", {NEW: b"another"}),
        ("stale", {}),
    ],
)
def test_the_newest_copy_of_each_subtask_is_spoilt(way: str, expected: dict[str, bytes | None]) -> None:
    assert Dictionaries(DISKS).spoil(0, way) == expected


def test_a_stale_copy_is_one_that_was_there_before() -> None:
    disks = Dictionaries({0: {OLD: b"older"}})
    assert disks.spoil(0, "remember") == {}
    assert disks.spoil(0, "stale") == {}, "it is that copy"
    disks.disks[0][NEW] = b"newer!"
    assert disks.spoil(0, "stale") == {NEW: b"older"}


def test_an_unknown_way_is_refused() -> None:
    with pytest.raises(ValueError, match="way 'burn' is unknown; there are: remove"):
        Dictionaries(DISKS).spoil(0, "burn")
