"""The runtime's files on a real and on the simulated disk, operations that stop, and errors of a storage."""

from __future__ import annotations

import errno
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holdfast.fixtures.reference.connectors.foreign_storage import ForeignStorages
from holdfast.fixtures.reference.operators.spare_memory import SpareMemory
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
from holdfast.fixtures.reference.protocol.storage.errors import NotStored
from holdfast.fixtures.reference.protocol.storage.file_layout import CHECKPOINTS, FileLayout
from holdfast.fixtures.reference.protocol.storage.files import (
    Files,
    WatchedFiles,
    permitted_always,
    read_as_written,
    reference_of,
)
from holdfast.fixtures.reference.protocol.storage.job_storage import JobStorage, StoredJob
from holdfast.fixtures.reference.protocol.storage.job_storages import JobStorages
from holdfast.fixtures.reference.protocol.storage.operation import Call, Hold, Operation
from holdfast.fixtures.storages.file_system import DIRECT_BYTES, FileMedium
from holdfast.fixtures.storages.on_disk import DiskFiles
from holdfast.fixtures.storages.on_medium import MediumStorage
from holdfast.harness.model.events import FileReference
from holdfast.harness.sim.disk import SimulatedDisk
from holdfast.harness.spi.errors import Full, Transient
from holdfast.harness.spi.file_system import FileSystem
from holdfast.harness.spi.storage import CheckpointStorage
from holdfast.suites.selfcheck.storing import TestWorld, outcome_of

PATH = FileLayout().metadata_path(7, 0)


@pytest.fixture(params=["real", "simulated"])
def run_files(request: pytest.FixtureRequest, tmp_path: Path) -> FileSystem:
    return FileMedium(tmp_path / "storage") if request.param == "real" else DiskFiles(SimulatedDisk(), "worker")


@pytest.fixture
def files(run_files: FileSystem) -> Files:
    return Files(run_files)


def test_what_is_published_is_never_overwritten(files: Files) -> None:
    files.publish(PATH, b"first")
    with pytest.raises(FileExistsError):
        files.publish(PATH, b"second")
    assert files.read(PATH) == b"first"


def test_a_file_is_read_as_its_writer_knew_it_or_not_at_all(files: Files) -> None:
    files.publish(PATH, b"metadata")
    file = reference_of(PATH, b"metadata")
    assert file == FileReference(PATH, 8, zlib.crc32(b"metadata"))
    assert read_as_written(files.read, file) == b"metadata"
    files.remove([PATH, PATH])
    assert not files.exists(PATH)
    files.publish(PATH, b"metadata!")
    with pytest.raises(OSError, match="is missing or not what was stored"):
        read_as_written(files.read, file)


def test_listing_goes_by_the_beginning_of_a_name(files: Files) -> None:
    for path in ("rows/a-1", "rows/a-2", "rows/b-1"):
        files.publish(path, b"content")
    assert files.below("rows/a-") == ["rows/a-1", "rows/a-2"]
    assert files.below("nowhere/") == []


def held(run_files: FileSystem, middle: Hold) -> None:
    """Publish, and do something when half of the content is there."""
    Files(WatchedFiles(run_files, TestWorld(middle))).publish(PATH, b"metadata")


def test_in_the_middle_of_a_publication_nobody_sees_it(run_files: FileSystem, files: Files) -> None:
    seen: list[bool] = []
    held(run_files, lambda: seen.append(files.exists(PATH) or bool(files.below("checkpoints/"))))
    assert seen == [False]
    assert files.read(PATH) == b"metadata"


def test_half_of_a_content_is_there_in_the_middle() -> None:
    disk = SimulatedDisk()
    seen: list[bytes] = []
    held(DiskFiles(disk, "worker"), lambda: seen.extend(disk.files.values()))
    assert seen == [b"meta"]


def test_what_is_given_up_in_the_middle_of_its_publication_never_appears(run_files: FileSystem, files: Files) -> None:
    with pytest.raises(OSError, match="given up"):
        held(run_files, run_files.abandon_uploads)
    assert files.below("") == []


def test_nothing_is_removed_yet_in_the_middle_of_a_removal(run_files: FileSystem, files: Files) -> None:
    files.publish(PATH, b"metadata")
    seen: list[bool] = []
    WatchedFiles(run_files, TestWorld(lambda: seen.append(files.exists(PATH)))).remove([PATH])
    assert seen == [True]
    assert not files.exists(PATH)


def test_a_storage_is_held_when_half_of_a_content_is_there() -> None:
    disk = SimulatedDisk()
    seen: list[bytes] = []
    watched = WatchedFiles(DiskFiles(disk, "worker"), TestWorld(lambda: seen.extend(disk.files.values())))
    upload = watched.begin(PATH)
    upload.write(b"metadata")
    upload.write(b", and a seal")
    upload.publish()
    assert seen == [b"meta"]
    assert disk.files == {PATH: b"metadata, and a seal"}


def test_what_cannot_be_published_leaves_nothing(tmp_path: Path) -> None:
    files = Files(FileMedium(tmp_path))
    files.publish(PATH, b"first")
    opened = os.listdir("/proc/self/fd")
    with pytest.raises(FileExistsError):
        files.publish(PATH, b"second")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / PATH]
    assert len(os.listdir("/proc/self/fd")) == len(opened)


@pytest.mark.parametrize("length", [DIRECT_BYTES - 1, DIRECT_BYTES, DIRECT_BYTES + 4097])
@pytest.mark.parametrize("begin", [0, 8])
def test_many_bytes_are_written_as_they_are(tmp_path: Path, length: int, begin: int) -> None:
    with SpareMemory(1).lend() as room:
        content = room(begin + length)[begin:]
        content[:] = np.random.default_rng(length).bytes(length)
        upload = FileMedium(tmp_path).begin("a")
        upload.write(content)
        upload.write(b"more")
        upload.publish()
        assert (tmp_path / "a").read_bytes() == bytes(content) + b"more"


def test_a_user_may_name_a_directory_of_his_own(tmp_path: Path) -> None:
    def elsewhere(directory: str, read_only: bool) -> FileMedium:
        return FileMedium(Path(directory), read_only=read_only)

    files = Files(FileMedium(tmp_path / "storage"), elsewhere=elsewhere)
    savepoint = tmp_path / "savepoints/savepoint-0-3"
    files.publish(f"{savepoint}/_metadata", b"metadata")
    assert (savepoint / "_metadata").read_bytes() == b"metadata"
    assert files.read(f"{savepoint}/_metadata") == b"metadata"
    moved = savepoint.rename(tmp_path / "moved")
    assert files.exists(f"{moved}/_metadata")
    assert not (tmp_path / "_uploads").exists(), "whoever reads makes nothing"
    files.remove([f"{moved}/_metadata"])
    assert not files.exists(f"{moved}/_metadata")


def test_in_a_directory_that_cannot_be_written_nothing_is_stored(tmp_path: Path) -> None:
    def elsewhere(directory: str, read_only: bool) -> FileMedium:
        return FileMedium(Path(directory), read_only=read_only)

    (tmp_path / "file").touch()
    files = Files(FileMedium(tmp_path / "storage"), elsewhere=elsewhere)
    with pytest.raises(NotStored, match="cannot be written"):
        files.publish(f"{tmp_path}/file/savepoint-0-3/_metadata", b"metadata")


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
