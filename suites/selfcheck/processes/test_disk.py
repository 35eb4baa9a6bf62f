"""The disk takes the layout's steps as the simulated one does, and the storage client can stop in their middle."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import pytest

from holdfast.fixtures.reference.connectors.checkpoint_store import read_checked
from holdfast.fixtures.reference.drivers.processes.disk import FileDisk
from holdfast.fixtures.reference.drivers.processes.file_store import FileStore, halves
from holdfast.fixtures.reference.drivers.processes.opened_file import DIRECT_BYTES
from holdfast.fixtures.reference.operators.spare_memory import SpareMemory
from holdfast.fixtures.reference.storage.file_layout import COMMITTED, PENDING, FileLayout
from holdfast.harness.model.events import FileReference
from holdfast.harness.sim.disk import Append, Create, Remove, Rename, Replace, SimulatedDisk, Step, Sync

LAYOUT = FileLayout()
PATH = LAYOUT.metadata_path(7, 0)


@pytest.fixture
def disk(tmp_path: Path) -> FileDisk:
    return FileDisk(tmp_path)


@pytest.mark.parametrize(
    "steps",
    [
        LAYOUT.write("checkpoints/chk-1/sum[0]-1", b"state"),
        LAYOUT.publish(PATH, b"metadata"),
        (*LAYOUT.replace("job/record", b"old"), *LAYOUT.replace("job/record", b"new")),
        (*LAYOUT.precommit("sink[0]-1-1", b"rows"), *LAYOUT.commit("sink[0]-1-1")),
        (Create("a/b"), Remove("a/b"), Remove("a/b")),
    ],
)
def test_it_does_what_the_simulated_disk_does(disk: FileDisk, tmp_path: Path, steps: tuple[Step, ...]) -> None:
    simulated = SimulatedDisk()
    simulated.apply(steps)
    disk.apply(steps)
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
def test_it_refuses_what_the_layout_never_means(disk: FileDisk, steps: tuple[Step, ...], error: type[OSError]) -> None:
    with pytest.raises(error):
        disk.apply(steps)


@pytest.mark.parametrize("length", [DIRECT_BYTES - 1, DIRECT_BYTES, DIRECT_BYTES + 4097])
@pytest.mark.parametrize("begin", [0, 8])
def test_many_bytes_are_written_as_they_are(disk: FileDisk, length: int, begin: int) -> None:
    with SpareMemory(1).lend() as room:
        content = room(begin + length)[begin:]
        content[:] = np.random.default_rng(length).bytes(length)
        disk.apply((Create("a"), Append("a", content), Append("a", b"more"), Sync("a")))
        assert disk.read("a") == bytes(content) + b"more"


def test_a_file_is_read_as_its_writer_knew_it_or_not_at_all(disk: FileDisk) -> None:
    store = FileStore(disk, LAYOUT)
    file = store.publish(PATH, b"metadata")
    assert file == FileReference(PATH, 8, zlib.crc32(b"metadata"))
    assert read_checked(store, file) == b"metadata"
    disk.apply((Append(PATH, b"!"),))
    with pytest.raises(OSError, match="is not what was stored"):
        read_checked(store, file)


def test_listing_goes_by_the_beginning_of_a_name(disk: FileDisk) -> None:
    for transaction in ("sink[0]-1-1", "sink[0]-1-2", "sink[1]-1-1"):
        disk.apply(LAYOUT.precommit(transaction, b""))
    disk.apply(LAYOUT.commit("sink[0]-1-1"))
    assert disk.below(f"{PENDING}sink[0]-") == [f"{PENDING}sink[0]-1-2"]
    assert disk.below(COMMITTED) == [f"{COMMITTED}sink[0]-1-1"]
    assert disk.below("nowhere/") == []


def test_in_the_middle_of_an_operation_half_of_its_content_is_there(disk: FileDisk) -> None:
    first, second = halves(LAYOUT.publish(PATH, b"metadata"))
    disk.apply(first)
    assert disk.read(PATH + ".inprogress") == b"meta"
    assert not disk.exists(PATH)
    disk.apply(second)
    assert disk.read(PATH) == b"metadata"
    assert halves(LAYOUT.commit("a")) == ([], list(LAYOUT.commit("a")))
