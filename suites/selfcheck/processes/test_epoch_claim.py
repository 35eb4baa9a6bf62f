"""Coordinators that claim at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.fixtures.reference.protocol.storage.epoch import Epoch
from holdfast.fixtures.reference.protocol.storage.file_layout import FileLayout
from holdfast.fixtures.reference.protocol.storage.files import Files, Permission, permitted_always
from holdfast.fixtures.storages.file_system import FileMedium


class Raced(Files):
    """Another coordinator claims what this one is about to claim, as often as there are rivals."""

    rivals = 0

    def publish(self, path: str, content: bytes | memoryview, permitted: Permission = permitted_always) -> None:
        if self.rivals:
            self.rivals -= 1
            super().publish(path, content, permitted)
        super().publish(path, content, permitted)


class Full(Files):
    """Nothing can be made any more."""

    def publish(self, path: str, content: bytes | memoryview, permitted: Permission = permitted_always) -> None:
        raise OSError("no space left.")


def claimed(files: Files) -> int:
    """The epoch that a new coordinator claims."""
    epoch = Epoch(FileLayout(), files, 0)
    epoch.claim()
    return epoch.number


@pytest.fixture
def disk(tmp_path: Path) -> FileMedium:
    return FileMedium(tmp_path)


@pytest.mark.parametrize("rivals", [0, 1, 2])
def test_the_next_epoch_is_claimed_where_another_was_faster(disk: FileMedium, rivals: int) -> None:
    files = Raced(disk)
    files.rivals = rivals
    assert claimed(files) == 1 + rivals
    assert claimed(files) == 2 + rivals


def test_a_store_that_cannot_be_written_is_no_race(disk: FileMedium) -> None:
    with pytest.raises(OSError, match="no space left"):
        claimed(Full(disk))


def test_an_epoch_is_superseded_by_the_next_claim(disk: FileMedium) -> None:
    first, second = (Epoch(FileLayout(), Files(disk), 0) for _ in range(2))
    assert not first.superseded()
    first.claim()
    assert not first.superseded()
    second.claim()
    assert first.superseded()
    assert not second.superseded()
