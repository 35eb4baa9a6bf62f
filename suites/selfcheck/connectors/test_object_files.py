"""What a run keeps in a real object store, as its processes and its end see it; the kit of file systems asks the
rest."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from holdfast.fixtures.reference.connectors.connected import object_files
from holdfast.fixtures.reference.connectors.settings import Connectors
from holdfast.fixtures.reference.protocol.storage.files import Files, read_as_written, reference_of
from holdfast.suites.selfcheck.object_stores import BUCKET, TIERS, object_store
from holdfast.suites.selfcheck.soon import ends_within

if TYPE_CHECKING:
    from holdfast.fixtures.services.object_store import OwnObjectStore

LIMIT_S, SILENCE_LIMIT_S = 30.0, 1.0
"""How long a store that lives may need for an answer, and one that stands still gets."""
PATH = "checkpoints/chk-1/_metadata"
NO_BROKER = "127.0.0.1:9"


@pytest.fixture(scope="module", params=TIERS)
def store(request: pytest.FixtureRequest) -> Iterator[OwnObjectStore]:
    with object_store(request.param) as made:
        yield made


@pytest.fixture
def connectors(store: OwnObjectStore) -> Connectors:
    return Connectors(
        run=uuid.uuid4().hex[:10],
        kafka_bootstrap=NO_BROKER,
        input_partitions=1,
        s3_endpoint=store.external,
        s3_access_key=store.keys.access_key,
        s3_secret_key=store.keys.secret_key,
        bucket=BUCKET,
    )


def files_of(connectors: Connectors, limit_s: float = LIMIT_S) -> Files:
    return Files(object_files(connectors, limit_s)(""))


def objects_below(store: OwnObjectStore, prefix: str) -> set[str]:
    """Their names, as another client lists them."""
    found = store.client().list_objects(BUCKET, prefix, recursive=True)
    return {str(each.object_name) for each in found}


def test_what_is_published_is_never_overwritten(connectors: Connectors) -> None:
    files = files_of(connectors)
    for first, second in ((b"first", b"second"), (b"", b"second")):
        files.publish(PATH, first)
        with pytest.raises(FileExistsError, match="checkpoints/chk-1/_metadata"):
            files_of(connectors).publish(PATH, second)
        assert files.read(PATH) == first
        assert files.exists(PATH)
        files.remove([PATH])


def test_contents_are_read_as_their_writer_knew_them_or_not_at_all(connectors: Connectors) -> None:
    files = files_of(connectors)
    content = bytes(range(256)) * (6 << 12)  # more than one part of an upload holds
    written = reference_of("checkpoints/chk-1/sum[0]-1", content)
    files.publish(written.path, memoryview(content))
    assert read_as_written(files.read, written) == content
    files.remove([written.path])
    files.publish(written.path, content[:-1] + b"x")
    with pytest.raises(OSError, match="is missing or not what was stored"):
        read_as_written(files.read, written)


def test_what_is_not_there_is_not_found(connectors: Connectors) -> None:
    files = files_of(connectors)
    assert not files.exists(PATH)
    assert files.below("checkpoints/") == []
    with pytest.raises(FileNotFoundError):
        files.read(PATH)
    files.remove([PATH])


def test_names_are_listed_by_their_beginning_and_removed(connectors: Connectors, store: OwnObjectStore) -> None:
    files = files_of(connectors)
    for path in ("pending/sink[0]-1", "pending/sink[1]-1", "pending/sink[0]-2", PATH):
        files.publish(path, b"content")
    assert files.below("pending/sink[0]-") == ["pending/sink[0]-1", "pending/sink[0]-2"]
    files.remove(["pending/sink[0]-1", PATH])
    assert files.below("") == ["pending/sink[0]-2", "pending/sink[1]-1"]
    names = {connectors.prefix + path for path in files.below("")}
    assert objects_below(store, connectors.prefix) == names


def test_files_of_a_folder_are_those_of_the_run_that_lie_in_it(connectors: Connectors) -> None:
    of = object_files(connectors, LIMIT_S)
    for path in ("checkpoints/job-0/chk-1/_metadata", "checkpoints/job-1/chk-1/_metadata", "job/record-0-1-1"):
        files_of(connectors).publish(path, path.encode())
    Files(of("checkpoints/job-0")).publish("chk-2/_metadata", b"2")
    assert of("checkpoints/job-0").paths("") == ["chk-1/_metadata", "chk-2/_metadata"]
    assert files_of(connectors).read("checkpoints/job-0/chk-2/_metadata") == b"2"
    # As a user names it, who says where savepoints are.
    savepoint = "/folder/savepoint-1/_metadata"
    mine = Files(of(""), elsewhere=lambda directory, _: of(directory))
    mine.publish(savepoint, b"mine")
    assert mine.read(savepoint) == b"".join(of("").read(savepoint[1:], 0, 9)) == b"mine"


def test_a_silent_store_is_an_error_in_time(connectors: Connectors, store: OwnObjectStore) -> None:
    files_of(connectors).publish(PATH, b"content")
    files = files_of(connectors, SILENCE_LIMIT_S)
    store.pause()
    try:
        for ask in (
            lambda: files.read(PATH),
            lambda: files.exists(PATH),
            lambda: files.below("checkpoints/"),
            lambda: files.publish("checkpoints/chk-2/_metadata", b"content"),
            lambda: files.remove([PATH]),
        ):
            silent = r"^[^\n]*: the store does not answer \(\w+\)\.$"
            with ends_within(3 * SILENCE_LIMIT_S), pytest.raises(OSError, match=silent):
                ask()
    finally:
        store.resume()


def test_no_message_holds_the_keys(connectors: Connectors) -> None:
    wrong = replace(connectors, s3_secret_key="not-the-secret-key")
    assert "not-the-secret-key" not in repr(wrong)
    assert wrong.s3_access_key not in repr(wrong)
    with pytest.raises(PermissionError, match=f"bucket '{BUCKET}' refuses {PATH}") as caught:
        files_of(wrong).publish(PATH, b"content")
    assert wrong.s3_access_key not in repr(caught.value)
    assert wrong.s3_secret_key not in repr(caught.value)
