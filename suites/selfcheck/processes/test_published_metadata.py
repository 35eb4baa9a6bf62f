"""What a coordinator finds while one that it has superseded still deletes."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.fixtures.reference.connectors.published_metadata import read_published
from holdfast.fixtures.reference.drivers.processes.disk import FileDisk
from holdfast.fixtures.reference.drivers.processes.file_store import FileStore
from holdfast.fixtures.reference.storage.file_layout import CHECKPOINTS, FileLayout

LAYOUT = FileLayout()
OLDER, NEWEST = (LAYOUT.metadata_path(checkpoint, 0) for checkpoint in (1, 2))


class Failing(FileStore):
    """It cannot be read."""

    def read(self, path: str) -> bytes:
        raise OSError("input/output error.")


@pytest.fixture
def disk(tmp_path: Path) -> FileDisk:
    disk = FileDisk(tmp_path)
    for path in (OLDER, NEWEST):
        disk.apply(LAYOUT.publish(path, path.encode()))
    return disk


def test_what_was_deleted_since_it_was_listed_spoils_nothing(disk: FileDisk) -> None:
    store = FileStore(disk, LAYOUT)
    listed = store.below(CHECKPOINTS)
    store.remove([OLDER])
    assert [(each.checkpoint, each.problem) for each in read_published(store, LAYOUT, listed)] == [(2, "")]


def test_a_problem_is_one_with_the_newest(disk: FileDisk) -> None:
    store = FileStore(disk, LAYOUT)
    found = read_published(store, LAYOUT, store.below(CHECKPOINTS), "spoilt")
    assert [(each.checkpoint, each.problem) for each in found] == [(1, ""), (2, "spoilt")]


def test_what_cannot_be_read_is_not_left_out(disk: FileDisk) -> None:
    with pytest.raises(OSError, match="input/output error"):
        read_published(Failing(disk, LAYOUT), LAYOUT, [OLDER, NEWEST])
