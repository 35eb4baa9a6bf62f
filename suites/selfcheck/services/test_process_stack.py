"""Broker and object store as processes: they serve, die, come back with what they had, stand still, and show no key."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from holdfast.fixtures.services.own_service import OwnService
from holdfast.fixtures.services.processes.broker import KafkaProcess
from holdfast.fixtures.services.processes.installation import missing
from holdfast.fixtures.services.processes.stack import ProcessStack, StoreProcess
from holdfast.fixtures.services.site import KAFKA, OBJECT_STORE
from holdfast.fixtures.storages.s3 import client_of
from holdfast.harness.spi.service import Site
from holdfast.suites.selfcheck.marks import unless
from holdfast.suites.selfcheck.services.listener import becomes

ABSENT = missing(KAFKA, OBJECT_STORE)
pytestmark = [pytest.mark.tier("process"), pytest.mark.nightly, unless(ABSENT)]
BUCKET, TOPIC = "holdfast", "holdfast-lives"
RACERS, RACES = 8, 25
ANSWER_S = 20.0
CLIENT: dict[str, Any] = {"log_level": 0, "reconnect.backoff.max.ms": 200}


@pytest.fixture(scope="module")
def stack() -> Iterator[ProcessStack]:
    with closing(ProcessStack()) as made:
        made.start()
        yield made


def broker(stack: ProcessStack) -> KafkaProcess:
    return cast("KafkaProcess", stack.kafka)


def store(stack: ProcessStack) -> StoreProcess:
    return cast("StoreProcess", stack.object_store)


def alive(service: OwnService) -> bool:
    return service.alive


def sent(bootstrap: str, value: bytes) -> None:
    """A message that the broker has acknowledged."""
    from confluent_kafka import Producer

    failures: list[object] = []
    producer = Producer({**CLIENT, "bootstrap.servers": bootstrap})
    producer.produce(TOPIC, value, on_delivery=lambda error, _: failures.append(error) if error else None)
    assert not producer.flush(ANSWER_S)
    assert not failures


def messages(bootstrap: str, count: int) -> list[bytes]:
    """So many from the beginning."""
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({**CLIENT, "bootstrap.servers": bootstrap, "group.id": "reads", "enable.auto.commit": False})
    consumer.assign([TopicPartition(TOPIC, 0, 0)])
    found: list[bytes] = []
    deadline_s = time.monotonic() + ANSWER_S
    while len(found) < count and time.monotonic() < deadline_s:
        message = consumer.poll(0.5)
        if message is not None and message.error() is None:
            found.append(message.value())
    consumer.close()
    return found


def test_the_broker_keeps_what_it_acknowledged_through_a_kill(stack: ProcessStack) -> None:
    from confluent_kafka.admin import AdminClient, NewTopic

    own = broker(stack)
    admin = AdminClient({**CLIENT, "bootstrap.servers": own.external})  # Its answers die with it.
    for future in admin.create_topics([NewTopic(TOPIC, 1)]).values():
        future.result(ANSWER_S)
    sent(own.proxied, b"first")
    own.down()
    assert not alive(own)
    assert not own.process.running
    own.up()
    assert alive(own)
    sent(own.external, b"second")
    assert messages(own.proxied, 2) == [b"first", b"second"]


def test_who_comes_through_the_link_never_goes_around_it(stack: ProcessStack) -> None:
    from confluent_kafka.admin import AdminClient

    for address in (broker(stack).external, broker(stack).proxied):
        found = AdminClient({**CLIENT, "bootstrap.servers": address}).list_topics(timeout=ANSWER_S).brokers
        assert [f"{each.host}:{each.port}" for each in found.values()] == [address]


def test_what_stands_still_is_not_alive_and_goes_on(stack: ProcessStack) -> None:
    for service in (broker(stack), store(stack)):
        service.pause()
        assert service.process.running
        assert not alive(service)
        service.resume()
        assert becomes(lambda service=service: service.alive)  # type: ignore[misc]


def test_the_store_keeps_objects_through_a_kill(stack: ProcessStack) -> None:
    from io import BytesIO

    own = store(stack)
    own.create_bucket(BUCKET)
    own.create_bucket(BUCKET)
    parts = bytes(6 << 20)
    own.client().put_object(BUCKET, "a/parts", BytesIO(parts), len(parts), part_size=5 << 20)
    own.down()
    assert not alive(own)
    own.up()
    assert own.client().get_object(BUCKET, "a/parts").read() == parts


@pytest.mark.parametrize("condition", ["IfNoneMatch", "IfMatch"])
def test_of_puts_on_a_condition_exactly_one_wins(stack: ProcessStack, condition: str) -> None:
    """A store in which two can win would be blamed on the system under test."""
    own = store(stack)
    own.create_bucket(BUCKET)
    client = client_of(own.external, own.keys.access_key, own.keys.secret_key, ANSWER_S)
    with ThreadPoolExecutor(RACERS) as pool:
        for race in range(RACES):
            key = f"{condition}-{race}"
            wanted = "*"
            if condition == "IfMatch":
                wanted = client.put_object(Bucket=BUCKET, Key=key, Body=b"before")["ETag"]

            def put(racer: int, key: str = key, wanted: str = wanted) -> str:
                try:
                    client.put_object(Bucket=BUCKET, Key=key, Body=b"%d" % racer, **{condition: wanted})
                except client.exceptions.ClientError as error:
                    return str(error.response["Error"]["Code"])
                return ""

            codes = list(pool.map(put, range(RACERS)))
            won = [racer for racer, code in enumerate(codes) if not code]
            assert len(won) == 1
            assert set(codes) == {"", "PreconditionFailed"}
            assert client.get_object(Bucket=BUCKET, Key=key)["Body"].read() == b"%d" % won[0]


def test_no_key_is_seen(stack: ProcessStack, tmp_path: Path) -> None:
    keys = store(stack).keys
    stack.save_logs(tmp_path)
    shown = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert set(shown) == {"kafka.log", "object-store.log", "relay.log"}
    for service in (broker(stack), store(stack)):
        shown[service.process.name] = Path(f"/proc/{service.process.pid}/cmdline").read_text()
    shown["repr"] = f"{keys!r} {stack!r} {vars(stack)!r} {stack.object_store!r}"
    for name, text in shown.items():
        assert not any(key in text for key in keys.secrets), name


def test_services_of_others_are_used_in_their_place(stack: ProcessStack) -> None:
    keys = store(stack).keys
    given = Site(
        kafka_bootstrap=broker(stack).external,
        s3_endpoint=store(stack).external,
        s3_access_key=keys.access_key,
        s3_secret_key=keys.secret_key,
        allow_faults_on=frozenset({OBJECT_STORE}),
    )
    with closing(ProcessStack(given)) as beside:
        beside.require_reachable()
        beside.start()
        assert beside.kafka.proxied == broker(stack).external
        assert beside.object_store.external == store(stack).external
        assert beside.object_store.proxied != store(stack).external
        beside.links.reset(OBJECT_STORE)
    assert alive(broker(stack))
    assert alive(store(stack))
