"""What the local store has returned for survives the machine, folders and all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from holdfast.fixtures.reference.connectors.transaction_files import TransactionFiles, as_one_row
from holdfast.fixtures.reference.protocol.storage.file_layout import COMMITTED, FileLayout
from holdfast.fixtures.reference.protocol.storage.files import Files
from holdfast.fixtures.sinks.files import PREPARED
from holdfast.fixtures.storages.file_system import FileMedium
from holdfast.harness.spi.sink import Committable, SinkContext
from holdfast.harness.spi.storage import Scope


class PowerCut:
    """Listens to the calls of this process below a root, which survives itself.

    Attributes:
        kept: names that survive.
        written: files whose content does.
        root_synced: how often the folder above the root was synced.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self.kept: set[Path] = set()
        self.written: set[Path] = set()
        self.root_synced = 0
        self._fresh: set[Path] = set()
        self._files: dict[int, Path] = {}

    def survives(self, path: Path) -> bool:
        """Whether a file is there afterwards, with its content."""
        above = [each for each in (path, *path.parents) if self._root in each.parents]
        return path in self.written and all(each in self.kept for each in above)

    @contextmanager
    def listening(self, patch: pytest.MonkeyPatch) -> Iterator[None]:
        """Listen as long as this lasts."""
        calls: dict[str, Any] = {name: getattr(os, name) for name in ("open", "pwrite", "fsync", "mkdir", "link")}

        def open_(path: Any, flags: int, *mode: Any, **more: Any) -> int:
            new = not os.path.exists(path)
            file: int = calls["open"](path, flags, *mode, **more)
            self._files[file] = Path(path)
            if new:
                self._fresh.add(Path(path))
            return file

        def pwrite(file: int, content: Any, at: int) -> int:
            self.written.discard(self._files[file])
            count: int = calls["pwrite"](file, content, at)
            return count

        def fsync(file: int) -> None:
            calls["fsync"](file)
            path = self._files[file]
            self.written.add(path)
            self.root_synced += path == self._root.parent
            named = {each for each in self._fresh if each.parent == path}
            self._fresh -= named
            self.kept |= named

        def mkdir(path: Any, *mode: Any, **more: Any) -> None:
            calls["mkdir"](path, *mode, **more)
            self._fresh.add(Path(path))

        def link(source: Any, target: Any) -> None:
            calls["link"](source, target)
            self._fresh.add(Path(target))
            if Path(source) in self.written:
                self.written.add(Path(target))

        with patch.context() as patched:
            for name, call in (
                ("open", open_),
                ("pwrite", pwrite),
                ("fsync", fsync),
                ("mkdir", mkdir),
                ("link", link),
            ):
                patched.setattr(os, name, call)
            yield


LAYOUT = FileLayout()
TRANSACTION = "sink[0]-000001-000001"
METADATA = LAYOUT.metadata_path(7, 3)
STATE = LAYOUT.state_path(7, 3_000_001, Scope.EXCLUSIVE, "sum-0")


def sink(disk: FileMedium, *, two_phase: bool = True) -> TransactionFiles:
    uri = (disk.root / COMMITTED).as_uri()
    context = SinkContext(uri=uri, job="job", operator="sink-0", attempt=1)
    return TransactionFiles(context, two_phase=two_phase)


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


def prepare(disk: FileMedium, *, two_phase: bool = True) -> Sequence[Committable]:
    writing = sink(disk, two_phase=two_phase)
    writing.begin((), now_ms=0)
    writer = writing.writer(0, now_ms=0)
    writer.write(as_one_row(b"rows"), now_ms=0)
    return writer.prepare(1, now_ms=0)


def precommit(disk: FileMedium) -> str:
    prepare(disk)
    return f"{COMMITTED}job.sink-0/{PREPARED}/1/{TRANSACTION}"


def commit(disk: FileMedium) -> str:
    sink(disk).commit(prepare(disk), now_ms=0)
    return f"{COMMITTED}job.sink-0/{TRANSACTION}"


def show(disk: FileMedium) -> str:
    prepare(disk, two_phase=False)
    return f"{COMMITTED}job.sink-0/{TRANSACTION}"


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
        for path in (METADATA, COMMITTED, "job/"):
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
