"""Streams between state backends and the steps of a store: an upload is collected, a restore finds what was read."""

from __future__ import annotations

from zlib import crc32

import pytest

from holdfast.fixtures.reference.protocol.storage.staged_streams import PreloadedStreams, StagedStreams
from holdfast.harness.model.events import FileReference
from holdfast.harness.spi.errors import Damaged
from holdfast.harness.spi.storage import Scope

PATH = "exclusive/a"
STORED = FileReference(PATH, 6, crc32(b"abcdef"))


def staged() -> StagedStreams:
    return StagedStreams(lambda scope, name: f"{scope}/{name}")


def commit(streams: StagedStreams, *pieces: bytes) -> FileReference:
    stream = streams.create(Scope.EXCLUSIVE, "a", b"token")
    for piece in pieces:
        stream.write(piece)
    return stream.commit()


def test_a_file_is_there_once_it_is_committed() -> None:
    streams = staged()
    stream = streams.create(Scope.EXCLUSIVE, "a", b"token")
    stream.write(b"abc")
    assert not streams.files
    stream.write(b"def")
    assert stream.commit() == STORED
    assert {path: bytes(file.content) for path, file in streams.files.items()} == {PATH: b"abcdef"}


def test_committed_again_it_is_the_same_file() -> None:
    streams = staged()
    assert commit(streams, b"abcdef") == commit(streams, b"abc", b"def") == STORED
    with pytest.raises(FileExistsError, match="other content"):
        commit(streams, b"abcdeg")


def test_of_a_cancelled_file_nothing_is_left() -> None:
    streams = staged()
    stream = streams.create(Scope.EXCLUSIVE, "a", b"token")
    stream.write(b"abc")
    stream.cancel()
    stream.cancel()
    with pytest.raises(RuntimeError, match="cancelled"):
        stream.commit()
    assert not streams.files


def test_what_is_staged_can_be_read_and_given_up() -> None:
    streams = staged()
    commit(streams, b"abcdef")
    assert b"".join(streams.read(STORED, 2, 3)) == b"cde"
    assert streams.delete([STORED]) == ()
    with pytest.raises(FileNotFoundError):
        streams.read(STORED)


def test_a_name_is_one_segment() -> None:
    with pytest.raises(ValueError, match="segment"):
        staged().create(Scope.EXCLUSIVE, "sum[0]", b"")


def test_a_restore_reads_the_whole_or_a_range() -> None:
    streams = PreloadedStreams({PATH: b"abcdef"})
    assert b"".join(streams.read(STORED)) == b"abcdef"
    assert b"".join(streams.read(STORED, 1, 0)) == b""
    assert b"".join(streams.read(STORED, 4)) == b"ef"
    with pytest.raises(ValueError, match="not within"):
        streams.read(STORED, 4, 3)


@pytest.mark.parametrize("content", [b"abcdeg", b"abc"])
def test_a_whole_file_that_is_not_what_was_written_is_damaged(content: bytes) -> None:
    with pytest.raises(Damaged):
        PreloadedStreams({PATH: content}).read(STORED)


def test_a_restore_finds_only_what_was_read_and_writes_nothing() -> None:
    streams = PreloadedStreams({})
    with pytest.raises(FileNotFoundError):
        streams.read(STORED)
    with pytest.raises(RuntimeError, match="writes no files"):
        streams.create(Scope.SHARED, "a", b"")
    with pytest.raises(RuntimeError, match="deletes no files"):
        streams.delete([STORED])
