"""What a process sends late, twice or not at all: in which order it arrives, and what is recorded of it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing

import msgspec
import pytest

from holdfast.fixtures.reference.drivers.message_faults import MessageFaults
from holdfast.fixtures.reference.drivers.outbox import Message, Outbox
from holdfast.fixtures.reference.drivers.processes.connection import Connection
from holdfast.fixtures.reference.drivers.processes.message_sender import (
    DISTURB_MESSAGES,
    RESTORE_MESSAGES,
    MessageOrders,
    MessageSender,
)
from holdfast.fixtures.reference.parts import REFERENCE
from holdfast.fixtures.reference.protocol.messages import (
    CancelTasks,
    NotifyCheckpoint,
    Ping,
    ToWorker,
    TriggerCheckpoint,
)
from holdfast.harness.adapter.network.loop import Loop
from holdfast.harness.model.events import Event, MessageDisturbed
from holdfast.harness.model.message_contract import ALL_KINDS, Disturbance, MessageKind, Way
from holdfast.harness.sim.streams import Stream
from holdfast.suites.conformance.plans import plan

NOTICE = NotifyCheckpoint(1, "sum[0]", 1, completed=True)
TRIGGER = TriggerCheckpoint(1, "source[0]", 2)
PING = Ping(1, 0)
HOUR_MS = 3_600_000


class Wire:
    """A sender, and what arrives at the other end."""

    def __init__(self) -> None:
        self.loop = Loop()
        self.recorded: list[MessageDisturbed] = []
        self.lost: list[str] = []
        ours, theirs = socket.socketpair()
        self.arrived: list[object] = []
        decoder = msgspec.msgpack.Decoder(ToWorker)
        self.connection = Connection(self.loop, ours, lambda kind, payload: None, self.lost.append)
        self.peer = Connection(
            self.loop, theirs, lambda kind, payload: self.arrived.append(decoder.decode(payload)), lambda reason: None
        )
        made = plan()
        graph = REFERENCE.graph(made, REFERENCE.configure(made))
        faults = MessageFaults(graph, Stream(1, "notices"))
        sender = MessageSender(self.loop)
        self.orders = MessageOrders(faults, sender)
        self.outbox: Outbox[Connection] = Outbox(faults, sender, self.record)

    def record(self, event: Event) -> None:
        assert isinstance(event, MessageDisturbed)
        self.recorded.append(event)

    def order(self, name: str, disturbance: Disturbance) -> None:
        assert self.orders.obey(name, {"disturbance": msgspec.json.encode(disturbance).decode()})

    def send(self, *messages: Message) -> list[object]:
        """Send, and return all that has arrived by then."""
        for message in messages:
            self.outbox.put(self.connection, 0, message)
        return self.heard()

    def heard(self) -> list[object]:
        for _ in range(3):
            self.loop.turn(0)
        return self.arrived

    def close(self) -> None:
        self.connection.close()
        self.peer.close()
        self.loop.close()


@pytest.fixture
def wire() -> Iterator[Wire]:
    with closing(Wire()) as wire:
        yield wire


def test_without_orders_everything_goes_out_at_once(wire: Wire) -> None:
    assert wire.send(NOTICE, TRIGGER) == [NOTICE, TRIGGER]
    assert not wire.recorded


def test_what_is_sent_behind_a_late_message_waits_unless_it_may_overtake(wire: Wire) -> None:
    late = Disturbance(MessageKind.COMPLETE, Way.DELAY, delay_ms=HOUR_MS, overtaken_by=frozenset({MessageKind.TRIGGER}))
    wire.order(DISTURB_MESSAGES, late)
    assert wire.send(NOTICE, TRIGGER, PING, TRIGGER) == [TRIGGER]
    assert [(each.message, each.checkpoint, each.delay_ms) for each in wire.recorded] == [("complete", 1, HOUR_MS)]
    wire.order(RESTORE_MESSAGES, late)
    assert wire.heard() == [TRIGGER, NOTICE, PING, TRIGGER]


def test_a_hold_that_ends_releases_nothing_that_another_one_holds(wire: Wire) -> None:
    notices = Disturbance(MessageKind.COMPLETE, Way.DELAY, delay_ms=HOUR_MS, overtaken_by=ALL_KINDS)
    triggers = Disturbance(MessageKind.TRIGGER, Way.DELAY, delay_ms=HOUR_MS, overtaken_by=ALL_KINDS)
    wire.order(DISTURB_MESSAGES, notices)
    wire.order(DISTURB_MESSAGES, triggers)
    assert wire.send(NOTICE, TRIGGER, PING) == [PING]
    wire.order(RESTORE_MESSAGES, triggers)
    assert wire.heard() == [PING, TRIGGER]
    wire.order(RESTORE_MESSAGES, notices)
    assert wire.heard() == [PING, TRIGGER, NOTICE]


def test_what_waits_behind_another_hold_keeps_its_place(wire: Wire) -> None:
    notices = Disturbance(MessageKind.COMPLETE, Way.DELAY, delay_ms=HOUR_MS)
    triggers = Disturbance(MessageKind.TRIGGER, Way.DELAY, delay_ms=HOUR_MS)
    wire.order(DISTURB_MESSAGES, notices)
    wire.order(DISTURB_MESSAGES, triggers)
    assert wire.send(NOTICE, TRIGGER, PING) == []
    wire.order(RESTORE_MESSAGES, triggers)
    assert wire.heard() == []
    wire.order(RESTORE_MESSAGES, notices)
    assert wire.heard() == [NOTICE, TRIGGER, PING]


def test_a_message_arrives_when_its_delay_is_over(wire: Wire) -> None:
    wire.order(DISTURB_MESSAGES, Disturbance(MessageKind.COMPLETE, Way.DELAY, delay_ms=1))
    wire.send(NOTICE, PING)
    while len(wire.arrived) < 2:
        wire.loop.turn(1)
    assert wire.arrived == [NOTICE, PING]


def test_a_copy_comes_later_and_holds_nothing_back(wire: Wire) -> None:
    double = Disturbance(MessageKind.COMPLETE, Way.DOUBLE, delay_ms=HOUR_MS)
    wire.order(DISTURB_MESSAGES, double)
    assert wire.send(NOTICE, NOTICE, TRIGGER) == [NOTICE, NOTICE, TRIGGER]
    wire.order(RESTORE_MESSAGES, double)
    assert wire.heard() == [NOTICE, NOTICE, TRIGGER, NOTICE, NOTICE]


def test_a_message_that_may_be_lost_alone_leaves_its_connection(wire: Wire) -> None:
    wire.order(DISTURB_MESSAGES, Disturbance(MessageKind.COMPLETE, Way.LOSE))
    assert wire.send(NOTICE, PING, NotifyCheckpoint(1, "sum[0]", 2, completed=True))[0] == PING
    assert len(wire.arrived) == 2
    assert not wire.lost
    assert [each.with_connection for each in wire.recorded] == [False]


def test_any_other_is_lost_with_its_connection(wire: Wire) -> None:
    wire.order(DISTURB_MESSAGES, Disturbance(MessageKind.CANCEL, Way.LOSE))
    assert wire.send(CancelTasks(1, 0, 0)) == []
    assert wire.connection.closed
    assert wire.lost == ["its connection was reset"]
    assert [each.with_connection for each in wire.recorded] == [True]


def test_other_orders_are_not_its_own(wire: Wire) -> None:
    assert not wire.orders.obey("checkpoint", {})
