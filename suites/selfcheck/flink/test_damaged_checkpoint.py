"""A file of state of the newest checkpoint, and of no other, is spoilt and put back."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.fixtures.host.kept_file import KeptFile, keep
from holdfast.fixtures.systems.flink import stored
from holdfast.fixtures.systems.flink.stored import DamagedCheckpoint, StoredCheckpoints
from holdfast.harness.model.events import Event, ObjectDamaged, ObjectMended
from holdfast.harness.spi.controls.absence import TargetAbsent

OLDER, NEWEST, UNFINISHED = 9, 10, 11


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two checkpoints, and one that has no metadata yet."""
    for checkpoint in (OLDER, NEWEST, UNFINISHED):
        place = tmp_path / "job" / f"chk-{checkpoint}"
        place.mkdir(parents=True)
        (place / "a").write_bytes(b"0123456789")
        if checkpoint != UNFINISHED:
            (place / "_metadata").write_bytes(b"m")
    return tmp_path


def of(folder: Path, recorded: list[Event]) -> DamagedCheckpoint:
    return DamagedCheckpoint(
        lambda: StoredCheckpoints(folder, folder / "savepoints", "job"),
        lambda event, at_ns: recorded.append(event),
        lambda what: None,
    )


@pytest.mark.parametrize(("way", "left"), [("remove", None), ("truncate", b"01234")])
def test_the_newest_is_damaged_and_mended(folder: Path, way: str, left: bytes | None) -> None:
    recorded: list[Event] = []
    damaged, path = of(folder, recorded), folder / "job" / f"chk-{NEWEST}" / "a"
    damaged.damage("state", way)
    assert (path.read_bytes() if path.exists() else None) == left
    assert not damaged.mended()
    [event] = recorded
    assert isinstance(event, ObjectDamaged)
    assert (event.checkpoint, event.published, event.length) == (NEWEST, (OLDER, NEWEST), 10)
    assert event.left == (None if left is None else len(left))
    with pytest.raises(OSError, match="damaged already"):
        damaged.damage("state", way)
    damaged.mend()
    damaged.mend()
    assert path.read_bytes() == b"0123456789"
    assert damaged.mended()
    assert recorded[1:] == [ObjectMended(path=str(path), length=10)]


def test_of_a_checkpoint_that_is_gone_nothing_is_put_back(folder: Path) -> None:
    recorded: list[Event] = []
    damaged, place = of(folder, recorded), folder / "job" / f"chk-{NEWEST}"
    damaged.damage("state", "remove")
    (place / "_metadata").unlink()
    place.rmdir()
    damaged.mend()
    assert not place.exists()
    assert recorded[1:] == [ObjectMended(path=str(place / "a"), length=None)]


def test_what_nobody_reads_again_or_cannot_notice_is_no_damage(folder: Path) -> None:
    for part, way in (("metadata", "remove"), ("state", "flip")):
        with pytest.raises(TargetAbsent, match="is unknown"):
            of(folder, []).damage(part, way)


def test_without_a_checkpoint_nothing_is_damaged(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no checkpoint is stored yet"):
        of(tmp_path, []).damage("state", "remove")


@pytest.mark.parametrize("way", ["remove", "truncate"])
def test_a_file_that_flink_deletes_meanwhile_is_not_damaged(
    folder: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The event would excuse what Flink itself has lost."""
    recorded: list[Event] = []
    damaged, path = of(folder, recorded), folder / "job" / f"chk-{NEWEST}" / "a"

    def keep_and_delete(path: Path) -> KeptFile:
        kept = keep(path)
        path.unlink()
        return kept

    monkeypatch.setattr(stored, "keep", keep_and_delete)
    with pytest.raises(FileNotFoundError):
        damaged.damage("state", way)
    assert not recorded
    assert not path.exists()
    assert damaged.mended()
