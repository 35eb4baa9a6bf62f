"""Coordinators that claim at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.fixtures.reference.connectors.epoch_claim import claim_epoch
from holdfast.fixtures.reference.drivers.processes.disk import FileDisk
from holdfast.fixtures.reference.drivers.processes.file_store import FileStore
from holdfast.fixtures.reference.storage.file_layout import FileLayout

LAYOUT = FileLayout()


class Raced(FileStore):
    """Another coordinator claims what this one is about to, as often as it is told."""

    rivals = 0

    def claim(self, path: str) -> None:
        if self.rivals:
            self.rivals -= 1
            super().claim(path)
        super().claim(path)


class Full(FileStore):
    """Nothing can be made any more."""

    def claim(self, path: str) -> None:
        raise OSError("no space left.")


@pytest.mark.parametrize("rivals", [0, 1, 2])
def test_the_next_epoch_is_claimed_where_another_was_faster(tmp_path: Path, rivals: int) -> None:
    store = Raced(FileDisk(tmp_path), LAYOUT)
    store.rivals = rivals
    assert claim_epoch(store, LAYOUT, 0) == 1 + rivals
    assert claim_epoch(store, LAYOUT, 0) == 2 + rivals


def test_a_store_that_cannot_be_written_is_no_race(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no space left"):
        claim_epoch(Full(FileDisk(tmp_path), LAYOUT), LAYOUT, 0)
