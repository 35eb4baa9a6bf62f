"""What a run calls its own at the broker is there for whoever asks next."""

from __future__ import annotations

import pytest

pytest.importorskip("confluent_kafka", reason="needs the extra containers")

from holdfast.fixtures.reference.connectors import connected
from holdfast.fixtures.reference.connectors.settings import Connectors
from holdfast.fixtures.storages.s3 import S3Medium
from holdfast.suites.selfcheck.storage.objects import ObjectsInMemory

WANTED = ("input", "output")
CONNECTORS = Connectors(
    run="1",
    kafka_bootstrap="broker:9092",
    input_partitions=1,
    s3_endpoint="http://store:9000",
    s3_access_key="key",
    s3_secret_key="secret",
    bucket="bucket",
)


def test_topics_are_awaited_until_the_broker_lists_them(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = iter([{}, {"input": 1}, {"input": 1, "output": 1}])
    monkeypatch.setattr(connected, "partition_counts", lambda bootstrap: next(looks))
    connected._await_listed("broker:9092", WANTED)
    assert next(looks, None) is None


def test_one_that_is_never_listed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connected, "partition_counts", lambda bootstrap: {"input": 1})
    monkeypatch.setattr(connected, "ANSWER_LIMIT_S", 0.0)
    with pytest.raises(OSError, match="topic output was created, but the broker at broker:9092 does not list it"):
        connected._await_listed("broker:9092", WANTED)


def test_objects_are_removed_though_nobody_may_list_what_is_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    client = ObjectsInMemory()
    client.tells_uploads = False
    client.objects = {"run-1/job/record": b"", "run-2/job/record": b""}
    monkeypatch.setattr(connected, "partition_counts", lambda bootstrap: {})
    monkeypatch.setattr(connected, "object_files", lambda *_: lambda folder: S3Medium(client, "bucket", "run-1/"))
    connected.delete_resources(CONNECTORS)
    assert list(client.objects) == ["run-2/job/record"]
