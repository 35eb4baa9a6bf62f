"""Feeder and source on a real broker; services that cannot be used are refused, and nothing is left behind."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from msgspec.structs import replace

from holdfast.fixtures.mutants.source import FollowsGroupOffsets
from holdfast.fixtures.reference.connectors.settings import Connectors
from holdfast.fixtures.reference.connectors.source_log import CheckpointPosition
from holdfast.fixtures.reference.drivers.processes.deployment import ProcessDeployment
from holdfast.fixtures.reference.drivers.processes.surroundings import RunServices
from holdfast.fixtures.reference.parts import Variant
from holdfast.fixtures.reference.protocol.configuration.submission import configure
from holdfast.fixtures.workloads.synthetic import Synthetic
from holdfast.harness.adapter.feeder import Feeder
from holdfast.harness.model.records import InputLog, Partition
from holdfast.suites.conformance.plans import plan
from holdfast.suites.selfcheck.connectors.conftest import connectors_of
from holdfast.suites.selfcheck.soon import ends_within

if TYPE_CHECKING:
    from holdfast.fixtures.reference.connectors.kafka_log import KafkaLog
    from holdfast.fixtures.services.stack import Stack


pytestmark = pytest.mark.tier("containers")
REFUSAL_LIMIT_S = 12.0


def deploy(connectors: Connectors, folder: Path) -> None:
    chosen = plan()
    inputs = Synthetic().generate(chosen.workload.parameters, chosen.run_seed)
    services = RunServices(connectors=connectors, inner_connectors=connectors)
    ProcessDeployment(chosen, inputs, Variant(), configure(chosen), folder, services=services).close()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"kafka_bootstrap": "127.0.0.1:9"}, r"no broker responds at 127\.0\.0\.1:9 within 5 s: start it or .*"),
        ({"s3_endpoint": "http://127.0.0.1:9"}, r"object store http://127\.0\.0\.1:9: holdfast: the store does not .*"),
        ({"s3_secret_key": "another"}, r"object store http://127.*: bucket 'holdfast' refuses .*: export keys .*"),
        ({"s3_access_key": "nobody"}, r"object store http://127.*: bucket 'holdfast' refuses .*: export keys .*"),
        ({"bucket": "nowhere"}, r"object store http://127.*: bucket 'nowhere' does not exist: create .*"),
    ],
    ids=lambda changed: next(iter(changed)) if isinstance(changed, dict) else "",
)
def test_what_cannot_be_used_is_refused(stack: Stack, changed: dict[str, Any], message: str, tmp_path: Path) -> None:
    with ends_within(REFUSAL_LIMIT_S), pytest.raises(OSError, match=f"^{message}$") as caught:
        deploy(replace(connectors_of(stack), **changed), tmp_path)
    assert stack.object_store.keys.secret_key not in repr(caught.value)
    assert not (tmp_path / "events").exists()


def test_a_topic_with_another_number_of_partitions_is_refused(connectors: Connectors, tmp_path: Path) -> None:
    wider = replace(connectors, input_partitions=3)
    with pytest.raises(OSError, match=r"^topic holdfast-\w+-input has 2 partitions and the run needs 3: .*\.$"):
        deploy(wider, tmp_path)


def write_as_a_stranger(connectors: Connectors, key: bytes = b"a", partition: int = 0) -> None:
    """A record of somebody else in the input."""
    from confluent_kafka import Producer

    stranger = Producer({"bootstrap.servers": connectors.kafka_bootstrap})
    stranger.produce(connectors.input_topic, b"1", key, partition=partition)
    stranger.flush(REFUSAL_LIMIT_S)


def test_a_topic_that_holds_records_already_is_refused(connectors: Connectors, tmp_path: Path) -> None:
    write_as_a_stranger(connectors)
    with pytest.raises(OSError, match=r"lies at offset \d+ of topic .*-input: somebody else writes to it\.$"):
        deploy(connectors, tmp_path)


LIMIT_S = 30.0
KEYS = ("a", "b", "ü")


def inputs(preloaded: int = 10) -> InputLog:
    """100 and 40 records, those of the second partition all there."""
    return InputLog(
        KEYS,
        (
            Partition(np.arange(100) % 3, np.arange(100) - 50, preloaded, records_per_second=500),
            Partition(np.arange(40) % 2, np.arange(40), 40),
        ),
    )


def feeder_of(connectors: Connectors, **changed: int) -> Feeder:
    from holdfast.fixtures.reference.connectors.kafka_log import topic_feeder

    feeder, preload = topic_feeder(connectors, inputs(**changed))
    preload()
    return feeder


def log_of(connectors: Connectors, position: CheckpointPosition | None = None) -> KafkaLog:
    from holdfast.fixtures.reference.connectors.kafka_log import KafkaLog

    return KafkaLog(connectors, KEYS, position or CheckpointPosition())


def feed_everything(feeder: Feeder) -> None:
    feeder.begin(time.monotonic() * 1000)
    deadline = time.monotonic() + LIMIT_S
    while not feeder.exhausted:
        assert time.monotonic() < deadline
        feeder.advance(time.monotonic() * 1000)
        time.sleep(0.005)


def read_some(log: KafkaLog, partition: int, offset: int, max_records: int = 1000) -> tuple[int, Any, Any]:
    """What there is, as soon as there is something."""
    deadline = time.monotonic() + LIMIT_S
    while True:
        offset, key, value = log.read(partition, offset, max_records)
        if len(key):
            return offset, key, value
        assert time.monotonic() < deadline, f"nothing at offset {offset}"
        time.sleep(0.005)


def test_what_is_preloaded_is_there_and_the_rest_arrives_by_the_clock(connectors: Connectors) -> None:
    feeder = feeder_of(connectors)
    log = log_of(connectors)
    assert [log.end_offset(0), log.end_offset(1)] == [10, 40]
    assert not feeder.exhausted
    began = time.monotonic()
    feed_everything(feeder)
    assert time.monotonic() - began > 0.17  # 90 records at 500 a second
    assert [log.end_offset(0), log.end_offset(1)] == [100, 40]


def test_the_same_range_always_reads_the_same(connectors: Connectors) -> None:
    feed_everything(feeder_of(connectors))
    log = log_of(connectors)
    for offset, count in ((90, 5), (0, 7), (7, 3), (0, 7), (99, 1)):
        first, key, value = read_some(log, 0, offset, count)
        assert first == offset
        assert 1 <= len(key) <= count
        expected = np.arange(offset, offset + len(key))
        assert (key == expected % 3).all()
        assert (value == expected - 50).all()
    assert [len(column) for column in log.read(0, 100, 10)[1:]] == [0, 0]


def test_nothing_is_committed_to_a_group(connectors: Connectors) -> None:
    from confluent_kafka.admin import AdminClient

    feed_everything(feeder_of(connectors))
    first = log_of(connectors)
    read_some(first, 1, 0, 25)
    assert log_of(connectors).read(1, 0, 1)[0] == 0
    admin = AdminClient({"bootstrap.servers": connectors.kafka_bootstrap})  # Its answers die with it.
    groups = admin.list_consumer_groups().result(LIMIT_S)
    assert connectors.input_topic not in {group.group_id for group in groups.valid}


def test_a_source_that_follows_group_offsets_goes_on_where_the_group_is(connectors: Connectors) -> None:
    feed_everything(feeder_of(connectors))
    _, key, _ = read_some(log_of(connectors, FollowsGroupOffsets()), 0, 0, 25)
    restored = log_of(connectors, FollowsGroupOffsets())
    assert read_some(restored, 0, 0, 25)[0] == len(key)


def test_a_record_that_somebody_else_wrote_is_noticed(connectors: Connectors) -> None:
    feeder = feeder_of(connectors)
    write_as_a_stranger(connectors)
    with pytest.raises(OSError, match=r"^record 10 of partition 0 lies at offset 11 of topic .*: somebody else"):
        feed_everything(feeder)


def test_an_unknown_key_is_refused_with_its_place(connectors: Connectors) -> None:
    write_as_a_stranger(connectors, b"unheard-of", partition=1)
    with pytest.raises(OSError, match=r"partition 1 of .*, offset 0: key b'unheard-of' is not among the 3"):
        read_some(log_of(connectors), 1, 0)


def test_an_offset_that_is_not_there_any_more_is_an_error(connectors: Connectors) -> None:
    from confluent_kafka import TopicPartition
    from confluent_kafka.admin import AdminClient

    feed_everything(feeder_of(connectors))
    admin = AdminClient({"bootstrap.servers": connectors.kafka_bootstrap})
    for answer in admin.delete_records([TopicPartition(connectors.input_topic, 0, 50)]).values():
        answer.result(LIMIT_S)
    with pytest.raises(OSError, match=r"partition 0 of .* cannot be read"):
        read_some(log_of(connectors), 0, 20)
