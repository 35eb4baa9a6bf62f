"""The folder of checkpoints is away for a while, and comes back as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.fixtures.systems.flink.broken_folder import WRITE, BrokenFolder
from holdfast.harness.spi.controls.absence import TargetAbsent


def test_nothing_can_be_written_until_it_is_restored(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    (folder / "chk-1").mkdir(parents=True)
    control = BrokenFolder(lambda: folder)
    control.fail(WRITE, 0, after_effect=False)
    assert control.broken
    with pytest.raises(OSError, match="chk-2"):
        (folder / "chk-2").mkdir(parents=True)
    control.restore(WRITE)
    assert control.whole(WRITE)
    assert [path.name for path in folder.iterdir()] == ["chk-1"]
    control.restore(WRITE)
    assert [path.name for path in tmp_path.iterdir()] == ["job"]


@pytest.mark.parametrize(
    ("operation", "occurrences", "after_effect"), [("commit", 0, False), (WRITE, 1, False), (WRITE, 0, True)]
)
def test_what_it_cannot_do_is_not_done(tmp_path: Path, operation: str, occurrences: int, after_effect: bool) -> None:
    control = BrokenFolder(lambda: tmp_path / "job")
    with pytest.raises(TargetAbsent, match="alone can fail"):
        control.fail(operation, occurrences, after_effect=after_effect)
    with pytest.raises(TargetAbsent, match="nothing slows"):
        control.slow(operation, 10, 0)
    assert control.whole(operation)
