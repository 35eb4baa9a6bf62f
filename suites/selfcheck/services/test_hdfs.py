"""HDFS as processes: what is published survives whatever befalls a NameNode or a DataNode, and nothing half is seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from time import monotonic, sleep

import pytest

from holdfast.fixtures.services.processes.installation import missing
from holdfast.fixtures.services.processes.own_process import Session
from holdfast.fixtures.services.site import HDFS
from holdfast.fixtures.storages.hdfs import TIMEOUT, HdfsMedium, hdfs_files
from holdfast.fixtures.storages.stored_files import put
from holdfast.harness.spi.errors import Transient
from holdfast.harness.spi.file_system import FileSystemContext, Upload
from holdfast.suites.selfcheck.services.hdfs import Hdfs

pytestmark = [pytest.mark.nightly, pytest.mark.tier("process")]
LIMIT_MS = "5000"
RECOVERY_LIMIT_S = 180.0
CONTENT = b"content" * 100_000


@pytest.fixture(scope="module")
def hdfs() -> Iterator[Hdfs]:
    pytest.importorskip("hdfs_native", reason="the extra hdfs is not installed")
    if absent := missing(HDFS):
        pytest.skip(absent)
    with closing(Session()) as session:
        made = Hdfs(session)
        made.start()
        yield made


@pytest.fixture
def files(hdfs: Hdfs, request: pytest.FixtureRequest) -> HdfsMedium:
    context = FileSystemContext(uri=f"{hdfs.uri}/faults", folder=request.node.name, options={TIMEOUT: LIMIT_MS})
    return hdfs_files(context)


def content(files: HdfsMedium, path: str) -> bytes:
    return b"".join(files.read(path, 0, 1 << 30))


def within_limit(call: Callable[[], None]) -> None:
    """Again and again behind Transient, as whoever writes checkpoints does."""
    deadline_s = monotonic() + RECOVERY_LIMIT_S
    while True:
        try:
            return call()
        except Transient:
            assert monotonic() < deadline_s
            sleep(0.5)


def test_a_name_node_that_stands_still_is_an_error_that_passes(hdfs: Hdfs, files: HdfsMedium) -> None:
    put(files, "a/before", CONTENT)
    upload = files.begin("a/during")
    upload.write(CONTENT)
    hdfs.name_node.pause()
    try:
        with pytest.raises(Transient, match="does not answer within 5 s"):
            files.paths("")
        with pytest.raises(Transient, match="does not answer within 5 s"):
            upload.publish()
    finally:
        hdfs.name_node.resume()
    within_limit(lambda: published(upload.publish))
    assert files.paths("") == ["a/before", "a/during"]
    assert content(files, "a/during") == CONTENT


def written(upload: Upload, content: bytes) -> None:
    upload.write(content)
    upload.publish()


def published(publish: Callable[[], None]) -> None:
    """Also by an earlier call, whose answer was lost."""
    with suppress(FileExistsError):
        publish()


def test_a_data_node_that_is_killed_during_a_write_leaves_nothing(hdfs: Hdfs, files: HdfsMedium) -> None:
    put(files, "a/before", CONTENT)
    upload = files.begin("a/during")
    upload.write(CONTENT)
    hdfs.data_node.down()
    with pytest.raises(Transient):
        written(upload, CONTENT * 10)
    assert files.paths("") == ["a/before"]
    upload.abandon()
    hdfs.data_node.up()
    within_limit(lambda: put(files, "a/during", CONTENT))
    assert content(files, "a/before") == content(files, "a/during") == CONTENT
    assert not list(files.client.library.list_status(files.at("_uploads"), True))


def test_a_name_node_that_was_killed_has_all_that_was_published(hdfs: Hdfs, files: HdfsMedium) -> None:
    put(files, "a/before", CONTENT)
    hdfs.name_node.down()
    with pytest.raises(Transient):
        files.paths("")
    hdfs.name_node.up()
    within_limit(lambda: put(files, "a/behind", CONTENT))
    assert files.paths("a") == ["a/before", "a/behind"]
    assert content(files, "a/before") == CONTENT


def test_a_lease_of_who_is_gone_is_recovered_and_only_whole_files_are_published(files: HdfsMedium) -> None:
    """Where the answer to closing was lost, the file may be whole or not."""
    cut, whole = files.begin("cut"), files.begin("whole")
    for upload in (cut, whole):
        upload.write(CONTENT)
    whole._ask(lambda: whole._writer.hsync())
    for upload in (cut, whole):
        upload._closing = True  # As behind a call that nobody answered.
    within_limit(lambda: published(whole.publish))
    assert content(files, "whole") == CONTENT
    cut._size += 1
    with pytest.raises(Transient, match=r"recovered|write it again"):
        cut.publish()
    assert files.paths("") == ["whole"]


def test_a_claim_takes_the_file_of_a_writer_who_goes_on(files: HdfsMedium) -> None:
    upload = files.begin("late")
    upload.write(CONTENT)
    files.abandon_uploads()
    with pytest.raises(Transient, match="given up"):
        upload.publish()
    with pytest.raises(Transient, match="given up"):
        upload.publish()
    assert files.paths("") == []


def test_of_two_the_first_gets_the_name(files: HdfsMedium) -> None:
    first, second = files.begin("name"), files.begin("name")
    for upload, words in ((second, b"second"), (first, b"first")):
        upload.write(words)
    second.publish()
    with pytest.raises(FileExistsError):
        first.publish()
    assert content(files, "name") == b"second"
