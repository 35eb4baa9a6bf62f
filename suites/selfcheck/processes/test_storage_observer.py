"""The look of the harness into a storage that others go on writing to."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.fixtures.reference.drivers.processes.storage_observer import (
    MOST_BYTES,
    StorageObserver,
    StoredFiles,
)
from holdfast.fixtures.reference.protocol.storage.files import reference_of
from holdfast.fixtures.storages.seal import SEAL_BYTES
from holdfast.harness.adapter.recorder import log_path
from holdfast.harness.model.events import CheckpointCompleted
from holdfast.harness.model.evidence import Evidence

NODE = "coordinator.0"


@pytest.fixture
def observer(tmp_path: Path) -> StorageObserver:
    """Of a run whose coordinator has recorded three events and stored one checkpoint."""
    (tmp_path / "events").mkdir()
    log_path(tmp_path / "events", NODE).write_bytes(b"{}\n{}\n{}\n")
    _store(tmp_path, "checkpoints/job-0/chk-1/_metadata", b"one")
    return StorageObserver(StoredFiles(tmp_path), tmp_path / "events")


def _store(folder: Path, path: str, content: bytes) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_bytes(content + bytes(SEAL_BYTES))


def completed(checkpoint: int, node: str = NODE) -> CheckpointCompleted:
    return CheckpointCompleted(node=node, attempt=4, checkpoint=checkpoint)


def test_it_lists_all_and_reads_what_has_completed(observer: StorageObserver, tmp_path: Path) -> None:
    _store(tmp_path, "checkpoints/job-0/chk-2/_metadata", b"two")
    seen = observer.look(completed(2), NODE)
    assert seen is not None
    assert seen.paths == ("checkpoints/job-0/chk-1/_metadata", "checkpoints/job-0/chk-2/_metadata")
    assert seen.files == (reference_of("checkpoints/job-0/chk-2/_metadata", b"two"),)
    assert (seen.recorded, seen.attempt, seen.evidence) == (3, 4, Evidence.BOUNDARY)


def test_nobody_looks_once_another_coordinator_has_been_started(observer: StorageObserver) -> None:
    assert observer.look(completed(1), "coordinator.1") is None


def test_it_looks_more_and_more_rarely(observer: StorageObserver) -> None:
    looks = [number for number in range(1, 20) if observer.look(completed(number), NODE) is not None]
    assert looks == [1, 2, 4, 8, 16]


def test_what_is_large_is_listed_and_not_read(observer: StorageObserver, tmp_path: Path) -> None:
    _store(tmp_path, "checkpoints/job-0/chk-1/sum-0", bytes(MOST_BYTES + 1))
    seen = observer.look(completed(1), NODE)
    assert seen is not None
    assert [file.path for file in seen.files] == ["checkpoints/job-0/chk-1/_metadata"]
    assert len(seen.paths) == 2


class _Silent(StoredFiles):
    def read(self, path: str) -> bytes:
        raise OSError("no answer")


class _Deleted(StoredFiles):
    """Its checkpoints go between listing and reading."""

    def read(self, path: str) -> bytes:
        raise FileNotFoundError(path)


@pytest.mark.usefixtures("observer")
def test_a_storage_that_does_not_answer_was_not_looked_into(tmp_path: Path) -> None:
    assert StorageObserver(_Silent(tmp_path), tmp_path / "events").look(completed(1), NODE) is None


@pytest.mark.usefixtures("observer")
def test_what_goes_during_the_look_was_listed_and_not_read(tmp_path: Path) -> None:
    seen = StorageObserver(_Deleted(tmp_path), tmp_path / "events").look(completed(1), NODE)
    assert seen is not None
    assert (seen.paths, seen.files) == (("checkpoints/job-0/chk-1/_metadata",), ())
