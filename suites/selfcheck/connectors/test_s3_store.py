"""The checkpoint store on a real object store keeps what a checkpoint store promises."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from holdfast.fixtures.reference.connectors.checkpoint_store import read_checked, reference_of
from holdfast.fixtures.reference.connectors.settings import Connectors

if TYPE_CHECKING:
    from holdfast.fixtures.reference.connectors.s3_store import S3Store
    from holdfast.fixtures.services.stack import Stack

pytestmark = pytest.mark.tier("containers")
LIMIT_S = 1.0
PATH = "checkpoints/chk-1/_metadata"


@pytest.fixture
def store(connectors: Connectors) -> S3Store:
    return opened(connectors)


def opened(connectors: Connectors) -> S3Store:
    from holdfast.fixtures.reference.connectors.s3_store import S3Store

    return S3Store(connectors, LIMIT_S)


def test_what_is_published_is_never_overwritten(store: S3Store) -> None:
    assert store.publish(PATH, b"first") == reference_of(PATH, b"first")
    with pytest.raises(FileExistsError, match="checkpoints/chk-1/_metadata"):
        store.publish(PATH, b"second")
    assert store.read(PATH) == b"first"


def test_contents_are_read_as_their_writer_knew_them_or_not_at_all(store: S3Store) -> None:
    content = bytes(range(256)) * (6 << 12)  # more than one part of an upload would hold
    written = store.write("checkpoints/chk-1/sum[0]-1", content)
    assert read_checked(store, written) == content
    store.write(written.path, content[:-1] + b"x")
    with pytest.raises(OSError, match="is not what was stored"):
        read_checked(store, written)


def test_what_is_not_there_is_not_found(store: S3Store) -> None:
    assert not store.exists(PATH)
    assert store.below("checkpoints/") == []
    with pytest.raises(FileNotFoundError):
        store.read(PATH)
    store.remove([PATH])


def test_names_are_listed_by_their_beginning_and_removed(store: S3Store, connectors: Connectors, stack: Stack) -> None:
    for path in ("pending/sink[0]-1", "pending/sink[1]-1", "pending/sink[0]-2", PATH):
        store.write(path, b"content")
    assert store.below("pending/sink[0]-") == ["pending/sink[0]-1", "pending/sink[0]-2"]
    store.remove(["pending/sink[0]-1", PATH])
    assert store.below("") == ["pending/sink[0]-2", "pending/sink[1]-1"]
    objects = stack.object_store.client().list_objects(connectors.bucket, connectors.prefix, recursive=True)
    assert {str(each.object_name) for each in objects} == {connectors.prefix + path for path in store.below("")}


def test_a_record_is_replaced_also_by_who_did_not_write_it(store: S3Store, connectors: Connectors) -> None:
    for content in (b"1", b"2", b"3"):
        store.replace("job/record", content)
    successor = opened(connectors)
    successor.replace("job/record", b"4")
    assert store.read("job/record") == b"4"
    with pytest.raises(OSError, match="replacing job/record: something else is there already"):
        store.replace("job/record", b"of a dead life, late")
    assert successor.read("job/record") == b"4"


def test_nothing_appears_late_under_a_sealed_name(store: S3Store, connectors: Connectors) -> None:
    assert not store.seal([PATH])
    assert not store.exists(PATH)
    assert store.below("checkpoints/") == []
    with pytest.raises(FileNotFoundError):
        store.read(PATH)
    with pytest.raises(FileExistsError):
        opened(connectors).publish(PATH, b"of a dead coordinator, late")
    assert not store.seal([PATH])


def test_a_seal_that_comes_too_late_says_so(store: S3Store) -> None:
    store.publish(PATH, b"in time")
    assert store.seal(["checkpoints/chk-2/_metadata", PATH])
    assert store.read(PATH) == b"in time"


def test_a_silent_store_is_an_error_in_time(store: S3Store, stack: Stack) -> None:
    store.write(PATH, b"content")
    stack.object_store.pause()  # type: ignore[union-attr]
    try:
        for ask in (
            lambda: store.read(PATH),
            lambda: store.exists(PATH),
            lambda: store.below("checkpoints/"),
            lambda: store.write(PATH, b"content"),
            lambda: store.replace("job/record", b"content"),
            lambda: store.publish("checkpoints/chk-2/_metadata", b"content"),
            lambda: store.remove([PATH]),
        ):
            began = time.monotonic()
            with pytest.raises(OSError, match=r"^[^\n]*the object store does not answer \(\w+\)\.$"):
                ask()
            assert time.monotonic() - began < 3 * LIMIT_S
    finally:
        stack.object_store.resume()  # type: ignore[union-attr]


def test_no_message_holds_the_keys(connectors: Connectors) -> None:
    wrong = replace(connectors, s3_secret_key="not-the-secret-key")
    assert "not-the-secret-key" not in repr(wrong)
    assert wrong.s3_access_key not in repr(wrong)
    with pytest.raises(PermissionError, match="refuses the keys") as caught:
        opened(wrong).publish(PATH, b"content")
    assert wrong.s3_access_key not in repr(caught.value)
    assert wrong.s3_secret_key not in repr(caught.value)
