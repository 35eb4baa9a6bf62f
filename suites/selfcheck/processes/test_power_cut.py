"""What the local store has returned for survives the machine, folders and all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.fixtures.reference.drivers.processes.disk import FileDisk
from holdfast.fixtures.reference.protocol.effects import Commit, Precommit
from holdfast.fixtures.reference.protocol.storage.file_layout import COMMITTED, PENDING, FileLayout
from holdfast.fixtures.reference.protocol.storage.file_system import FileSystem
from holdfast.fixtures.reference.protocol.storage.sinks import FileSink
from holdfast.fixtures.reference.protocol.storage.storage_world import UNWATCHED
from holdfast.harness.spi.storage import Scope
from holdfast.suites.selfcheck.processes.power_cut import PowerCut

LAYOUT = FileLayout()
PRECOMMIT = Precommit(1, "sink[0]", "sink[0]-1-1", 1, ())
METADATA = LAYOUT.metadata_path(7, 3)
STATE = LAYOUT.state_path(7, 3_000_001, Scope.EXCLUSIVE, "sum-0", "sum[0]")


def sink(disk: FileDisk, *, two_phase: bool = True) -> FileSink:
    return FileSink(FileSystem(disk), UNWATCHED, two_phase=two_phase)


def publish(disk: FileDisk) -> str:
    FileSystem(disk).publish(METADATA, b"metadata")
    return METADATA


def write_and_publish(disk: FileDisk) -> str:
    """Somebody else publishes what the state is a part of."""
    FileSystem(disk).write(STATE, b"state")
    other = FileDisk(disk.root)
    with other.opened():
        publish(other)
    return STATE


def replace(disk: FileDisk) -> str:
    old, new = (LAYOUT.job_record(3, 1, number) for number in (1, 2))
    FileSystem(disk).publish(old, b"old")
    FileSystem(disk).publish(new, b"new")
    FileSystem(disk).remove([old])
    return new


def claim(disk: FileDisk) -> str:
    path = LAYOUT.claim(3, 1)
    FileSystem(disk).claim(path)
    return path


def precommit(disk: FileDisk) -> str:
    sink(disk).precommit(PRECOMMIT, b"rows")
    return f"{PENDING}sink[0]-1-1"


def commit(disk: FileDisk) -> str:
    precommit(disk)
    sink(disk).commit(Commit(1, "sink[0]", "sink[0]-1-1"))
    return f"{COMMITTED}sink[0]-1-1"


def show(disk: FileDisk) -> str:
    sink(disk, two_phase=False).precommit(PRECOMMIT, b"rows")
    return f"{COMMITTED}sink[0]-1-1"


EVERYTHING = (write_and_publish, publish, replace, claim, precommit, commit, show)


def stored(store: Callable[[FileDisk], str], root: Path) -> str:
    """Where something lies that was stored."""
    disk = FileDisk(root)
    with disk.opened():
        return store(disk)


@pytest.mark.parametrize("store", EVERYTHING)
def test_it_survives_in_a_new_folder(
    store: Callable[[FileDisk], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "storage"
    power = PowerCut(root)
    with power.listening(monkeypatch):
        path = stored(store, root)
    assert power.survives(root / path)
    assert power.root_synced


@pytest.mark.parametrize("store", EVERYTHING)
def test_it_survives_in_a_folder_whose_maker_died_before_it_was_synced(
    store: Callable[[FileDisk], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "storage"
    power = PowerCut(root)
    with power.listening(monkeypatch):
        for path in (METADATA, PENDING, COMMITTED, "job/"):
            (root / path[: path.rfind("/")]).mkdir(parents=True)
        path = stored(store, root)
    assert power.survives(root / path)


def test_it_survives_where_somebody_removed_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    power, disk = PowerCut(tmp_path), FileDisk(tmp_path)
    with power.listening(monkeypatch), disk.opened():
        publish(disk)
        (tmp_path / METADATA).unlink()
        (tmp_path / METADATA).parent.rmdir()
        power.kept.clear()
        path = publish(disk)
    assert (tmp_path / path).parent in power.kept


def test_a_folder_is_looked_after_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Syncing a folder costs a millisecond or more."""
    power, disk = PowerCut(tmp_path), FileDisk(tmp_path)
    with power.listening(monkeypatch), disk.opened():
        for checkpoint in range(1, 4):
            FileSystem(disk).publish(LAYOUT.metadata_path(checkpoint, 0), b"metadata")
    assert power.root_synced == 1
