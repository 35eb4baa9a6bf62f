"""Kafka and PostgreSQL in containers: reached from the host and through a link, killed, and back with what they had."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from holdfast.fixtures.services.database import USER
from holdfast.suites.selfcheck.services.listener import becomes

if TYPE_CHECKING:
    from holdfast.fixtures.services.container import Container
    from holdfast.fixtures.services.database import Database
    from holdfast.fixtures.services.kafka import Kafka
    from holdfast.fixtures.services.stack import Stack


pytestmark = pytest.mark.tier("containers")
SEND = """
import os, sys
from confluent_kafka import Producer
bootstrap, topic, text, limit_s = sys.argv[1:]
limit_ms = int(limit_s) * 1_000
producer = Producer({"bootstrap.servers": bootstrap, "log_level": 0, "message.timeout.ms": limit_ms, "linger.ms": 0})
delivered = []
producer.produce(topic, text.encode(), on_delivery=lambda error, message: delivered.append(error))
producer.flush(int(limit_s) + 3)
os._exit(delivered != [None])  # Without waiting for a broker that does not answer.
"""
SOON_S = 2
"""For what is not to be delivered: nobody waits long for that."""


class Send(Protocol):
    def __call__(self, bootstrap: str, name: str, text: str, limit_s: int = ...) -> bool: ...


@pytest.fixture(scope="module")
def broker(stack: Stack) -> Kafka:
    from holdfast.fixtures.services.kafka import Kafka

    assert isinstance(stack.kafka, Kafka)
    return stack.kafka


@pytest.fixture
def topic(broker: Kafka, request: pytest.FixtureRequest) -> str:
    from confluent_kafka.admin import AdminClient
    from confluent_kafka.cimpl import NewTopic

    name = request.node.name
    admin: Any = AdminClient({"bootstrap.servers": broker.external})
    admin.create_topics([NewTopic(name, 1, 1)])[name].result(20)
    return str(name)


@pytest.fixture
def send(probe: Container) -> Send:
    """Whether a producer in a container delivers a text to a topic in time, under an address of the broker."""

    def sent(bootstrap: str, name: str, text: str, limit_s: int = 20) -> bool:
        return probe.execute(["python", "-c", SEND, bootstrap, name, text, str(limit_s)])[0] == 0

    return sent


def serves(broker: Kafka) -> bool:
    """Whether it does by now, or soon: one look is short, and a busy machine may take longer."""
    return becomes(lambda: broker.alive)


def read(broker: Kafka, topic: str, last: str) -> list[str]:
    """From the host: what is committed in a topic, up to a text that must come."""
    from confluent_kafka import Consumer, TopicPartition

    settings = {"bootstrap.servers": broker.external, "group.id": "none", "log_level": 0}
    texts: list[str] = []
    with closing(Consumer({**settings, "isolation.level": "read_committed", "enable.auto.commit": False})) as consumer:
        consumer.assign([TopicPartition(topic, 0, 0)])
        while last not in texts:
            message = consumer.poll(20)
            assert message is not None, f"only {texts}"
            texts.append((message.value() or b"").decode())
    return texts


def test_every_address_leads_to_the_broker(broker: Kafka, topic: str, send: Send) -> None:
    assert send(broker.internal, topic, "directly")
    assert send(broker.proxied, topic, "through the link")
    assert read(broker, topic, "through the link") == ["directly", "through the link"]


def test_a_cut_link_stops_the_system_alone(stack: Stack, broker: Kafka, topic: str, send: Send) -> None:
    stack.links.act("kafka", "cut")
    assert not send(broker.proxied, topic, "system", SOON_S)
    assert send(broker.internal, topic, "harness")
    assert serves(broker)
    stack.links.restore("kafka")
    assert stack.links.whole("kafka")
    assert send(broker.proxied, topic, "again")
    texts = read(broker, topic, "again")
    assert texts.index("harness") < texts.index("again")


def test_a_killed_broker_comes_up_with_what_it_had(broker: Kafka, topic: str, send: Send) -> None:
    assert send(broker.proxied, topic, "before")
    broker.down()
    assert not broker.alive
    assert not send(broker.proxied, topic, "meanwhile", SOON_S)
    broker.up()
    assert serves(broker)
    assert send(broker.proxied, topic, "after")
    assert read(broker, topic, "after") == ["before", "after"]


def test_committed_transactions_outlive_a_kill_and_open_ones_do_not(broker: Kafka, topic: str) -> None:
    from confluent_kafka import Producer

    def transactional() -> Producer:
        settings = {"bootstrap.servers": broker.external, "transactional.id": topic, "linger.ms": 0}
        producer = Producer({**settings, "log_level": 0})
        producer.init_transactions(20)
        return producer

    first = transactional()
    first.begin_transaction()
    first.produce(topic, b"committed")
    first.commit_transaction(20)
    first.begin_transaction()
    first.produce(topic, b"open")
    first.flush(20)
    broker.down()
    broker.up()
    second = transactional()
    second.begin_transaction()
    second.produce(topic, b"of a successor")
    second.commit_transaction(20)
    assert read(broker, topic, "of a successor") == ["committed", "of a successor"]


def test_a_paused_broker_goes_on(broker: Kafka, topic: str, send: Send) -> None:
    broker.pause()
    assert not broker.alive
    assert not send(broker.proxied, topic, "meanwhile", SOON_S)
    broker.resume()
    broker.container.wait_until(lambda: broker.alive)
    assert send(broker.proxied, topic, "after")


def test_no_topic_is_made_by_writing_to_it(broker: Kafka, send: Send) -> None:
    assert not send(broker.internal, "nobody-made-this", "text", SOON_S)


NAME = "holdfast_test"
ASK = """
import os, psycopg, sys
with psycopg.connect(sys.argv[1], connect_timeout=2) as connection:
    print(connection.execute("SELECT number FROM kept").fetchall())
"""


@pytest.fixture(scope="module")
def server(stack: Stack) -> Database:
    import psycopg

    from holdfast.fixtures.services.database import Database

    assert isinstance(stack.database, Database)
    stack.database.create_database(NAME)
    with psycopg.connect(stack.database.url(NAME, direct=True), autocommit=True) as connection:
        connection.execute("CREATE TABLE kept (number int)")
        connection.execute("INSERT INTO kept VALUES (7)")
    return stack.database


def asked(probe: Container, server: Database) -> str:
    """What somebody in a container is told who comes through the link; empty: nothing."""
    code, said = probe.execute(["python", "-c", ASK, server.url(NAME)])
    return "" if code else said.strip()


def test_what_was_committed_outlives_a_kill(server: Database, probe: Container) -> None:
    server.down()
    assert (server.alive, asked(probe, server)) == (False, "")
    server.up()
    assert (becomes(lambda: server.alive), asked(probe, server)) == (True, "[(7,)]")


def test_what_stands_still_is_not_alive_and_goes_on(server: Database) -> None:
    server.pause()
    alive = server.alive
    server.resume()
    assert (alive, becomes(lambda: server.alive)) == (False, True)


def test_its_link_can_be_cut_and_the_host_goes_past_it(stack: Stack, server: Database, probe: Container) -> None:
    stack.links.act("database", "cut")
    assert (asked(probe, server), becomes(server.serves)) == ("", True)
    stack.links.restore("database")
    assert asked(probe, server) == "[(7,)]"


def test_nobody_gets_in_without_the_password_and_nobody_sees_it(stack: Stack, server: Database) -> None:
    import psycopg

    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(f"postgresql://{USER}:wrong@{server.external}/{NAME}")
    password = server.url("a").split(":")[2].split("@")[0]
    assert password in stack.secrets
    assert password not in server.container.log()
    _, seen = server.container.execute(["sh", "-c", "cat /proc/[0-9]*/cmdline /proc/1/environ"], user="postgres")
    assert ("fsync" in seen, "PATH=" in seen, password in seen) == (True, True, False)
