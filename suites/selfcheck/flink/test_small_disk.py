"""A small disk is full until its room is given back, and is gone when it is closed."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from holdfast.fixtures.systems.flink.small_disk import SmallDisk, missing, unmount


def test_nothing_can_be_written_while_it_is_full(tmp_path: Path) -> None:
    if reason := missing():
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
