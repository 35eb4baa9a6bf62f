"""The storage of the kits keeps its contract, and each of its faults does what it says."""

from __future__ import annotations

import pytest

from holdfast.fixtures.storages.in_memory import (
    Crashed,
    FaultPoints,
    InMemoryStorage,
    InMemoryStreams,
    Place,
    StorageFault,
)
from holdfast.harness.model.events import FileReference
from holdfast.harness.spi.errors import Damaged, Fenced, Full, Transient
from holdfast.harness.spi.storage import CheckpointStorage, Scope, StorageContext

CREATE, WRITE, COMMIT = range(3)


def storage_at(place: Place, faults: dict[int, StorageFault] | None = None, job: str = "job") -> InMemoryStorage:
    return InMemoryStorage(StorageContext(uri="memory:", job=job), place, FaultPoints(faults))


def stored(
    streams: InMemoryStreams, name: str = "a", content: bytes = b"content", token: bytes = b"t"
) -> FileReference:
    stream = streams.create(Scope.SHARED, name, token)
    stream.write(content)
    return stream.commit()


def test_it_is_a_checkpoint_storage() -> None:
    storage: CheckpointStorage = storage_at(Place())
    assert storage.describe().name == "in-memory"


def test_what_is_committed_is_read_by_others() -> None:
    place = Place()
    reference = stored(storage_at(place).streams(1, 1), content=b"x" * 200)
    streams = storage_at(place).streams(2, 1)
    assert b"".join(streams.read(reference)) == b"x" * 200
    assert b"".join(streams.read(reference, 150)) == b"x" * 50
    assert b"".join(streams.read(reference, 10, 0)) == b""
    with pytest.raises(ValueError, match="not within"):
        streams.read(reference, 150, 51)


def test_nothing_is_visible_before_the_commit() -> None:
    storage = storage_at(Place())
    stream = storage.streams(1, 1).create(Scope.EXCLUSIVE, "a", b"t")
    stream.write(b"content")
    assert list(storage.list_folder("")) == []
    stream.cancel()
    with pytest.raises(RuntimeError, match="cancelled"):
        stream.commit()
    assert list(storage.list_folder("")) == []


@pytest.mark.parametrize(("content", "token"), [(b"other", b"t"), (b"content", b"other")])
def test_a_name_is_taken_once(content: bytes, token: bytes) -> None:
    streams = storage_at(Place()).streams(1, 1)
    first = stored(streams)
    assert stored(streams) == first
    with pytest.raises(FileExistsError, match="shared/a is taken"):
        stored(streams, content=content, token=token)
    assert b"".join(streams.read(first)) == b"content"


@pytest.mark.parametrize("fault", [StorageFault.ERROR, StorageFault.LOST_ANSWER, StorageFault.TORN])
@pytest.mark.parametrize("operation", [CREATE, WRITE, COMMIT])
def test_a_retry_with_its_token_succeeds(fault: StorageFault, operation: int) -> None:
    storage = storage_at(Place(), {operation: fault})
    with pytest.raises(Transient):
        stored(storage.streams(1, 1))
    there = list(storage.list_folder("shared"))
    assert there == (["shared/a"] if (operation, fault) == (COMMIT, StorageFault.LOST_ANSWER) else [])
    assert b"".join(storage.streams(1, 1).read(stored(storage.streams(1, 1)))) == b"content"


def test_cancel_takes_back_a_commit_whose_answer_was_lost() -> None:
    storage = storage_at(Place(), {COMMIT: StorageFault.LOST_ANSWER})
    stream = storage.streams(1, 1).create(Scope.SHARED, "a", b"t")
    stream.write(b"content")
    with pytest.raises(Transient):
        stream.commit()
    stream.cancel()
    assert list(storage.list_folder("")) == []
    kept = stored(storage.streams(1, 1), "b")
    stream.cancel()
    assert list(storage.list_folder("")) == [kept.path]


def test_scopes_are_separate_and_segments_are_whole() -> None:
    storage = storage_at(Place())
    for checkpoint in (1, 10):
        for scope in Scope:
            stream = storage.streams(checkpoint, 1).create(scope, f"file-{checkpoint}", b"t")
            stream.commit()
        storage.finish(checkpoint, 1, b"metadata")
    assert list(storage.list_folder("chk-1")) == ["chk-1/_metadata", "chk-1/file-1"]
    storage.drop(1, 1)
    storage.drop(1, 1)
    assert list(storage.list_folder("")) == [
        "chk-10/_metadata",
        "chk-10/file-10",
        "shared/file-1",
        "shared/file-10",
        "taskowned/file-1",
        "taskowned/file-10",
    ]
    assert list(storage_at(storage.place, job="another").list_folder("")) == []


def test_a_newer_epoch_fences_an_older_one() -> None:
    place = Place()
    ours, theirs = storage_at(place), storage_at(place)
    ours.claim(1)
    stream = ours.streams(1, 1).create(Scope.SHARED, "late", b"t")
    theirs.claim(2)
    for call in (
        lambda: stream.write(b"late"),
        lambda: stored(ours.streams(1, 1)),
        lambda: ours.finish(1, 1, b""),
        lambda: ours.drop(1, 1),
        lambda: ours.delete([], 1),
        lambda: ours.claim(1),
    ):
        with pytest.raises(Fenced, match="epoch 2"):
            call()
    theirs.finish(1, 2, b"metadata")
    assert list(theirs.list_folder("")) == ["chk-1/_metadata"]


def test_a_checkpoint_is_published_once() -> None:
    storage = storage_at(Place(), {0: StorageFault.LOST_ANSWER})
    with pytest.raises(Transient):
        storage.finish(1, 1, b"metadata")
    pointer = storage.finish(1, 1, b"metadata")
    with pytest.raises(FileExistsError):
        storage.finish(1, 1, b"other")
    assert storage.resolve(pointer) == storage.resolve("chk-1") == storage.resolve("chk-1/") == b"metadata"
    with pytest.raises(FileNotFoundError, match="chk-2"):
        storage.resolve("chk-2")


def test_damage_is_found() -> None:
    place = Place()
    reference = stored(storage_at(place, {COMMIT: StorageFault.DAMAGED}).streams(1, 1))
    with pytest.raises(Damaged):
        list(storage_at(place).streams(1, 1).read(reference))
    whole = stored(storage_at(place).streams(1, 1), "b")
    with pytest.raises(Damaged):
        list(storage_at(place, {0: StorageFault.DAMAGED}).streams(1, 1).read(whole))
    storage_at(place).delete([whole, whole], 1)
    with pytest.raises(FileNotFoundError):
        storage_at(place).streams(1, 1).read(whole)


def test_full_and_a_limit() -> None:
    place = Place()
    with pytest.raises(Full, match="storage_bytes"):
        stored(storage_at(place, {WRITE: StorageFault.FULL}).streams(1, 1))
    small = InMemoryStorage(StorageContext(uri="memory:", job="job"), place, max_file_bytes=7)
    assert stored(small.streams(1, 1), content=b"1234567")
    with pytest.raises(Full, match="max_file_bytes is 7, and 8"):
        stored(small.streams(1, 1), "b", b"12345678")


@pytest.mark.parametrize("fault", [StorageFault.CRASH, StorageFault.CRASH_BEHIND])
def test_nothing_follows_a_crash(fault: StorageFault) -> None:
    storage = storage_at(Place(), {COMMIT: fault})
    stream = storage.streams(1, 1).create(Scope.SHARED, "a", b"t")
    stream.write(b"content")
    for call in (stream.commit, stream.cancel, lambda: storage.list_folder("")):
        with pytest.raises(Crashed):
            call()
    there = list(storage_at(storage.place).list_folder(""))
    assert there == (["shared/a"] if fault is StorageFault.CRASH_BEHIND else [])


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "_metadata", "a b"])
def test_a_name_is_one_segment(name: str) -> None:
    with pytest.raises(ValueError, match="is no segment"):
        storage_at(Place()).streams(1, 1).create(Scope.EXCLUSIVE, name, b"t")


def test_misuse_is_refused() -> None:
    storage = storage_at(Place())
    storage.close()
    with pytest.raises(RuntimeError, match="closed"):
        storage.list_folder("")
    with pytest.raises(ValueError, match="option 'x' is unknown"):
        InMemoryStorage(StorageContext(uri="memory:", job="job", options={"x": "1"}), Place())
