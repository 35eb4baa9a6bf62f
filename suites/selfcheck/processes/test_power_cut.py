"""What the local store has returned for survives the machine, folders and all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.fixtures.reference.protocol.effects import Commit, Precommit
from holdfast.fixtures.reference.protocol.storage.file_layout import COMMITTED, PENDING, FileLayout
from holdfast.fixtures.reference.protocol.storage.files import Files
from holdfast.fixtures.reference.protocol.storage.sinks import FileSink
from holdfast.fixtures.reference.protocol.storage.storage_world import UNWATCHED
from holdfast.fixtures.storages.file_system import FileMedium
from holdfast.harness.spi.storage import Scope
from holdfast.suites.selfcheck.processes.power_cut import PowerCut

LAYOUT = FileLayout()
PRECOMMIT = Precommit(1, "sink[0]", "sink[0]-1-1", 1, ())
METADATA = LAYOUT.metadata_path(7, 3)
STATE = LAYOUT.state_path(7, 3_000_001, Scope.EXCLUSIVE, "sum-0")


def sink(disk: FileMedium, *, two_phase: bool = True) -> FileSink:
    return FileSink(Files(disk), UNWATCHED, two_phase=two_phase)


def publish(disk: FileMedium) -> str:
    Files(disk).publish(METADATA, b"metadata")
    return METADATA


def write_and_publish(disk: FileMedium) -> str:
    """Somebody else publishes what the state is a part of."""
    Files(disk).publish(STATE, b"state")
    publish(FileMedium(disk.root))
    return STATE


def replace(disk: FileMedium) -> str:
    old, new = (LAYOUT.job_record(3, 1, number) for number in (1, 2))
    Files(disk).publish(old, b"old")
    Files(disk).publish(new, b"new")
    Files(disk).remove([old])
    return new


def claim(disk: FileMedium) -> str:
    path = LAYOUT.claim(3, 1)
    Files(disk).publish(path, b"claimed")
    return path


def precommit(disk: FileMedium) -> str:
    sink(disk).precommit(PRECOMMIT, b"rows")
    return f"{PENDING}sink[0]-1-1"


def commit(disk: FileMedium) -> str:
    precommit(disk)
    sink(disk).commit(Commit(1, "sink[0]", "sink[0]-1-1"))
    return f"{COMMITTED}sink[0]-1-1"


def show(disk: FileMedium) -> str:
    sink(disk, two_phase=False).precommit(PRECOMMIT, b"rows")
    return f"{COMMITTED}sink[0]-1-1"


EVERYTHING = (write_and_publish, publish, replace, claim, precommit, commit, show)


def stored(store: Callable[[FileMedium], str], root: Path) -> str:
    """Where something lies that was stored."""
    return store(FileMedium(root))


@pytest.mark.parametrize("store", EVERYTHING)
def test_it_survives_in_a_new_folder(
    store: Callable[[FileMedium], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "storage"
    power = PowerCut(root)
    with power.listening(monkeypatch):
        path = stored(store, root)
    assert power.survives(root / path)
    assert power.root_synced


@pytest.mark.parametrize("store", EVERYTHING)
def test_it_survives_in_a_folder_whose_maker_died_before_it_was_synced(
    store: Callable[[FileMedium], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "storage"
    power = PowerCut(root)
    with power.listening(monkeypatch):
        for path in (METADATA, PENDING, COMMITTED, "job/"):
            (root / path[: path.rfind("/")]).mkdir(parents=True)
        path = stored(store, root)
    assert power.survives(root / path)


def test_it_survives_where_somebody_removed_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    power = PowerCut(tmp_path)
    with power.listening(monkeypatch):
        disk = FileMedium(tmp_path)
        publish(disk)
        (tmp_path / METADATA).unlink()
        (tmp_path / METADATA).parent.rmdir()
        power.kept.clear()
        path = publish(disk)
    assert (tmp_path / path).parent in power.kept


def test_a_folder_is_looked_after_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Syncing a folder costs a millisecond or more."""
    power = PowerCut(tmp_path)
    with power.listening(monkeypatch):
        disk = FileMedium(tmp_path)
        for checkpoint in range(1, 4):
            Files(disk).publish(LAYOUT.metadata_path(checkpoint, 0), b"metadata")
    assert power.root_synced == 1
