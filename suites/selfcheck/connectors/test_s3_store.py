"""The checkpoint store on a real object store keeps what a checkpoint store promises."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from holdfast.fixtures.reference.connectors.settings import Connectors
from holdfast.fixtures.reference.protocol.storage.medium import read_as_written, reference_of
from holdfast.fixtures.reference.protocol.storage.object_store import ObjectStore
from holdfast.harness.model.events import FileReference
from holdfast.suites.selfcheck.soon import ends_within

if TYPE_CHECKING:
    from holdfast.fixtures.services.stack import Stack

pytestmark = pytest.mark.tier("containers")
LIMIT_S, SILENCE_LIMIT_S = 30.0, 1.0
"""How long a store that lives may need for an answer, and one that stands still gets."""
PATH = "checkpoints/chk-1/_metadata"


@pytest.fixture
def store(connectors: Connectors) -> Stored:
    return Stored(connectors)


class Stored:
    """An object store as one process uses it."""

    def __init__(self, connectors: Connectors, limit_s: float = LIMIT_S) -> None:
        from holdfast.fixtures.reference.connectors.s3_store import S3Store

        self._medium = medium = ObjectStore(S3Store(connectors, limit_s))
        self.read, self.exists, self.below = medium.read, medium.exists, medium.below
        self.publish, self.remove = medium.publish, medium.remove

    def read_as_written(self, file: FileReference) -> bytes:
        return read_as_written(self.read, file)


def test_what_is_published_is_never_overwritten(store: Stored) -> None:
    store.publish(PATH, b"first")
    with pytest.raises(FileExistsError, match="checkpoints/chk-1/_metadata"):
        store.publish(PATH, b"second")
    assert store.read(PATH) == b"first"


def test_contents_are_read_as_their_writer_knew_them_or_not_at_all(store: Stored) -> None:
    content = bytes(range(256)) * (6 << 12)  # more than one part of an upload would hold
    written = reference_of("checkpoints/chk-1/sum[0]-1", content)
    store.publish(written.path, content)
    assert store.read_as_written(written) == content
    store.remove([written.path])
    store.publish(written.path, content[:-1] + b"x")
    with pytest.raises(OSError, match="is missing or not what was stored"):
        store.read_as_written(written)


def test_what_is_not_there_is_not_found(store: Stored) -> None:
    assert not store.exists(PATH)
    assert store.below("checkpoints/") == []
    with pytest.raises(FileNotFoundError):
        store.read(PATH)
    store.remove([PATH])


def test_names_are_listed_by_their_beginning_and_removed(store: Stored, connectors: Connectors, stack: Stack) -> None:
    for path in ("pending/sink[0]-1", "pending/sink[1]-1", "pending/sink[0]-2", PATH):
        store.publish(path, b"content")
    assert store.below("pending/sink[0]-") == ["pending/sink[0]-1", "pending/sink[0]-2"]
    store.remove(["pending/sink[0]-1", PATH])
    assert store.below("") == ["pending/sink[0]-2", "pending/sink[1]-1"]
    objects = stack.object_store.client().list_objects(connectors.bucket, connectors.prefix, recursive=True)
    assert {str(each.object_name) for each in objects} == {connectors.prefix + path for path in store.below("")}


def test_a_silent_store_is_an_error_in_time(connectors: Connectors, stack: Stack) -> None:
    Stored(connectors).publish(PATH, b"content")
    store = Stored(connectors, SILENCE_LIMIT_S)
    stack.object_store.pause()  # type: ignore[union-attr]
    try:
        for ask in (
            lambda: store.read(PATH),
            lambda: store.exists(PATH),
            lambda: store.below("checkpoints/"),
            lambda: store.publish("checkpoints/chk-2/_metadata", b"content"),
            lambda: store.remove([PATH]),
        ):
            silent = r"^[^\n]*the object store does not answer \(\w+\)\.$"
            with ends_within(3 * SILENCE_LIMIT_S), pytest.raises(OSError, match=silent):
                ask()
    finally:
        stack.object_store.resume()  # type: ignore[union-attr]


def test_no_message_holds_the_keys(connectors: Connectors) -> None:
    wrong = replace(connectors, s3_secret_key="not-the-secret-key")
    assert "not-the-secret-key" not in repr(wrong)
    assert wrong.s3_access_key not in repr(wrong)
    with pytest.raises(PermissionError, match="refuses the keys") as caught:
        Stored(wrong).publish(PATH, b"content")
    assert wrong.s3_access_key not in repr(caught.value)
    assert wrong.s3_secret_key not in repr(caught.value)
