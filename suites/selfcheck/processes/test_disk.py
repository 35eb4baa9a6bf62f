"""The disk takes steps as the simulated one does, and an operation can stop in its middle."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import numpy as np
import pytest

from holdfast.fixtures.reference.connectors.store import TakeStep
from holdfast.fixtures.reference.drivers.processes.disk import FileDisk
from holdfast.fixtures.reference.drivers.processes.opened_file import DIRECT_BYTES
from holdfast.fixtures.reference.operators.spare_memory import SpareMemory
from holdfast.fixtures.reference.protocol.effects import Commit, Precommit
from holdfast.fixtures.reference.protocol.storage.file_layout import COMMITTED, PENDING, FileLayout
from holdfast.fixtures.reference.protocol.storage.file_system import FileSystem
from holdfast.fixtures.reference.protocol.storage.medium import read_as_written, reference_of
from holdfast.fixtures.reference.protocol.storage.sinks import FileSink
from holdfast.fixtures.reference.protocol.storage.steps import Steps
from holdfast.harness.model.events import FileReference
from holdfast.harness.model.storage_steps import (
    Append,
    Create,
    FileChange,
    Remove,
    Rename,
    Replace,
    Sync,
)
from holdfast.harness.sim.disk import SimulatedDisk
from holdfast.suites.selfcheck.storing import carried_out

FILES = FileSystem()
SINK = FileSink(FILES, two_phase=True)
PATH = FileLayout().metadata_path(7, 0)
TRANSACTION = "sink[0]-1-1"


def precommit(transaction: str) -> Precommit:
    return Precommit(1, "sink[0]", transaction, 1, ())


class Simulated(SimulatedDisk):
    """The simulated disk as a store."""

    def opened(self) -> AbstractContextManager[TakeStep]:
        return nullcontext(self.take)


@pytest.fixture
def disk(tmp_path: Path) -> FileDisk:
    return FileDisk(tmp_path)


def change(disk: FileDisk, *changes: FileChange) -> None:
    """Take steps in order."""
    with disk.opened() as take:
        for each in changes:
            take(each)


def replaced_twice() -> Steps[None]:
    yield from FILES.replace("job/record", b"old")
    yield from FILES.replace("job/record", b"new")


def committed() -> Steps[bool]:
    yield from SINK.precommit(precommit(TRANSACTION), b"rows")
    return (yield from SINK.commit(Commit(1, "sink[0]", TRANSACTION)))


def removed_twice() -> Steps[None]:
    yield from FILES.claim("a/b")
    yield from FILES.remove(["a/b", "a/b"])


@pytest.mark.parametrize(
    "steps",
    [
        lambda: FILES.write("checkpoints/chk-1/sum[0]-1", b"state"),
        lambda: FILES.publish(PATH, b"metadata"),
        lambda: FILES.seal([PATH]),
        replaced_twice,
        committed,
        removed_twice,
    ],
    ids=["write", "publish", "seal", "replace", "commit", "remove"],
)
def test_it_does_what_the_simulated_disk_does(
    disk: FileDisk, tmp_path: Path, steps: Callable[[], Steps[object]]
) -> None:
    simulated = Simulated()
    assert carried_out(steps(), simulated) == carried_out(steps(), disk)
    files = {str(path.relative_to(tmp_path)): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert files == simulated.files
    assert disk.below("checkpoints/") == simulated.below("checkpoints/")


@pytest.mark.parametrize(
    ("steps", "error"),
    [
        ((Create("a"), Create("a")), FileExistsError),
        ((Create("a"), Create("b"), Rename("a", "b")), FileExistsError),
        ((Create("a"), Rename("a", "b"), Append("a", b"x")), FileNotFoundError),
        ((Rename("a", "b"),), FileNotFoundError),
        ((Replace("a", "b"),), FileNotFoundError),
        ((Append("a", b"x"),), FileNotFoundError),
        ((Sync("a"),), FileNotFoundError),
    ],
)
def test_it_refuses_what_no_sequence_means(disk: FileDisk, steps: tuple[FileChange, ...], error: type[OSError]) -> None:
    with pytest.raises(error):
        change(disk, *steps)
    simulated = SimulatedDisk()
    with pytest.raises(error):
        simulated.apply(steps)


@pytest.mark.parametrize("length", [DIRECT_BYTES - 1, DIRECT_BYTES, DIRECT_BYTES + 4097])
@pytest.mark.parametrize("begin", [0, 8])
def test_many_bytes_are_written_as_they_are(disk: FileDisk, length: int, begin: int) -> None:
    with SpareMemory(1).lend() as room:
        content = room(begin + length)[begin:]
        content[:] = np.random.default_rng(length).bytes(length)
        change(disk, Create("a"), Append("a", content), Append("a", b"more"), Sync("a"))
        assert disk.read("a") == bytes(content) + b"more"


def test_a_file_is_read_as_its_writer_knew_it_or_not_at_all(disk: FileDisk) -> None:
    carried_out(FILES.publish(PATH, b"metadata"), disk)
    file = reference_of(PATH, b"metadata")
    assert file == FileReference(PATH, 8, zlib.crc32(b"metadata"))
    assert carried_out(read_as_written(file), disk) == b"metadata"
    change(disk, Append(PATH, b"!"))
    with pytest.raises(OSError, match="is missing or not what was stored"):
        carried_out(read_as_written(file), disk)
    change(disk, Remove(PATH))
    with pytest.raises(OSError, match="is missing or not what was stored"):
        carried_out(read_as_written(file), disk)


def test_listing_goes_by_the_beginning_of_a_name(disk: FileDisk) -> None:
    for transaction in (TRANSACTION, "sink[0]-1-2", "sink[1]-1-1"):
        carried_out(SINK.precommit(precommit(transaction), b""), disk)
    carried_out(SINK.commit(Commit(1, "sink[0]", TRANSACTION)), disk)
    assert disk.below(f"{PENDING}sink[0]-") == [f"{PENDING}sink[0]-1-2"]
    assert disk.below(COMMITTED) == [f"{COMMITTED}{TRANSACTION}"]
    assert disk.below("nowhere/") == []


def test_in_the_middle_of_an_operation_half_of_its_content_is_there(disk: FileDisk) -> None:
    seen: list[bytes] = []

    def middle() -> None:
        seen.append(disk.read(PATH + ".inprogress"))
        assert disk.below(PATH) == [PATH + ".inprogress"]

    carried_out(FILES.publish(PATH, b"metadata"), disk, middle)
    assert seen == [b"meta"]
    assert disk.read(PATH) == b"metadata"


def test_what_is_sealed_in_the_middle_of_its_publication_never_appears(disk: FileDisk) -> None:
    def seal() -> None:
        assert not carried_out(FILES.seal([PATH]), disk)

    with pytest.raises(OSError):
        carried_out(FILES.publish(PATH, b"metadata"), disk, seal)
    assert disk.below("checkpoints/") == []
