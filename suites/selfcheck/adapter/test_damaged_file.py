"""A file of a stored checkpoint is damaged and put back: one at a time, and the history says no more than was done."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from holdfast.harness.adapter.damaged_file import FLIP, REMOVE, TRUNCATE, Damage, DamagedFile, left_of
from holdfast.harness.model.events import Event, ObjectDamaged, ObjectMended

CONTENT = b"0123456789"


class OneFile(DamagedFile):
    def __init__(self, path: Path) -> None:
        self.recorded: list[tuple[Event, int]] = []
        self.struck: list[str] = []
        self.is_due = True
        self.acted_ns = 0
        self.path = path
        super().__init__(lambda event, at_ns: self.recorded.append((event, at_ns)), self.struck.append)

    def choose(self, part: str, way: str) -> Damage:
        left = left_of(CONTENT, way)

        def leave() -> None:
            self.acted_ns = time.monotonic_ns()
            self.path.unlink()
            if left is not None:
                self.path.write_bytes(left)

        def restore() -> bool:
            needed = self.path.parent.exists()
            if needed:
                self.path.write_bytes(CONTENT)
            return needed

        return Damage(str(self.path), 2, (1, 2), CONTENT, left, leave, restore)

    def due(self, damage: Damage) -> bool:
        return self.is_due


@pytest.fixture
def file(tmp_path: Path) -> OneFile:
    (tmp_path / "chk-2").mkdir()
    (tmp_path / "chk-2" / "a").write_bytes(CONTENT)
    return OneFile(tmp_path / "chk-2" / "a")


@pytest.mark.parametrize(
    ("way", "left"), [(REMOVE, None), (TRUNCATE, b"01234"), (FLIP, b"0123456788")], ids=[REMOVE, TRUNCATE, FLIP]
)
def test_it_is_damaged_and_put_back(file: OneFile, way: str, left: bytes | None) -> None:
    file.damage("state", way)
    assert (file.path.read_bytes() if file.path.exists() else None) == left
    assert file.struck == [str(file.path)]
    assert not file.mended()
    file.mend()
    assert file.mended()
    assert file.path.read_bytes() == CONTENT
    damaged = ObjectDamaged(
        path=str(file.path), checkpoint=2, published=(1, 2), length=10, left=None if left is None else len(left)
    )
    assert [event for event, _ in file.recorded] == [damaged, ObjectMended(path=str(file.path), length=10)]


def test_its_time_is_before_anybody_can_have_read_it(file: OneFile) -> None:
    file.damage("state", FLIP)
    [(_, at_ns)] = file.recorded
    assert at_ns <= file.acted_ns


def test_a_file_that_is_gone_meanwhile_is_not_damaged(file: OneFile) -> None:
    file.path.unlink()
    with pytest.raises(FileNotFoundError):
        file.damage("state", REMOVE)
    assert not file.recorded
    assert not file.struck
    assert file.mended()


def test_one_at_a_time(file: OneFile) -> None:
    file.damage("state", TRUNCATE)
    with pytest.raises(OSError, match="a file is damaged already"):
        file.damage("state", REMOVE)
    assert file.path.read_bytes() == b"01234"
    file.mend()
    assert file.path.read_bytes() == CONTENT


def test_it_ends_when_its_fault_is_over_and_it_is_due(file: OneFile) -> None:
    file.damage("state", TRUNCATE)
    file.tend()
    assert file.acts, "its fault is not over"
    file.is_due = False
    file.mend()
    assert file.acts, "nobody has read it"
    file.is_due = True
    file.tend()
    assert file.mended()


def test_what_nobody_needs_stays_gone(file: OneFile) -> None:
    file.damage("state", REMOVE)
    file.path.parent.rmdir()
    file.mend()
    assert file.mended()
    assert file.recorded[-1][0] == ObjectMended(path=str(file.path), length=None)


def test_the_bit_that_is_changed_may_be_anywhere() -> None:
    assert left_of(CONTENT, FLIP, 0) == b"1123456789"
