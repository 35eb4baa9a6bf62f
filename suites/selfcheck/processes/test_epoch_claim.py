"""Coordinators that claim at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.fixtures.reference.drivers.processes.disk import FileDisk
from holdfast.fixtures.reference.protocol.storage.epoch import Epoch
from holdfast.fixtures.reference.protocol.storage.file_layout import FileLayout
from holdfast.fixtures.reference.protocol.storage.file_system import FileSystem


class Raced(FileSystem):
    """Another coordinator claims what this one is about to claim, as often as there are rivals."""

    rivals = 0

    def claim(self, path: str) -> None:
        if self.rivals:
            self.rivals -= 1
            super().claim(path)
        super().claim(path)


class Full(FileSystem):
    """Nothing can be made any more."""

    def claim(self, path: str) -> None:
        raise OSError("no space left.")


def claimed(files: FileSystem) -> int:
    """The epoch that a new coordinator claims."""
    epoch = Epoch(FileLayout(), files, 0)
    epoch.claim()
    return epoch.number


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[FileDisk]:
    disk = FileDisk(tmp_path)
    with disk.opened():
        yield disk


@pytest.mark.parametrize("rivals", [0, 1, 2])
def test_the_next_epoch_is_claimed_where_another_was_faster(disk: FileDisk, rivals: int) -> None:
    files = Raced(disk)
    files.rivals = rivals
    assert claimed(files) == 1 + rivals
    assert claimed(files) == 2 + rivals


def test_a_store_that_cannot_be_written_is_no_race(disk: FileDisk) -> None:
    with pytest.raises(OSError, match="no space left"):
        claimed(Full(disk))


def test_an_epoch_is_superseded_by_the_next_claim(disk: FileDisk) -> None:
    first, second = (Epoch(FileLayout(), FileSystem(disk), 0) for _ in range(2))
    assert not first.superseded()
    first.claim()
    assert not first.superseded()
    second.claim()
    assert first.superseded()
    assert not second.superseded()
