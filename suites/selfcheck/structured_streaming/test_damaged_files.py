"""Files of the newest checkpoint that are damaged, and what is put back."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.fixtures.pipelines.output.files import LocalFiles
from holdfast.fixtures.systems.structured_streaming.checkpoint_log import CheckpointLog, FileNotes
from holdfast.fixtures.systems.structured_streaming.damaged_files import DamagedFiles
from holdfast.harness.model.events import Event, ObjectDamaged, ObjectMended
from holdfast.suites.selfcheck.structured_streaming.spark_files import committed, planned

STATE = b"0123456789"


class Checkpoint:
    """Of two micro-batches with a commit and one without, with state of each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "checkpoint"
        for batch in range(3):
            planned(self.folder, batch, [f"part-{batch}"])
            self.write(f"state/0/0/{batch + 1}.delta", STATE)
        for batch in range(2):
            committed(self.folder, batch)
        self.write("metadata", b"id")
        self.recorded: list[Event] = []
        files = LocalFiles(folder)
        self.log = CheckpointLog(files, "checkpoint", FileNotes(lambda name: (1,)), (0,))
        list(self.log.poll())
        self.damages = DamagedFiles(
            files, "checkpoint", self.log, lambda event, at_ns: self.recorded.append(event), lambda what: None
        )

    def write(self, path: str, content: bytes) -> None:
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_bytes(content)

    def read(self, path: str) -> bytes | None:
        found = self.folder / path
        return found.read_bytes() if found.exists() else None


@pytest.mark.parametrize(
    ("part", "way", "path"),
    [
        ("metadata", "remove", "offsets/1"),
        ("metadata", "truncate", "offsets/1"),
        ("metadata", "flip", "offsets/1"),
        ("commit", "truncate", "commits/1"),
        ("commit", "flip", "commits/1"),
        ("state", "remove", "state/0/0/2.delta"),
        ("state", "flip", "state/0/0/2.delta"),
    ],
)
def test_a_file_of_the_last_commit_is_damaged_and_put_back(part: str, way: str, path: str, tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path)
    whole = checkpoint.read(path)
    assert whole is not None
    checkpoint.damages.damage(part, way)
    left = checkpoint.read(path)
    assert left != whole
    assert checkpoint.damages.acts
    if way == "flip":
        assert left is not None
        assert sum(one != other for one, other in zip(left, whole, strict=True)) == 1
    [damaged] = checkpoint.recorded
    assert isinstance(damaged, ObjectDamaged)
    assert (damaged.path, damaged.checkpoint, damaged.published) == (f"checkpoint/{path}", 2, (1, 2))
    assert (damaged.length, damaged.left) == (len(whole), None if left is None else len(left))
    checkpoint.damages.mend()
    assert checkpoint.read(path) == left, "nobody has read it yet"
    checkpoint.damages.notice()
    checkpoint.damages.tend()
    assert checkpoint.damages.mended()
    assert checkpoint.read(path) == whole
    checkpoint.damages.mend()
    assert [type(event) for event in checkpoint.recorded] == [ObjectDamaged, ObjectMended]


@pytest.mark.parametrize(("changed", "content"), [("metadata", b"of a query that began anew"), ("offsets/1", b"newer")])
def test_what_others_have_written_since_stays(changed: str, content: bytes, tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path)
    checkpoint.damages.damage("metadata", "truncate")
    left = checkpoint.read("offsets/1")
    checkpoint.write(changed, content)
    checkpoint.damages.notice()
    checkpoint.damages.mend()
    assert checkpoint.read("offsets/1") == (content if changed == "offsets/1" else left)
    mended = checkpoint.recorded[-1]
    assert isinstance(mended, ObjectMended)
    assert mended.length is None


def test_a_newer_commit_is_no_longer_waited_for(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path)
    checkpoint.damages.damage("metadata", "truncate")
    committed(checkpoint.folder, 2)
    list(checkpoint.log.poll())
    checkpoint.damages.tend()
    assert checkpoint.damages.acts, "the fault is not over"
    checkpoint.damages.mend()
    assert checkpoint.damages.mended()


def test_what_cannot_be_damaged_is_named(tmp_path: Path) -> None:
    damages = Checkpoint(tmp_path).damages
    with pytest.raises(ValueError, match="to remove a commit is the fault replay"):
        damages.damage("commit", "remove")
    with pytest.raises(ValueError, match="burn metadata is unknown"):
        damages.damage("metadata", "burn")
    damages.damage("state", "remove")
    with pytest.raises(OSError, match="a file is damaged already"):
        damages.damage("state", "remove")


def test_where_there_is_no_state(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path)
    for each in (checkpoint.folder / "state" / "0" / "0").iterdir():
        each.unlink()
    with pytest.raises(OSError, match="micro-batch 1 has no file of state"):
        checkpoint.damages.damage("state", "flip")
    assert not checkpoint.damages.acts
