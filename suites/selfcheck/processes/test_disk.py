"""The disk changes as the simulated one does, and an operation can stop in its middle."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from holdfast.fixtures.reference.drivers.processes.disk import FileDisk
from holdfast.fixtures.reference.drivers.processes.opened_file import DIRECT_BYTES
from holdfast.fixtures.reference.operators.spare_memory import SpareMemory
from holdfast.fixtures.reference.protocol.effects import Commit, Precommit
from holdfast.fixtures.reference.protocol.storage.file_layout import COMMITTED, PENDING, FileLayout
from holdfast.fixtures.reference.protocol.storage.file_system import Disk, FileSystem
from holdfast.fixtures.reference.protocol.storage.medium import read_as_written, reference_of
from holdfast.fixtures.reference.protocol.storage.sinks import FileSink
from holdfast.fixtures.reference.protocol.storage.storage_world import UNWATCHED
from holdfast.harness.model.events import FileReference
from holdfast.harness.sim.disk import SimulatedDisk
from holdfast.suites.selfcheck.storing import TestWorld

PATH = FileLayout().metadata_path(7, 0)
TRANSACTION = "sink[0]-1-1"


def precommit(transaction: str) -> Precommit:
    return Precommit(1, "sink[0]", transaction, 1, ())


def sink(disk: Disk) -> FileSink:
    return FileSink(FileSystem(disk), UNWATCHED, two_phase=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[FileDisk]:
    disk = FileDisk(tmp_path)
    with disk.opened():
        yield disk


def committed(disk: Disk) -> bool:
    sink(disk).precommit(precommit(TRANSACTION), b"rows")
    return sink(disk).commit(Commit(1, "sink[0]", TRANSACTION))


def removed_twice(disk: Disk) -> None:
    FileSystem(disk).claim("a/b")
    FileSystem(disk).remove(["a/b", "a/b"])


@pytest.mark.parametrize(
    "change",
    [
        lambda disk: FileSystem(disk).write("checkpoints/chk-1/sum[0]-1", b"state"),
        lambda disk: FileSystem(disk).publish(PATH, b"metadata"),
        lambda disk: FileSystem(disk).seal([PATH]),
        committed,
        removed_twice,
    ],
    ids=["write", "publish", "seal", "commit", "remove"],
)
def test_it_does_what_the_simulated_disk_does(disk: FileDisk, tmp_path: Path, change: Callable[[Disk], object]) -> None:
    simulated = SimulatedDisk()
    assert change(simulated) == change(disk)
    files = {str(path.relative_to(tmp_path)): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert files == simulated.files
    assert disk.below("checkpoints/") == simulated.below("checkpoints/")


@pytest.mark.parametrize(
    ("there", "change", "error"),
    [
        ("a", lambda disk: disk.create("a"), FileExistsError),
        ("ab", lambda disk: disk.rename("a", "b"), FileExistsError),
        ("", lambda disk: disk.rename("a", "b"), FileNotFoundError),
        ("", lambda disk: disk.replace("a", "b"), FileNotFoundError),
        ("", lambda disk: disk.append("a", b"x"), FileNotFoundError),
        ("", lambda disk: disk.sync("a"), FileNotFoundError),
    ],
    ids=["create", "rename-over", "rename", "replace", "append", "sync"],
)
def test_it_refuses_what_no_operation_means(
    disk: FileDisk, there: str, change: Callable[[Disk], None], error: type[OSError]
) -> None:
    simulated = SimulatedDisk()
    for each in (disk, simulated):
        for path in there:
            each.create(path)
        with pytest.raises(error):
            change(each)


def test_what_was_renamed_is_not_there_any_more(disk: FileDisk) -> None:
    disk.create("a")
    disk.rename("a", "b")
    with pytest.raises(FileNotFoundError):
        disk.append("a", b"x")


@pytest.mark.parametrize("length", [DIRECT_BYTES - 1, DIRECT_BYTES, DIRECT_BYTES + 4097])
@pytest.mark.parametrize("begin", [0, 8])
def test_many_bytes_are_written_as_they_are(disk: FileDisk, length: int, begin: int) -> None:
    with SpareMemory(1).lend() as room:
        content = room(begin + length)[begin:]
        content[:] = np.random.default_rng(length).bytes(length)
        disk.create("a")
        disk.append("a", content)
        disk.append("a", b"more")
        disk.sync("a")
        assert disk.read("a") == bytes(content) + b"more"


def test_a_file_is_read_as_its_writer_knew_it_or_not_at_all(disk: FileDisk) -> None:
    FileSystem(disk).publish(PATH, b"metadata")
    file = reference_of(PATH, b"metadata")
    assert file == FileReference(PATH, 8, zlib.crc32(b"metadata"))
    assert read_as_written(disk.read, file) == b"metadata"
    disk.append(PATH, b"!")
    with pytest.raises(OSError, match="is missing or not what was stored"):
        read_as_written(disk.read, file)
    disk.remove(PATH)
    with pytest.raises(OSError, match="is missing or not what was stored"):
        read_as_written(disk.read, file)


def test_listing_goes_by_the_beginning_of_a_name(disk: FileDisk) -> None:
    for transaction in (TRANSACTION, "sink[0]-1-2", "sink[1]-1-1"):
        sink(disk).precommit(precommit(transaction), b"")
    sink(disk).commit(Commit(1, "sink[0]", TRANSACTION))
    assert disk.below(f"{PENDING}sink[0]-") == [f"{PENDING}sink[0]-1-2"]
    assert disk.below(COMMITTED) == [f"{COMMITTED}{TRANSACTION}"]
    assert disk.below("nowhere/") == []


def test_in_the_middle_of_an_operation_half_of_its_content_is_there(disk: FileDisk) -> None:
    seen: list[bytes] = []

    def middle() -> None:
        seen.append(disk.read(PATH + ".inprogress"))
        assert disk.below(PATH) == [PATH + ".inprogress"]

    FileSystem(disk, TestWorld(middle)).publish(PATH, b"metadata")
    assert seen == [b"meta"]
    assert disk.read(PATH) == b"metadata"


def test_what_is_sealed_in_the_middle_of_its_publication_never_appears(disk: FileDisk) -> None:
    def seal() -> None:
        assert not FileSystem(disk).seal([PATH])

    with pytest.raises(OSError):
        FileSystem(disk, TestWorld(seal)).publish(PATH, b"metadata")
    assert disk.below("checkpoints/") == []
