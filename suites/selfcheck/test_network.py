"""The network of the simulator: what arrives where, in which order, and what faults do to that."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.fixtures.reference.drivers.outbox import Message
from holdfast.fixtures.reference.drivers.simulated.events import CONNECT, LOST, MESSAGE
from holdfast.fixtures.reference.drivers.simulated.network import Connection, Network
from holdfast.fixtures.reference.protocol.messages import NotifyCheckpoint, Ping, TriggerCheckpoint
from holdfast.harness.model.message_contract import ALL_KINDS, Disturbance, MessageKind, Way
from holdfast.harness.sim.kernel import MILLISECOND_NS, Kernel
from holdfast.harness.sim.streams import Stream

NOTICE = NotifyCheckpoint(1, "sum[0]", 1, completed=True)
TRIGGER = TriggerCheckpoint(1, "source[0]", 2)
PING = Ping(1, 0)
HOUR_MS = 3_600_000
SOON_NS = 60 * MILLISECOND_NS
LATE_NS = 2 * HOUR_MS * MILLISECOND_NS


class Life:
    """A process that notes what it hears."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.alive = True
        self.heard: list[tuple[int, Any]] = []

    def deliver(self, kind: int, event: Any) -> None:
        connection, content = event
        assert isinstance(connection, Connection)
        self.heard.append((kind, content))

    @property
    def messages(self) -> list[Any]:
        """Of what it heard."""
        return [content for kind, content in self.heard if kind == MESSAGE]


class Wire:
    """A coordinator and a worker with a connection."""

    def __init__(self) -> None:
        self.kernel = Kernel()
        self.network = Network(self.kernel, Stream(1, "network"))
        self.coordinator, self.worker = Life(0), Life(1)
        self.network.coordinator = self.coordinator
        self.connection = Connection(self.coordinator, self.worker)
        self.line = self.connection.to_worker

    def run(self, until_ns: int) -> list[Any]:
        """Let time pass; the messages that the worker has heard by then."""
        self.kernel.run(until_ns)
        return self.worker.messages


@pytest.fixture
def wire() -> Wire:
    return Wire()


def test_messages_arrive_in_the_order_of_sending(wire: Wire) -> None:
    sent: list[Message] = [PING, TRIGGER, NOTICE] * 20
    for message in sent:
        wire.network.carry(wire.line, message)
    assert wire.run(SOON_NS) == sent
    assert not wire.coordinator.heard


def test_what_is_sent_behind_a_late_message_waits_unless_it_may_overtake(wire: Wire) -> None:
    late = Disturbance(MessageKind.COMPLETE, Way.DELAY, delay_ms=HOUR_MS, overtaken_by=frozenset({MessageKind.TRIGGER}))
    wire.network.delay(wire.line, NOTICE, late)
    behind: tuple[Message, ...] = (TRIGGER, PING, TRIGGER)
    for message in behind:
        wire.network.carry(wire.line, message)
    assert wire.run(SOON_NS) == [TRIGGER]
    assert wire.network.late()
    assert wire.run(LATE_NS) == [TRIGGER, NOTICE, PING, TRIGGER]
    assert not wire.network.late()


def test_a_late_message_that_nothing_overtakes_holds_everything_back(wire: Wire) -> None:
    wire.network.delay(wire.line, NOTICE, Disturbance(MessageKind.COMPLETE, Way.DELAY, delay_ms=HOUR_MS))
    wire.network.carry(wire.line, PING)
    assert wire.run(SOON_NS) == []
    assert wire.run(LATE_NS) == [NOTICE, PING]


def test_a_copy_comes_later_and_holds_nothing_back(wire: Wire) -> None:
    wire.network.double(wire.line, NOTICE, Disturbance(MessageKind.COMPLETE, Way.DOUBLE, delay_ms=HOUR_MS))
    wire.network.carry(wire.line, PING)
    assert wire.run(SOON_NS) == [NOTICE, PING]
    assert wire.run(LATE_NS) == [NOTICE, PING, NOTICE]


def test_a_deferred_message_holds_nothing_back(wire: Wire) -> None:
    wire.network.defer(wire.line, NOTICE, HOUR_MS)
    wire.network.carry(wire.line, PING)
    assert wire.run(SOON_NS) == [PING]
    assert wire.run(LATE_NS) == [PING, NOTICE]


def test_a_message_that_is_lost_alone_leaves_its_connection(wire: Wire) -> None:
    wire.network.lose(wire.line, alone=True)
    wire.network.carry(wire.line, PING)
    assert wire.run(SOON_NS) == [PING]
    assert wire.network.stands(wire.line)


def test_any_other_is_lost_with_its_connection_and_both_ends_notice(wire: Wire) -> None:
    wire.network.carry(wire.line, NOTICE)
    wire.network.lose(wire.line, alone=False)
    wire.network.carry(wire.line, PING)
    wire.network.carry(wire.connection.to_coordinator, PING)
    assert not wire.network.stands(wire.line)
    assert wire.run(LATE_NS) == [NOTICE]
    assert wire.worker.heard[1:] == wire.coordinator.heard == [(LOST, "its connection was reset")]


def test_the_end_of_a_connection_overtakes_nothing(wire: Wire) -> None:
    late = Disturbance(MessageKind.COMPLETE, Way.DELAY, delay_ms=HOUR_MS, overtaken_by=ALL_KINDS)
    wire.network.delay(wire.line, NOTICE, late)
    wire.network.end(wire.line, "kill")
    wire.run(LATE_NS)
    assert wire.worker.heard == [(MESSAGE, NOTICE), (LOST, "kill")]


def test_a_worker_finds_the_coordinator_that_listens_or_waits_for_the_next(wire: Wire) -> None:
    wire.network.dial(wire.worker)
    wire.run(SOON_NS)
    assert wire.worker.heard == [(CONNECT, None)]
    wire.coordinator.alive = False
    patient, dead = Life(2), Life(3)
    wire.network.dial(patient)
    wire.network.dial(dead)
    dead.alive = False
    wire.run(LATE_NS)
    assert not patient.heard
    wire.network.listen(Life(0))
    wire.run(LATE_NS + SOON_NS)
    assert patient.heard == [(CONNECT, None)]
    assert not dead.heard


def test_a_coordinator_knows_the_connections_that_its_workers_use(wire: Wire) -> None:
    others = [Connection(wire.coordinator, Life(3)), Connection(Life(0), Life(4))]
    wire.network.established.update({2: others[0], 3: others[1], 0: wire.connection})
    assert wire.network.of_coordinator(wire.coordinator) == [wire.connection, others[0]]
