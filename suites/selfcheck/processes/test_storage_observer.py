"""A storage that others use meanwhile: what the harness sees, who claims an epoch, what a superseded one deletes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.fixtures.reference.drivers.processes.storage_observer import MOST_BYTES, StorageObserver, StoredFiles
from holdfast.fixtures.reference.parts import own_storage
from holdfast.fixtures.reference.protocol.effects import Recover, Recovered, RecoverFailed
from holdfast.fixtures.reference.protocol.storage.checkpoint_files import CheckpointFiles
from holdfast.fixtures.reference.protocol.storage.file_layout import CHECKPOINTS, FileLayout
from holdfast.fixtures.reference.protocol.storage.files import Files, Permission, permitted_always, reference_of
from holdfast.fixtures.reference.protocol.storage.job_storage import Epoch, JobStorage, StoredJob
from holdfast.fixtures.reference.protocol.storage.job_storages import JobStorages
from holdfast.fixtures.reference.protocol.storage.operation import Failure
from holdfast.fixtures.storages.file_system import FileMedium
from holdfast.fixtures.storages.on_medium import MediumStorage
from holdfast.fixtures.storages.stored_files import SEAL_BYTES
from holdfast.harness.adapter.recorder import log_path
from holdfast.harness.model.capability import Evidence
from holdfast.harness.model.events import CheckpointCompleted, StorageFailed
from holdfast.suites.selfcheck.storing import TestWorld, outcome_of

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


LAYOUT = FileLayout()


class Losing(MediumStorage):
    """A file is gone as soon as it has been listed."""

    def list_folder(self, folder: str) -> Iterator[str]:
        found = list(super().list_folder(folder))
        self.medium.remove(["chk-1/_metadata"])
        return iter(found)


class Failing(MediumStorage):
    """Nothing can be read."""

    def resolve(self, pointer: str) -> bytes:
        raise OSError("input/output error.")


def recovered(root: Path, *failures: Failure, kind: type[MediumStorage] = MediumStorage) -> tuple[object, ...]:
    """What the recovery of a new coordinator leads to.

    Args:
        root: of its store, which holds metadata of two checkpoints.
        failures: that strike it, one at each try.
        kind: of its checkpoint storage.
    """
    world, job, files = TestWorld(None, *failures), StoredJob(0, "", 1, latest=False), Files(FileMedium(root))

    def storage(name: str) -> MediumStorage:
        return own_storage(name, FileMedium(root / CHECKPOINTS, name), kind)

    for checkpoint in (1, 2):
        storage("job-0").finish(checkpoint, 0, b"metadata")
    own = CheckpointFiles(LAYOUT, JobStorages(LAYOUT, storage), files, job.number, world)
    return outcome_of(JobStorage(LAYOUT, files, own, job, world).recover(Recover()))


def problems(outcome: tuple[object, ...]) -> list[tuple[int, str]]:
    """Checkpoints that were found, and what is wrong with each."""
    found = outcome[-1]
    assert isinstance(found, Recovered)
    return [(each.checkpoint, each.problem) for each in found.checkpoints]


def test_what_was_deleted_since_it_was_listed_spoils_nothing(tmp_path: Path) -> None:
    assert problems(recovered(tmp_path, kind=Losing)) == [(2, "")]


@pytest.mark.parametrize("failure", Failure)
def test_a_problem_is_one_with_the_newest(tmp_path: Path, failure: Failure) -> None:
    outcome = recovered(tmp_path, failure)
    assert problems(outcome) == [(1, ""), (2, "injected error")]
    (failed,) = outcome[:-1]
    assert isinstance(failed, StorageFailed)
    assert failed.injected


@pytest.mark.parametrize("failure", Failure)
def test_a_second_failure_fails_the_recovery(tmp_path: Path, failure: Failure) -> None:
    *failed, last = recovered(tmp_path, failure, failure)
    assert last == RecoverFailed("injected error")
    assert [each.injected for each in failed if isinstance(each, StorageFailed)] == [True, True]


def test_what_cannot_be_read_is_not_left_out(tmp_path: Path) -> None:
    outcome = recovered(tmp_path, kind=Failing)
    assert outcome[-1] == RecoverFailed("input/output error.")


def test_damaged_metadata_are_the_problem_of_one_checkpoint(tmp_path: Path) -> None:
    recovered(tmp_path)
    metadata = tmp_path / LAYOUT.metadata_path(2, 0)
    metadata.write_bytes(metadata.read_bytes()[:-1])
    world, files = TestWorld(), Files(FileMedium(tmp_path))
    storages = JobStorages(LAYOUT, lambda job: own_storage(job, FileMedium(tmp_path / CHECKPOINTS, job)))
    own = CheckpointFiles(LAYOUT, storages, files, 0, world)
    job = JobStorage(LAYOUT, files, own, StoredJob(0, "", 1, latest=False), world)
    (first, second) = problems(outcome_of(job.recover(Recover())))
    assert first == (1, "")
    assert second[0] == 2
    assert "does not end with a seal" in second[1]
