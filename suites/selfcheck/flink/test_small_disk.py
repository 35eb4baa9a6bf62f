"""A small disk is full until its room is given back, and is gone when it is closed."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from holdfast.fixtures.systems.flink import stored
from holdfast.fixtures.systems.flink.stored import SmallDisk, no_small_disk, unmount


def test_nothing_can_be_written_while_it_is_full(tmp_path: Path) -> None:
    if reason := no_small_disk():
        pytest.skip(reason)
    folder = tmp_path / "checkpoints"
    try:
        disk = SmallDisk(folder)
    except OSError as error:
        pytest.skip(f"this machine mounts nothing: {error}")
    try:
        disk.fill()
        assert not disk.has_room()
        with pytest.raises(OSError) as refused:
            (folder / "state").write_bytes(bytes(8 << 10))
        assert refused.value.errno == errno.ENOSPC
        disk.empty()
        disk.empty()
        assert disk.has_room()
        (folder / "state").write_bytes(bytes(8 << 10))
    finally:
        disk.close()
    assert not folder.is_mount()
    assert not list(folder.iterdir())
    assert not unmount(folder)


def test_it_remembers_that_it_was_filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What Flink writes of it is read when its room may have been given back."""
    monkeypatch.setattr(stored, "_run", lambda *command: None)
    disk = SmallDisk(tmp_path / "checkpoints")
    assert not disk.filled
    disk._filler = Path("/dev/full")
    disk.fill()
    disk._filler = tmp_path / "full"
    disk.empty()
    assert disk.filled
