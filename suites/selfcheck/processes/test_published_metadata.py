"""What a coordinator finds while one that it has superseded still deletes."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.fixtures.reference.protocol.effects import Recover, Recovered, RecoverFailed
from holdfast.fixtures.reference.protocol.storage.checkpoint_files import OwnFiles
from holdfast.fixtures.reference.protocol.storage.file_layout import CHECKPOINTS, FileLayout
from holdfast.fixtures.reference.protocol.storage.files import Files
from holdfast.fixtures.reference.protocol.storage.job_storage import JobStorage, StoredJob
from holdfast.fixtures.reference.protocol.storage.storage_world import Failure
from holdfast.fixtures.storages.file_system import FileMedium
from holdfast.harness.model.events import StorageFailed
from holdfast.suites.selfcheck.storing import TestWorld, outcome_of

LAYOUT = FileLayout()
OLDER, NEWEST = (LAYOUT.metadata_path(checkpoint, 0) for checkpoint in (1, 2))


class Losing(Files):
    """A file is gone as soon as it has been listed."""

    def below(self, prefix: str) -> list[str]:
        found = super().below(prefix)
        if prefix == CHECKPOINTS:
            self.remove([OLDER])
        return found


class Failing(Files):
    """Nothing can be read."""

    def read(self, path: str) -> bytes:
        raise OSError("input/output error.")


def recovered(files: Files, *failures: Failure) -> tuple[object, ...]:
    """What the recovery of a new coordinator leads to.

    Args:
        files: its store, which holds metadata of two checkpoints.
        failures: that strike it, one at each try.
    """
    world, job = TestWorld(None, *failures), StoredJob(0, "", 1, latest=False)
    for path in (OLDER, NEWEST):
        files.publish(path, path.encode())
    own = OwnFiles(LAYOUT, files, job.number, world)
    return outcome_of(JobStorage(LAYOUT, files, own, job, world).recover(Recover()))


def problems(outcome: tuple[object, ...]) -> list[tuple[int, str]]:
    """Checkpoints that were found, and what is wrong with each."""
    found = outcome[-1]
    assert isinstance(found, Recovered)
    return [(each.checkpoint, each.problem) for each in found.checkpoints]


def test_what_was_deleted_since_it_was_listed_spoils_nothing(tmp_path: Path) -> None:
    assert problems(recovered(Losing(FileMedium(tmp_path)))) == [(2, "")]


@pytest.mark.parametrize("failure", Failure)
def test_a_problem_is_one_with_the_newest(tmp_path: Path, failure: Failure) -> None:
    outcome = recovered(Files(FileMedium(tmp_path)), failure)
    assert problems(outcome) == [(1, ""), (2, "injected error")]
    (failed,) = outcome[:-1]
    assert isinstance(failed, StorageFailed)
    assert failed.injected


@pytest.mark.parametrize("failure", Failure)
def test_a_second_failure_fails_the_recovery(tmp_path: Path, failure: Failure) -> None:
    *failed, last = recovered(Files(FileMedium(tmp_path)), failure, failure)
    assert last == RecoverFailed("injected error")
    assert [each.injected for each in failed if isinstance(each, StorageFailed)] == [True, True]


def test_what_cannot_be_read_is_not_left_out(tmp_path: Path) -> None:
    outcome = recovered(Failing(FileMedium(tmp_path)))
    assert outcome[-1] == RecoverFailed("input/output error.")
