"""What the runtime makes of the errors of a checkpoint storage (RULES STO-02, STO-09, CRD-11)."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast.fixtures.reference.connectors.foreign_storage import ForeignStorages
from holdfast.fixtures.reference.parts import own_storage
from holdfast.fixtures.reference.protocol.effects import (
    JobRecord,
    MetadataNotStored,
    MetadataStored,
    MetadataUndecided,
    PersistJobRecord,
    PublishMetadata,
    Recover,
    StatePart,
    WriteState,
)
from holdfast.fixtures.reference.protocol.storage.checkpoint_files import CheckpointFiles, StateWriting
from holdfast.fixtures.reference.protocol.storage.file_layout import CHECKPOINTS, FileLayout
from holdfast.fixtures.reference.protocol.storage.files import Files, permitted_always
from holdfast.fixtures.reference.protocol.storage.job_storage import JobStorage, StoredJob
from holdfast.fixtures.reference.protocol.storage.job_storages import JobStorages
from holdfast.fixtures.reference.protocol.storage.operation import Call, Operation
from holdfast.fixtures.storages.file_system import FileMedium
from holdfast.fixtures.storages.on_medium import MediumStorage
from holdfast.harness.spi.errors import Full, Transient
from holdfast.harness.spi.storage import CheckpointStorage
from holdfast.suites.selfcheck.storing import TestWorld, outcome_of

LAYOUT = FileLayout()
CHECKPOINT = 3
METADATA = LAYOUT.metadata_path(CHECKPOINT, 0)
RECORD = JobRecord(attempt=1, next_checkpoint=CHECKPOINT + 1, start=(0,))


def checkpoint_files(root: Path, storages: JobStorages | None = None) -> CheckpointFiles:
    storages = storages or JobStorages(LAYOUT, lambda job: own_storage(job, FileMedium(root / CHECKPOINTS, job)))
    return CheckpointFiles(LAYOUT, storages, Files(FileMedium(root)), 0, Encoding())


class Encoding(TestWorld):
    """What was in flight are some bytes."""

    def encode(self, snapshot: Any) -> bytes:
        return bytes(snapshot)


def put(files: CheckpointFiles) -> None:
    """Store what was in flight to a task of epoch 1."""
    effect = WriteState(1, "sum[0]", CHECKPOINT, b"in flight" * 1_000, StatePart.CHANNELS, epoch=1)
    writing = StateWriting(files, Encoding(), effect, Call(Encoding(), "write-state", ""), 0)
    outcome_of(Operation("write-state", writing.begin(lambda written: ())))


def unreachable(job: str) -> CheckpointStorage:
    raise RuntimeError("no connection is left")


@pytest.mark.parametrize(
    "use",
    [
        lambda files: files.claim(1),
        lambda files: files.resolve(METADATA),
        lambda files: files.finish(METADATA, b"metadata", 1, permitted_always),
        lambda files: files.delete([METADATA], 1, permitted_always),
        put,
    ],
    ids=["claim", "resolve", "finish", "delete", "put"],
)
def test_a_storage_that_cannot_be_made_fails_an_operation(
    use: Callable[[CheckpointFiles], object], tmp_path: Path
) -> None:
    files = checkpoint_files(tmp_path, JobStorages(LAYOUT, ForeignStorages(unreachable)))
    with pytest.raises(OSError, match="the checkpoint storage raised RuntimeError: no connection is left"):
        use(files)


def test_a_file_that_is_refused_leaves_nothing(tmp_path: Path) -> None:
    former, latter = checkpoint_files(tmp_path), checkpoint_files(tmp_path)
    former.claim(1)
    latter.claim(2)
    opened = os.listdir("/proc/self/fd")
    with pytest.raises(OSError, match="has claimed"):
        put(former)
    assert os.listdir("/proc/self/fd") == opened
    assert not list((tmp_path / CHECKPOINTS / "job-0/_uploads").iterdir())


def publication(root: Path, kind: type[MediumStorage]) -> object:
    """What comes of it to publish metadata."""
    storages = JobStorages(LAYOUT, lambda job: own_storage(job, FileMedium(root / CHECKPOINTS, job), kind))
    files, world = Files(FileMedium(root)), TestWorld()
    job = JobStorage(LAYOUT, files, checkpoint_files(root, storages), StoredJob(0, "", 1, latest=False), world)
    outcome_of(job.recover(Recover()))
    outcome_of(job.persist_job_record(PersistJobRecord(RECORD)))
    return outcome_of(job.publish_metadata(PublishMetadata(CHECKPOINT, b"metadata")))[-1]


@pytest.mark.parametrize(
    ("call", "failures", "answer"),
    [
        ("pwrite", 1, MetadataStored),
        ("pwrite", 2, MetadataNotStored),
        ("link", 1, MetadataStored),
        ("link", 2, MetadataUndecided),
    ],
)
def test_metadata_that_cannot_be_stored_are_tried_once_more(
    call: str, failures: int, answer: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was never written is certainly not published: for that a job does not fail over."""
    right, left = getattr(os, call), failures

    class Failing(MediumStorage):
        def finish(self, checkpoint: int, epoch: int, metadata: bytes) -> str:
            nonlocal left
            monkeypatch.setattr(os, call, broken if left else right)
            left -= 1
            return super().finish(checkpoint, epoch, metadata)

    def broken(*arguments: object) -> int:
        raise OSError(errno.EIO, "input/output error")

    assert type(publication(tmp_path, Failing)) is answer


def test_metadata_whose_answer_is_lost_are_found(tmp_path: Path) -> None:
    class Losing(MediumStorage):
        lost = False

        def finish(self, checkpoint: int, epoch: int, metadata: bytes) -> str:
            path = super().finish(checkpoint, epoch, metadata)
            if not self.lost:
                self.lost = True
                raise Transient("the answer is lost")
            return path

    assert isinstance(publication(tmp_path, Losing), MetadataStored)


@pytest.mark.parametrize(("lost", "answer"), [(False, MetadataNotStored), (True, MetadataUndecided)])
def test_metadata_without_room_are_not_stored_unless_the_first_call_found_room(
    lost: bool, answer: type, tmp_path: Path
) -> None:
    class Filling(MediumStorage):
        answers = [Transient("the answer is lost")] if lost else []

        def finish(self, checkpoint: int, epoch: int, metadata: bytes) -> str:
            raise self.answers.pop() if self.answers else Full("free_bytes", 0, 1)

    assert type(publication(tmp_path, Filling)) is answer
