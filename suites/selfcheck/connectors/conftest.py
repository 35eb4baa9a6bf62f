"""One stack for all tests of connectors, and a run of its own for each."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from holdfast.fixtures.reference.connectors.settings import Connectors

if TYPE_CHECKING:
    from holdfast.fixtures.services.stack import Stack

BUCKET = "holdfast"
PARTITIONS = 2
WARM_S = 60.0


@pytest.fixture(scope="package")
def stack() -> Iterator[Stack]:
    from holdfast.fixtures.services.stack import Stack

    with closing(Stack()) as stack:
        stack.start("kafka", "object-store")
        stack.object_store.create_bucket(BUCKET)
        warm_up(stack.kafka.external)
        yield stack


def warm_up(bootstrap: str) -> None:
    """The first transaction and the first group of a broker wait for topics of its own; let it be these."""
    from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

    Producer({"bootstrap.servers": bootstrap, "transactional.id": "first", "log_level": 0}).init_transactions(WARM_S)
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "first", "log_level": 0})
    deadline = time.monotonic() + WARM_S
    while True:
        try:
            consumer.committed([TopicPartition("first", 0)], timeout=WARM_S)
            break
        except KafkaException:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
    consumer.close()


def connectors_of(stack: Stack) -> Connectors:
    """Of a new run, as programs on this host reach them."""
    keys = stack.object_store.keys
    return Connectors(
        run=uuid.uuid4().hex[:10],
        kafka_bootstrap=stack.kafka.external,
        input_partitions=PARTITIONS,
        s3_endpoint=stack.object_store.external,
        s3_access_key=keys.access_key,
        s3_secret_key=keys.secret_key,
        bucket=BUCKET,
    )


@pytest.fixture
def connectors(stack: Stack) -> Iterator[Connectors]:
    """Of a new run whose topics are there."""
    from holdfast.fixtures.reference.connectors.connected import create_resources, delete_resources

    made = connectors_of(stack)
    create_resources(made, PARTITIONS)
    yield made
    delete_resources(made)
