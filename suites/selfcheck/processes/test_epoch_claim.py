"""Coordinators that claim at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.fixtures.reference.drivers.processes.disk import FileDisk
from holdfast.fixtures.reference.protocol.storage.epoch import Epoch
from holdfast.fixtures.reference.protocol.storage.file_layout import FileLayout
from holdfast.fixtures.reference.protocol.storage.file_system import FileSystem
from holdfast.fixtures.reference.protocol.storage.steps import Steps
from holdfast.suites.selfcheck.storing import carried_out


class Raced(FileSystem):
    """Another coordinator claims what this one is about to claim, as often as there are rivals."""

    rivals = 0

    def claim(self, path: str) -> Steps[None]:
        if self.rivals:
            self.rivals -= 1
            yield from super().claim(path)
        yield from super().claim(path)


class Full(FileSystem):
    """Nothing can be made any more."""

    def claim(self, path: str) -> Steps[None]:
        raise OSError("no space left.")


def claimed(files: FileSystem, disk: FileDisk) -> int:
    """The epoch that a new coordinator claims."""
    epoch = Epoch(FileLayout(), files, 0)
    carried_out(epoch.claim(), disk)
    return epoch.number


@pytest.mark.parametrize("rivals", [0, 1, 2])
def test_the_next_epoch_is_claimed_where_another_was_faster(tmp_path: Path, rivals: int) -> None:
    files, disk = Raced(), FileDisk(tmp_path)
    files.rivals = rivals
    assert claimed(files, disk) == 1 + rivals
    assert claimed(files, disk) == 2 + rivals


def test_a_store_that_cannot_be_written_is_no_race(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no space left"):
        claimed(Full(), FileDisk(tmp_path))


def test_an_epoch_is_superseded_by_the_next_claim(tmp_path: Path) -> None:
    disk = FileDisk(tmp_path)
    first, second = (Epoch(FileLayout(), FileSystem(), 0) for _ in range(2))
    assert not carried_out(first.superseded(), disk)
    carried_out(first.claim(), disk)
    assert not carried_out(first.superseded(), disk)
    carried_out(second.claim(), disk)
    assert carried_out(first.superseded(), disk)
    assert not carried_out(second.superseded(), disk)
