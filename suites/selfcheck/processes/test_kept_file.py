"""What the harness changes in a file for a while is undone: bytes, length, mode and links are what they were."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.fixtures.host.kept_file import KeptFile, keep

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
