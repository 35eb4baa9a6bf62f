"""Damaged checkpoints and files: they are put back as they were, and what was discarded does not come back."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import pytest

from holdfast.fixtures.host.kept_file import KeptFile, keep
from holdfast.fixtures.reference.drivers.processes.stored_checkpoints import StoredCheckpoints
from holdfast.fixtures.reference.parts import own_storage
from holdfast.fixtures.reference.protocol.effects import JobRecord
from holdfast.fixtures.reference.protocol.storage.file_layout import CHECKPOINTS, FileLayout
from holdfast.fixtures.reference.protocol.storage.job_storage import encode_record
from holdfast.fixtures.storages.file_system import FileMedium
from holdfast.fixtures.storages.on_medium import MediumStorage
from holdfast.fixtures.storages.stored_files import SEAL_BYTES, Seal, writer_of
from holdfast.harness.model.events import Event, ObjectDamaged, ObjectMended
from holdfast.harness.spi.storage import Scope

LAYOUT = FileLayout()
DAMAGES = [(part, way) for part in ("metadata", "state") for way in ("remove", "truncate", "flip")]
RECORDED: list[Event] = []
"""What the harness recorded of all tests."""


def stored_in(folder: Path, recorded: list[Event] = RECORDED) -> StoredCheckpoints:
    return StoredCheckpoints(folder, lambda event, at_ns: recorded.append(event), lambda what: None)


def record(folder: Path, checkpoint: int, epoch: int = 1) -> None:
    """Write down that a checkpoint is complete."""
    for path in (LAYOUT.claim(0, epoch), LAYOUT.job_record(0, epoch, checkpoint)):
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(encode_record(JobRecord(1, checkpoint + 1, (0,), completed=checkpoint)))


def store(folder: Path, checkpoint: int, *, recorded: bool = True) -> None:
    """A checkpoint of one file of state."""
    if recorded:
        record(folder, checkpoint)
    for path in (
        LAYOUT.state_path(checkpoint, 1, Scope.EXCLUSIVE, "sum-0"),
        LAYOUT.metadata_path(checkpoint, 0),
    ):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content_of(path))


def content_of(path: str) -> bytes:
    """As its storage wrote it."""
    return sealed(path, f"content of {path}".encode())


def sealed(path: str, content: bytes) -> bytes:
    return content + Seal(crc32(content), len(content), 1, writer_of(path, b"")).encoded()


def files(folder: Path) -> dict[str, bytes]:
    """Of checkpoints."""
    found = (path for path in (folder / CHECKPOINTS).rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


@pytest.mark.parametrize(("part", "way"), DAMAGES)
def test_the_newest_is_mended(tmp_path: Path, part: str, way: str) -> None:
    store(tmp_path, 1)
    whole = files(tmp_path)
    stored = stored_in(tmp_path)
    stored.damage(part, way)
    assert files(tmp_path) != whole
    stored.mend()
    assert files(tmp_path) == whole


@pytest.mark.parametrize("part", ["metadata", "state"])
def test_a_longer_file_that_was_there_before_leaves_nothing_behind(tmp_path: Path, part: str) -> None:
    store(tmp_path, 1)
    for path in files(tmp_path):
        longer = b"much longer content than that of what comes later, whatever its name is" * 9
        (tmp_path / path).write_bytes(sealed(path, longer))
    store(tmp_path, 2)
    whole = files(tmp_path)
    stored = stored_in(tmp_path)
    stored.damage(part, "stale")
    assert files(tmp_path) != whole
    stored.mend()
    assert files(tmp_path) == whole


@pytest.mark.parametrize(("part", "way"), [each for each in DAMAGES if each != ("metadata", "remove")])
def test_one_that_is_retained_beside_a_newer_one_is_mended(tmp_path: Path, part: str, way: str) -> None:
    """A recovery reads the metadata of all that are retained."""
    store(tmp_path, 1)
    stored = stored_in(tmp_path)
    stored.damage(part, way)
    store(tmp_path, 2)
    stored.mend()
    mended = files(tmp_path)
    assert all(content == content_of(path) for path, content in mended.items())
    assert len(mended) == 4


@pytest.mark.parametrize(("part", "way"), DAMAGES)
def test_one_that_was_discarded_does_not_come_back(tmp_path: Path, part: str, way: str) -> None:
    store(tmp_path, 1)
    stored = stored_in(tmp_path)
    stored.damage(part, way)
    store(tmp_path, 2)
    for path in files(tmp_path):
        if "chk-1" in path:
            (tmp_path / path).unlink()
    stored.mend()
    assert not [path for path in files(tmp_path) if "chk-1" in path]


@pytest.mark.parametrize("epochs", [(), (1,), (1, 2)])
def test_what_nobody_would_miss_is_not_removed(tmp_path: Path, epochs: tuple[int, ...]) -> None:
    """The record of the coordinator does not know yet that the newest one is complete."""
    for epoch in epochs:
        record(tmp_path, 1, epoch)
    store(tmp_path, 1, recorded=False)
    store(tmp_path, 2, recorded=False)
    whole = files(tmp_path)
    with pytest.raises(OSError, match="nobody would miss its metadata"):
        stored_in(tmp_path).damage("metadata", "remove")
    assert files(tmp_path) == whole
    record(tmp_path, 2, epoch=2)
    stored_in(tmp_path).damage("metadata", "remove")
    assert not (tmp_path / LAYOUT.metadata_path(2, 0)).exists()


@pytest.mark.parametrize(("part", "way"), [each for each in DAMAGES if each != ("metadata", "remove")])
def test_what_is_damaged_and_there_is_noticed_by_anybody(tmp_path: Path, part: str, way: str) -> None:
    store(tmp_path, 1, recorded=False)
    whole = files(tmp_path)
    stored_in(tmp_path).damage(part, way)
    assert files(tmp_path) != whole


def test_what_the_harness_did_is_recorded(tmp_path: Path) -> None:
    """Who, which object, how much of it, beside which checkpoints, and what was put back."""
    store(tmp_path, 1)
    store(tmp_path, 2)
    path = LAYOUT.metadata_path(2, 0)
    length = len(files(tmp_path)[path]) - SEAL_BYTES
    events: list[Event] = []
    stored = stored_in(tmp_path, events)
    stored.damage("metadata", "remove")
    stored.mend()
    stored.damage("metadata", "remove")
    store(tmp_path, 3)
    stored.mend()
    begun = ObjectDamaged(path=path, checkpoint=2, published=(1, 2), length=length, left=None)
    back, gone = ObjectMended(path=path, length=length), ObjectMended(path=path, length=None)
    assert events == [begun, back, begun, gone]


def test_a_list_that_is_put_back_is_never_half_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A coordinator claims while it is under way, and gives that up: the list of the new claim is tried."""
    folder = LAYOUT.folder(0)
    place = tmp_path / folder

    def claim(epoch: int) -> MediumStorage:
        storage = own_storage("job-0", FileMedium(tmp_path, folder.rstrip("/")))
        storage.claim(epoch)
        return storage

    claim(1).finish(1, 1, b"metadata")
    content = (place / "chk-1/_metadata").read_bytes()
    (place / "chk-1/_metadata").unlink()
    claim(2)
    replace, epochs = Path.replace, iter([3])

    def replaced(self: Path, target: Path) -> Path:
        for epoch in epochs:
            claim(epoch)
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", replaced)
    stored_in(tmp_path)._inherit(f"{folder}chk-1/_metadata")
    assert (place / "_epochs/3.inherited").read_bytes() == b'["chk-1/_metadata"]'
    assert sorted(path.name for path in (place / "_epochs").iterdir()) == ["3", "3.inherited"]
    (place / "chk-1/_metadata").write_bytes(content)
    assert claim(4).resolve("chk-1") == b"metadata"


CONTENT = b"what a checkpoint holds"
LEFT = (b"", CONTENT[:5], CONTENT[::-1], CONTENT * 3)
MODE = 0o640
MEND: tuple[Callable[[KeptFile], object], ...] = (KeptFile.put_back, KeptFile.make_again)


def made(folder: Path) -> Path:
    path = folder / "file"
    path.write_bytes(CONTENT)
    path.chmod(MODE)
    return path


def is_as_it_was(path: Path) -> bool:
    return (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (CONTENT, MODE)


@pytest.mark.parametrize("mend", MEND)
@pytest.mark.parametrize("left", LEFT)
def test_whatever_was_left_of_it(tmp_path: Path, left: bytes, mend: Callable[[KeptFile], object]) -> None:
    path = made(tmp_path)
    kept = keep(path)
    kept.leave(left)
    assert path.read_bytes() == left
    mend(kept)
    assert is_as_it_was(path)
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_one_that_was_removed(tmp_path: Path) -> None:
    path = made(tmp_path)
    kept = keep(path)
    kept.leave(None)
    assert not path.exists()
    kept.make_again()
    assert is_as_it_was(path)


def test_one_that_somebody_else_has_removed_does_not_come_back(tmp_path: Path) -> None:
    path = made(tmp_path)
    kept = keep(path)
    kept.leave(b"")
    path.unlink()
    assert not kept.put_back()
    assert not path.exists()


@pytest.mark.parametrize("mend", MEND)
def test_it_keeps_its_other_names(tmp_path: Path, mend: Callable[[KeptFile], object]) -> None:
    path, other = made(tmp_path), tmp_path / "other"
    other.hardlink_to(path)
    kept = keep(path)
    kept.leave(b"less")
    mend(kept)
    assert is_as_it_was(path)
    assert path.samefile(other)


@pytest.mark.parametrize("left", [None, b"less"])
def test_a_symbolic_link_stays_one(tmp_path: Path, left: bytes | None) -> None:
    target, link = made(tmp_path), tmp_path / "link"
    link.symlink_to("file")
    kept = keep(link)
    kept.leave(left)
    kept.make_again()
    assert str(link.readlink()) == "file"
    assert is_as_it_was(target)


def test_one_with_other_names_is_not_removed(tmp_path: Path) -> None:
    path = made(tmp_path)
    (tmp_path / "other").hardlink_to(path)
    with pytest.raises(OSError, match="2 hard links"):
        keep(path).leave(None)
    assert is_as_it_was(path)


def test_an_undo_that_restores_something_else_is_reported(tmp_path: Path) -> None:
    path = made(tmp_path)
    kept = keep(path)
    kept.leave(b"")
    path.chmod(0o600)
    with pytest.raises(OSError, match="its mode is 0o600 and was 0o640"):
        kept.put_back()
    path.chmod(MODE)
    (tmp_path / "other").hardlink_to(path)
    with pytest.raises(OSError, match="number of hard links is 2 and was 1"):
        kept.put_back()
