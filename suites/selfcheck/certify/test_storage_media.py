"""Our storages and their media, as no kit sees them from outside: media that fail, fill up or lose power."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import TypeVar

import pytest

from holdfast.fixtures.storages.file_system import file_storage
from holdfast.fixtures.storages.memory import MemoryMedium, Place, memory_storage
from holdfast.fixtures.storages.on_medium import INLINE_THRESHOLD, MediumStorage
from holdfast.fixtures.storages.stored_files import job_folder
from holdfast.harness.model.events import FileReference
from holdfast.harness.model.status import Status
from holdfast.harness.spi.errors import Full, Transient
from holdfast.harness.spi.file_system import FileSystemDescription, Upload
from holdfast.harness.spi.storage import CheckpointStorage, Scope, StorageContext
from holdfast.suites.certify.sink import judge
from holdfast.suites.certify.sink.checks.overtaken import CHECKS

CONTEXT = StorageContext(uri="memory://media", job="job", options={INLINE_THRESHOLD: "0"})
CONTENT = b"content" * 2_000
Result = TypeVar("Result")


class Failing:
    """A medium whose call of one number fails: before it acts, or behind it."""

    def __init__(self, medium: MemoryMedium, number: int, *, behind: bool) -> None:
        self.medium, self.number, self.behind = medium, number, behind
        self.calls = 0

    def call(self, call: Callable[..., Result], *arguments: object) -> Result:
        number, self.calls = self.calls, self.calls + 1
        if number == self.number and not self.behind:
            raise Transient("it does not answer.")
        result = call(*arguments)
        if number == self.number:
            raise Transient("the answer is lost.")
        return result

    def describe(self) -> FileSystemDescription:
        return self.medium.describe()

    def begin(self, path: str) -> Upload:
        return FailingUpload(self, self.medium.begin(path))

    def read(self, path: str, start: int, end: int) -> Iterator[bytes]:
        return self.call(self.medium.read, path, start, end)

    def tail(self, path: str, length: int) -> bytes:
        return self.call(self.medium.tail, path, length)

    def paths(self, folder: str) -> Sequence[str]:
        return self.call(self.medium.paths, folder)

    def remove(self, paths: Sequence[str]) -> Sequence[str]:
        return self.call(self.medium.remove, paths)

    def abandon_uploads(self) -> None:
        self.call(self.medium.abandon_uploads)

    def close(self) -> None:
        self.medium.close()


class FailingUpload:
    def __init__(self, failing: Failing, upload: Upload) -> None:
        self.failing, self.upload = failing, upload

    def write(self, content: bytes) -> None:
        self.upload.write(content)

    def publish(self) -> None:
        self.failing.call(self.upload.publish)

    def abandon(self) -> None:
        self.upload.abandon()


def medium(place: Place) -> MemoryMedium:
    return MemoryMedium(place, job_folder("job"), 1 << 20, 1 << 22)


def twice(call: Callable[..., Result], *arguments: object) -> Result:
    try:
        return call(*arguments)
    except Transient:
        return call(*arguments)


@pytest.mark.parametrize("behind", [False, True])
def test_any_one_call_may_fail_and_the_same_call_again_succeeds(behind: bool) -> None:
    number = 0
    while True:
        place = Place()
        older = MediumStorage(CONTEXT, medium(place))
        older.claim(1)
        inherited = _written(older, 1, "inherited")
        failing = Failing(medium(place), number, behind=behind)
        storage = MediumStorage(CONTEXT, failing)
        twice(storage.claim, 2)
        reference = twice(_written, storage, 2, "own")
        pointer = twice(storage.finish, 2, 2, b"metadata")
        assert twice(storage.resolve, pointer) == b"metadata"
        assert twice(_content, storage, reference) == CONTENT
        assert list(twice(storage.list_folder, "")) == ["chk-2/_metadata", "shared/inherited", "shared/own"]
        assert list(twice(storage.delete, [inherited], 2)) == []
        twice(storage.drop, 2, 2)
        assert list(MediumStorage(CONTEXT, medium(place)).list_folder("")) == ["shared/own"]
        if failing.calls <= number:
            break
        number += 1
    assert number > 15


def _content(storage: CheckpointStorage, reference: FileReference) -> bytes:
    return b"".join(storage.streams(2, 2).read(reference))


def _written(storage: CheckpointStorage, epoch: int, name: str) -> FileReference:
    stream = storage.streams(epoch, epoch).create(Scope.SHARED, name, b"token")
    stream.write(CONTENT)
    return stream.commit()


def test_the_budget_of_a_memory_is_for_all_files_and_for_those_under_way() -> None:
    options = {"max-state-bytes": "1000", "budget-bytes": "3000", INLINE_THRESHOLD: "0",
               "execution.checkpointing.write-buffer-size": "0"}  # fmt: skip
    context = StorageContext(uri="memory://budget", job="job", options=options)
    storage = memory_storage(context)
    storage.claim(1)
    kept = storage.streams(1, 1).create(Scope.SHARED, "kept", b"t")
    kept.write(b"x" * 1_000)
    reference = kept.commit()
    left = storage.streams(2, 1).create(Scope.SHARED, "left", b"t")
    left.write(b"x" * 1_000)
    third = storage.streams(2, 1).create(Scope.SHARED, "third", b"t")
    with pytest.raises(Full, match="budget-bytes is 3000"):
        third.write(b"x" * 1_000)
    third.cancel()
    assert b"".join(storage.streams(1, 1).read(reference)) == b"x" * 1_000
    storage.claim(2)  # What was under way is given up, and makes room.
    for number in range(2):
        stream = storage.streams(3, 2).create(Scope.SHARED, f"fits-{number}", b"t")
        stream.write(b"x" * 800)
        stream.commit()


def test_files_may_be_read_by_other_accounts(tmp_path: Path) -> None:
    storage = file_storage(StorageContext(uri=tmp_path.as_uri(), job="job", options={INLINE_THRESHOLD: "0"}))
    storage.claim(1)
    _written(storage, 1, "a")
    assert (tmp_path / "job" / "shared" / "a").stat().st_mode & 0o044
    assert not list((tmp_path / "job" / "_uploads").iterdir())


def test_no_message_holds_the_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    from holdfast.fixtures.storages.s3 import s3_storage

    monkeypatch.setenv("HOLDFAST_S3_ACCESS_KEY", "an-access-key")
    monkeypatch.setenv("HOLDFAST_S3_SECRET_KEY", "a-secret-key")
    options = {"s3.endpoint": "http://127.0.0.1:9", "s3.connection.timeout": "1000"}
    with pytest.raises(Transient, match=r"^[^\n]*does not answer \(\w+\)\.$") as caught:
        s3_storage(StorageContext(uri="s3://bucket/prefix", job="job", options=options))
    assert "-key" not in repr(caught.value)


SYNCHRONISED = next(check for check in CHECKS if check.id == "TPC-01/synchronised")
SCRIPT = """
import os, sqlite3, sys
from pathlib import Path
from holdfast.suites.certify.outside.victim import Watch

Watch.install()
os.chdir(sys.argv[1])
Path("log").write_bytes(b"old")
watch = Watch(Path.cwd().as_uri())

def synchronise(path):
    number = os.open(path, os.O_RDONLY)
    os.fsync(number)
    os.close(number)

exec(sys.argv[2])
for sentence in watch.lose():
    print(sentence, file=sys.stderr)
print({str(path): path.read_bytes() for path in sorted(Path().rglob("*")) if path.is_file() and path.suffix != ".db"})
"""


MARKS = '''
from holdfast.fixtures.sinks.files import FileSink


class Marks(FileSink):
    """A near miss: it keeps a file for itself whose loss hurts nobody, and does not synchronise it."""

    def claim(self) -> None:
        super().claim()
        (self.folder / f"_hint-{self.context.attempt}").write_text("begun")
'''


def test_a_file_that_holds_nothing_of_what_was_promised_need_not_be_synchronised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sink_that_marks.py").write_text(MARKS)
    monkeypatch.syspath_prepend(tmp_path)
    marks = import_module("sink_that_marks").Marks
    verdict = judge(SYNCHRONISED, marks)
    assert verdict.status is Status.PASS, verdict.reason


@pytest.mark.parametrize(
    ("does", "left"),
    [
        pytest.param("Path('log').open('ab').write(b'+new')", {"log": b"old"}, id="appended"),
        pytest.param(
            "f = open('log', 'ab', 0); f.write(b'+new'); os.fsync(f.fileno()); f.write(b'+newer'); f.close()",
            {"log": b"old+new"},
            id="appended behind it",
        ),
        pytest.param("Path('a').write_bytes(b'new'); synchronise('.')", {"a": b"", "log": b"old"}, id="name only"),
        pytest.param("Path('a').write_bytes(b'new'); synchronise('a')", {"log": b"old"}, id="bytes only"),
        pytest.param(
            "Path('a').write_bytes(b'new'); synchronise('a'); synchronise('.')", {"a": b"new", "log": b"old"}, id="both"
        ),
        pytest.param(
            "Path('c').write_bytes(b'1'); synchronise('c'); os.remove('c'); Path('a').write_bytes(b'1'); "
            "synchronise('.')",
            {"a": b"", "log": b"old"},
            id="number of a file that is gone",
        ),
        pytest.param("os.rename('log', 'b'); synchronise('.')", {"b": b"old"}, id="renamed"),
        pytest.param(
            "os.mkdir('d'); Path('d/a').write_bytes(b'new'); synchronise('d/a'); synchronise('d')",
            {"log": b"old"},
            id="folder without a name",
        ),
        pytest.param(
            "c = sqlite3.connect('x.db'); c.execute('create table t (a)'); c.close()", {"log": b"old"}, id="none"
        ),
    ],
)
def test_what_is_not_synchronised_is_gone(does: str, left: dict[str, bytes], tmp_path: Path) -> None:
    # In a process of its own, which is watched for good.
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path), does], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == str(left), ran.stderr
    assert (tmp_path / "x.db").exists() == ("sqlite3" in does)
