"""What a coordinator finds while one that it has superseded still deletes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.fixtures.reference.parts import own_storage
from holdfast.fixtures.reference.protocol.effects import Recover, Recovered, RecoverFailed
from holdfast.fixtures.reference.protocol.storage.checkpoint_files import CheckpointFiles
from holdfast.fixtures.reference.protocol.storage.file_layout import CHECKPOINTS, FileLayout
from holdfast.fixtures.reference.protocol.storage.files import Files
from holdfast.fixtures.reference.protocol.storage.job_storage import JobStorage, StoredJob
from holdfast.fixtures.reference.protocol.storage.job_storages import JobStorages
from holdfast.fixtures.reference.protocol.storage.storage_world import Failure
from holdfast.fixtures.storages.file_system import FileMedium
from holdfast.fixtures.storages.on_medium import MediumStorage
from holdfast.harness.model.events import StorageFailed
from holdfast.suites.selfcheck.storing import TestWorld, outcome_of

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
