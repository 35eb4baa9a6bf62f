"""Messages between processes: what is sent late, twice or not at all, over channels and connections that may break."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from holdfast.fixtures.reference.drivers.message_faults import MessageFaults
from holdfast.fixtures.reference.drivers.outbox import Message, Outbox
from holdfast.fixtures.reference.drivers.processes.connection import Connection, FrameKind, OnClose
from holdfast.fixtures.reference.drivers.processes.fault_controls import Reach, relayed_channels, watch
from holdfast.fixtures.reference.drivers.processes.message_sender import (
    DISTURB_MESSAGES,
    RESTORE_MESSAGES,
    MessageOrders,
    MessageSender,
)
from holdfast.fixtures.reference.drivers.processes.supervisor import Supervisor
from holdfast.fixtures.reference.parts import REFERENCE
from holdfast.fixtures.reference.protocol.messages import (
    CancelTasks,
    NotifyCheckpoint,
    Ping,
    ToWorker,
    TriggerCheckpoint,
)
from holdfast.harness.adapter.links import LinksOfTargets
from holdfast.harness.adapter.network.loop import Loop
from holdfast.harness.adapter.network.pipe import NOTHING, Impairments
from holdfast.harness.adapter.relay_process import RelayProcess
from holdfast.harness.model.events import Event, MessageDisturbed
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.message_contract import ALL_KINDS, Disturbance, MessageKind, Way
from holdfast.harness.model.plan import Topology
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.topology import network_channels
from holdfast.harness.sim.streams import Stream
from holdfast.harness.spi.controls import Acting
from holdfast.harness.spi.controls.network import BACKWARD, BOTH, FORWARD
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


@pytest.mark.parametrize(
    ("overtaken_by", "heard"),
    [
        (ALL_KINDS, ([PING], [PING, TRIGGER], [PING, TRIGGER, NOTICE])),
        (frozenset(), ([], [], [NOTICE, TRIGGER, PING])),
    ],
    ids=["a hold that ends releases nothing that another one holds", "what waits behind another hold keeps its place"],
)
def test_one_hold_ends_before_another(
    wire: Wire, overtaken_by: frozenset[MessageKind], heard: tuple[list[object], ...]
) -> None:
    notices = Disturbance(MessageKind.COMPLETE, Way.DELAY, delay_ms=HOUR_MS, overtaken_by=overtaken_by)
    triggers = Disturbance(MessageKind.TRIGGER, Way.DELAY, delay_ms=HOUR_MS, overtaken_by=overtaken_by)
    wire.order(DISTURB_MESSAGES, notices)
    wire.order(DISTURB_MESSAGES, triggers)
    assert wire.send(NOTICE, TRIGGER, PING) == heard[0]
    wire.order(RESTORE_MESSAGES, triggers)
    assert wire.heard() == heard[1]
    wire.order(RESTORE_MESSAGES, notices)
    assert wire.heard() == heard[2]


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


@pytest.fixture
def loop() -> Iterator[Loop]:
    with closing(Loop()) as loop:
        yield loop


def test_a_peer_that_does_not_read_is_lost_when_the_outbox_is_full(loop: Loop) -> None:
    ours, theirs = socket.socketpair()
    lost: list[str] = []
    with theirs:
        connection = Connection(loop, ours, lambda kind, payload: None, lost.append, outbox_bytes=1 << 20)
        for _ in range(100):
            connection.send(FrameKind.MESSAGE, bytes(1 << 16))
        assert connection.closed
        loop.turn(0)
        assert len(lost) == 1
        assert "unread" in lost[0]


def to_nobody(loop: Loop, on_close: OnClose) -> Connection:
    ours, theirs = socket.socketpair()
    theirs.close()
    return Connection(loop, ours, lambda kind, payload: None, on_close)


@pytest.mark.parametrize("told_by", ["loop", "wait"])
def test_a_loss_that_a_send_meets_is_told_once_and_later(loop: Loop, told_by: str) -> None:
    lost: list[str] = []
    connection = to_nobody(loop, lost.append)
    connection.send(FrameKind.MESSAGE, b"anybody there?")
    assert (connection.closed, lost) == (True, [])
    if told_by == "wait":
        connection.wait()
        assert len(lost) == 1
    loop.turn(0)
    loop.turn(0)
    assert len(lost) == 1
    assert "Broken pipe" in lost[0]
    with pytest.raises(ValueError, match="closed connection"):
        connection.wait()


def test_whoever_sends_to_many_may_forget_them_all_when_one_is_lost(loop: Loop) -> None:
    """So does the coordinator on Spark: one worker that is gone ends the stage of all."""
    known: dict[int, Connection] = {}
    for number in range(2):
        known[number] = to_nobody(loop, lambda reason: known.clear())
    for connection in known.values():
        connection.send(FrameKind.MESSAGE, b"anybody there?")
    assert len(known) == 2
    loop.turn(0)
    assert not known


def test_a_loss_is_told_to_whom_it_concerns_by_then(loop: Loop) -> None:
    before: list[str] = []
    after: list[str] = []
    connection = to_nobody(loop, before.append)
    connection.send(FrameKind.MESSAGE, b"anybody there?")
    connection.on_close = after.append
    loop.turn(0)
    assert (len(before), len(after)) == (0, 1)


def test_who_closed_a_lost_connection_is_not_told_any_more(loop: Loop) -> None:
    lost: list[str] = []
    connection = to_nobody(loop, lost.append)
    connection.send(FrameKind.MESSAGE, b"anybody there?")
    connection.close()
    loop.turn(0)
    assert lost == []


CHANNEL = Target(Role.CHANNEL, 0)
LIMIT_S = 10.0


class Relay:
    """harness.adapter.links.Relay, which does what the last order says; and the supervisor of the run.

    Attributes:
        listening: the channels that it carries.
        problem: what failed.
    """

    def __init__(self) -> None:
        self.acting = Acting()
        self.listening = dict.fromkeys(network_channels(KEYED_SUM, Topology()))
        self.ways = Impairments(NOTHING, NOTHING)
        self.touched = self.silent = False
        self.disturbed: list[int] = []
        self.problem = ""

    def impair(self, link: str, kind: str, wanted: Impairments) -> bool:
        if self.silent:
            raise OSError("the relay is silent")
        self.ways = wanted
        return self.touched

    def does(self, link: str, kind: str, wanted: Impairments) -> bool:
        return self.ways == wanted

    def reset(self, link: str) -> bool:
        return self.touched

    def struck(self, fault: int, what: str) -> None:
        assert what in self.listening
        self.disturbed.append(fault)

    def fail(self, problem: str) -> None:
        self.problem = problem

    @property
    def cut(self) -> list[str]:
        """Directions that are."""
        return [name for name, way in zip((FORWARD, BACKWARD), self.ways, strict=True) if way.cut]

    @property
    def delays_ms(self) -> set[int]:
        return {way.delay_ms for way in self.ways}


@pytest.fixture
def relay() -> Relay:
    return Relay()


@pytest.fixture
def controls(relay: Relay) -> LinksOfTargets:
    stands: Any = relay
    return LinksOfTargets(relayed_channels(Reach(stands, KEYED_SUM, Topology(), 2), stands))


def test_a_delay_goes_on_when_a_cut_is_healed(controls: LinksOfTargets, relay: Relay) -> None:
    controls.cut(CHANNEL)
    controls.slow(CHANNEL, 50)
    controls.restore(CHANNEL, "cut", BOTH)
    assert (relay.cut, relay.delays_ms) == ([], {50})
    assert controls.whole(CHANNEL, "cut", BOTH)
    assert not controls.whole(CHANNEL, "slow", 50)
    controls.restore(CHANNEL, "slow", 50)
    assert relay.delays_ms == {0}
    assert controls.whole(CHANNEL, "slow", 50)


@pytest.mark.parametrize(("healed", "left"), [(FORWARD, BACKWARD), (BACKWARD, FORWARD)])
def test_of_two_cuts_the_one_that_is_healed_ends(
    controls: LinksOfTargets, relay: Relay, healed: str, left: str
) -> None:
    controls.cut(CHANNEL, FORWARD)
    controls.cut(CHANNEL, BACKWARD)
    controls.restore(CHANNEL, "cut", healed)
    assert relay.cut == [left]
    assert controls.whole(CHANNEL, "cut", healed)
    assert not controls.whole(CHANNEL, "cut", left)
    controls.restore(CHANNEL, "cut", left)
    assert relay.cut == []


@pytest.mark.parametrize(("healed", "left"), [(700, 20), (20, 700)])
def test_of_two_delays_the_one_that_is_healed_ends(
    controls: LinksOfTargets, relay: Relay, healed: int, left: int
) -> None:
    controls.slow(CHANNEL, 700)
    controls.slow(CHANNEL, 20)
    controls.restore(CHANNEL, "slow", healed)
    assert relay.delays_ms == {left}


def test_what_never_acted_is_healed_without_harm(controls: LinksOfTargets, relay: Relay) -> None:
    controls.restore(CHANNEL, "cut", BOTH)
    assert relay.cut == []


@pytest.mark.parametrize("touched", [True, False])
def test_what_the_relay_did_is_recorded_for_the_fault_that_wanted_it(
    controls: LinksOfTargets, relay: Relay, *, touched: bool
) -> None:
    relay.acting.fault = 3
    controls.slow(CHANNEL, 20)
    relay.touched, relay.acting.fault = touched, 5
    controls.cut(CHANNEL)
    assert relay.disturbed == [3] * touched, "until the cut the channel was slow"
    controls.restore(CHANNEL, "cut", "both")
    assert relay.disturbed == [3, 5] * touched
    controls.reset(CHANNEL)
    assert relay.disturbed == [3, 5, 5] * touched


def test_a_relay_that_does_not_obey_is_a_problem_of_the_run(controls: LinksOfTargets, relay: Relay) -> None:
    relay.silent = True
    with pytest.raises(OSError, match="the relay is silent"):
        controls.cut(CHANNEL)
    assert relay.problem == "the relay is silent"


def test_a_channel_that_no_fault_of_the_plan_aims_at_has_no_relay(relay: Relay) -> None:
    stands: Any = relay
    controls = LinksOfTargets(relayed_channels(Reach(stands, KEYED_SUM, Topology(), 2), None))
    with pytest.raises(OSError, match=r"has no relay: no fault of the plan aims at it\."):
        controls.cut(CHANNEL)


def test_the_death_of_the_relay_is_a_problem_of_the_run(supervisor: Supervisor, tmp_path: Path) -> None:
    relay = RelayProcess({"source[0]->sum[1]": None}, tmp_path, tmp_path / "log")
    try:
        watch(supervisor, relay)
        os.kill(relay._child.pid, signal.SIGKILL)
        assert supervisor.wait_for(lambda: bool(supervisor.problem), LIMIT_S)
        assert supervisor.problem == "relay.0 ended: SIGKILL."
    finally:
        relay.kill()
