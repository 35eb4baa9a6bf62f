"""The kit of checkpoint storages: right ones pass it, in memory, in folders, on object stores, and a strange one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from holdfast.fixtures.mutants.checkpoint_storages.on_memory import VARIANTS as IN_MEMORY
from holdfast.fixtures.mutants.checkpoint_storages.on_s3 import VARIANTS as ON_S3
from holdfast.fixtures.storages.memory import MAX_STATE
from holdfast.fixtures.storages.on_medium import MEBIBYTE
from holdfast.fixtures.storages.s3 import KEYS, _session, s3_files
from holdfast.fixtures.storages.stored_files import SEAL_BYTES
from holdfast.harness.engine.site.program_share import fewer_programs
from holdfast.harness.model.status import Status
from holdfast.harness.spi.file_system import FileSystemContext
from holdfast.harness.spi.storage import CheckpointStorageFactory, StorageContext, storage_factory
from holdfast.suites.certify import checkpoint_storage
from holdfast.suites.certify.checkpoint_storage import judge
from holdfast.suites.selfcheck.certify import short_files
from holdfast.suites.selfcheck.certify.strange_storage import MISTAKES, HoldsConnections, Rows

if TYPE_CHECKING:
    from holdfast.fixtures.services.broker_and_store import BrokerAndStore

FACTORY: CheckpointStorageFactory = Rows
STRANGE = f"{Rows.__module__}:Rows"
CHECKS = {check.id: check for check in checkpoint_storage.CHECKS}
BUCKET = "holdfast"
ON_A_STORE = ("STO-02/exclusive", "STO-02/losers", "STO-08/one-name", "STO-05/fenced", "STO-01/published")
"""Of a whole kit on an object store, what the store itself decides; the rest is for the night."""
WRONG_ON_S3 = {
    "errors-as-they-come": "STO-09/requests",
    "loses-the-refused": "STO-09/requests",
    "unconditional": "STO-02/exclusive",
}
SHORT = (1_100, 12_000, 70_000, 11 * MEBIBYTE)
"""Longest files: below, between and exactly what checks write where they may."""
NOT_IN_A_SHORT_FOLDER = {"STO-09/requests", "STO-02/overtaken-here", "STO-03/room"}
"""What a folder with short files has not: a wire, an end with its process, content that is longer than its records."""
WRONG_IN_MEMORY = {"looks-without-a-lock": "STO-02/overtaken-here", "whole-pieces": "STO-07/ranges"}

# The certificate of the reference asks these, too.
test_memory = pytest.mark.nightly(checkpoint_storage.kit("memory://certify"))
test_file = pytest.mark.nightly(checkpoint_storage.kit("file:///dev/shm"))
test_strange = pytest.mark.nightly(checkpoint_storage.kit(STRANGE, location="file:///dev/shm"))


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("nothing://place", "has no known scheme; known: file://, hdfs://, memory://, oss://, s3://"),
        ("no.such.module:Storage", "cannot be loaded"),
        (f"{Rows.__module__}:_LONGEST", "is a int"),
    ],
)
def test_a_name_that_leads_nowhere_is_one_sentence(name: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence) as raised:
        checkpoint_storage.target_of(name)
    assert "\n" not in str(raised.value)


def test_two_places_are_one_too_many() -> None:
    with pytest.raises(ValueError, match="leave out --location"):
        checkpoint_storage.target_of("memory://a", "memory://b")


@pytest.mark.parametrize(("mistake", "check"), MISTAKES.items(), ids=lambda each: getattr(each, "__name__", each))
def test_a_mistake_of_somebody_else_is_refuted(mistake: type[Rows], check: str) -> None:
    verdict = judge(CHECKS[check], checkpoint_storage.target_of(mistake, "file:///dev/shm"))
    assert verdict.status is Status.FAIL, verdict.text
    assert judge(CHECKS[check], checkpoint_storage.target_of(STRANGE, "file:///dev/shm")).status is Status.PASS


@pytest.mark.parametrize(("variant", "check"), WRONG_IN_MEMORY.items())
def test_a_wrong_one_in_memory_is_refuted(variant: str, check: str) -> None:
    verdict = judge(CHECKS[check], checkpoint_storage.target_of(IN_MEMORY[variant], f"memory://{variant}"))
    assert verdict.status is Status.FAIL, verdict.text
    right = judge(CHECKS[check], checkpoint_storage.target_of("memory://certify"))
    assert right.status is Status.PASS, right.text


@pytest.mark.parametrize("longest", SHORT)
@pytest.mark.share(4)
def test_what_declares_room_for_short_files_alone_is_asked_for_no_longer_ones(longest: int) -> None:
    target = checkpoint_storage.target_of("memory://short-files", options={MAX_STATE: str(longest)})
    with fewer_programs(1 / 8):
        verdicts = list(checkpoint_storage.certify(target))
    assert [each.text for each in verdicts if each.status not in (Status.PASS, Status.NOT_APPLICABLE)] == []
    tried = {each.check.id for each in verdicts if each.status is Status.PASS}
    assert tried >= {"STO-08/program", "SBK-07/longest", "STO-01/published"}


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("longest", [2_000, 12_000])
@pytest.mark.share(8)
def test_no_check_is_left_out_where_files_are_short(longest: int, check: str) -> None:
    options = {short_files.LONGEST: str(longest + SEAL_BYTES)}
    target = checkpoint_storage.target_of(f"{short_files.__name__}:short_storage", options=options)
    with fewer_programs(1 / 8):
        verdict = judge(CHECKS[check], target)
    allowed = Status.NOT_APPLICABLE if check in NOT_IN_A_SHORT_FOLDER else Status.PASS
    assert verdict.status is allowed, verdict.text


def test_what_declares_room_for_hardly_anything_is_not_tried() -> None:
    target = checkpoint_storage.target_of("memory://hardly", options={MAX_STATE: "100"})
    verdict = judge(CHECKS["STO-08/program"], target)
    assert (verdict.status, verdict.reason) == (
        Status.NOT_APPLICABLE,
        "it needs a max_file_bytes of 1024, and 100 is declared",
    )


@pytest.mark.parametrize(
    ("uri", "options", "sentence"),
    [
        ("file://host/folder", {}, "no folder of this machine"),
        ("file://", {}, "no folder of this machine"),
        ("s3://", {}, "names no bucket: write s3://bucket/prefix"),
        ("memory://a", {"budget-bytes": "1"}, "'budget-bytes' is '1'; write a whole number of bytes from 5242924"),
        ("s3://bucket", {"s3.path.style.access": "yes"}, "write true or false"),
        ("oss://bucket", {"s3.nothing": "1"}, "option 's3.nothing' is unknown"),
    ],
)
def test_a_place_that_is_none_is_one_sentence(uri: str, options: Mapping[str, str], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        storage_factory(uri)(StorageContext(uri=uri, job="job", options=options))


def test_an_object_store_without_keys_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    boto3 = pytest.importorskip("boto3", reason="the extra services is not installed")
    _session.cache_clear()  # One of before has looked for keys already.
    for name in (*KEYS, "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert boto3.session.Session().get_credentials() is None
    context = FileSystemContext(uri="s3://bucket", options={"s3.endpoint": "http://127.0.0.1:9"})
    with pytest.raises(PermissionError, match=f"no keys for bucket 'bucket': export {KEYS[0]} and .* by --env"):
        s3_files(context)


class Store:
    """An object store, and how storages reach it."""

    def __init__(self, stack: BrokerAndStore) -> None:
        stack.start("object-store")
        stack.object_store.create_bucket(BUCKET)
        self.keys = stack.object_store.keys
        self.options = {"s3.endpoint": stack.object_store.external, "s3.path.style.access": "true"}

    def refutes(self, monkeypatch: pytest.MonkeyPatch, variant: str, check: str) -> None:
        """A check refutes a wrong storage on it."""
        self._let_in(monkeypatch)
        target = checkpoint_storage.target_of(ON_S3[variant], f"s3://{BUCKET}/certify", self.options)
        verdict = judge(CHECKS[check], target)
        assert verdict.status is Status.FAIL, verdict.text

    def _let_in(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOLDFAST_S3_ACCESS_KEY", self.keys.access_key)
        monkeypatch.setenv("HOLDFAST_S3_SECRET_KEY", self.keys.secret_key)

    def judged(self, monkeypatch: pytest.MonkeyPatch, check: str, scheme: str = "s3") -> None:
        """A check of a storage on it passes, or does not apply."""
        self._let_in(monkeypatch)
        target = checkpoint_storage.target_of(f"{scheme}://{BUCKET}/certify", options=self.options)
        verdict = judge(CHECKS[check], target)
        if verdict.status is Status.NOT_APPLICABLE:
            pytest.skip(verdict.reason)
        assert verdict.status is Status.PASS, verdict.text
        assert not self.keys.secrets & set(verdict.text.split())


@pytest.fixture(scope="module")
def minio() -> Iterator[Store]:
    from holdfast.fixtures.services.stack import Stack

    with closing(Stack()) as stack:
        yield Store(stack)


@pytest.fixture(scope="module")
def versitygw() -> Iterator[Store]:
    from holdfast.fixtures.services.processes.stack import ProcessStack

    with closing(ProcessStack()) as stack:
        yield Store(stack)


@pytest.mark.tier("containers")
@pytest.mark.parametrize("check", ON_A_STORE)
def test_minio(minio: Store, check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    minio.judged(monkeypatch, check)


@pytest.mark.nightly
@pytest.mark.tier("containers")
@pytest.mark.parametrize(("variant", "check"), WRONG_ON_S3.items())
def test_a_wrong_one_on_minio_is_refuted(
    minio: Store, variant: str, check: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    minio.refutes(monkeypatch, variant, check)


@pytest.mark.nightly
@pytest.mark.tier("containers")
@pytest.mark.parametrize("check", CHECKS)
def test_minio_by_night(minio: Store, check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    minio.judged(monkeypatch, check)


@pytest.mark.nightly
@pytest.mark.tier("containers")
@pytest.mark.parametrize("check", CHECKS)
def test_protocol_of_oss_on_minio(minio: Store, check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    minio.judged(monkeypatch, check, "oss")


@pytest.mark.nightly
@pytest.mark.tier("process")
@pytest.mark.parametrize("check", CHECKS)
def test_a_foreign_object_store(versitygw: Store, check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    versitygw.judged(monkeypatch, check)


@pytest.mark.parametrize("check", ["STO-01/crashes", "STO-01/half-dropped", "STO-05/late", "STO-08/half-claimed"])
def test_a_storage_of_few_connections_is_right(check: str) -> None:
    HoldsConnections.held.clear()
    verdict = judge(CHECKS[check], checkpoint_storage.target_of(HoldsConnections, "file:///dev/shm"))
    assert verdict.status is Status.PASS, verdict.text
    assert not HoldsConnections.held
