"""The relay cuts without closing, slows without reordering, and resets."""

from __future__ import annotations

import signal
import socket
import time
from collections.abc import Iterator
from contextlib import closing, suppress

import msgspec
import pytest

from holdfast.fixtures.reference.drivers.processes import relay
from holdfast.fixtures.reference.drivers.processes.control import Direction, Impair, Reset, Route
from holdfast.fixtures.reference.drivers.processes.life import Program
from holdfast.fixtures.reference.drivers.processes.relay import RelaySettings
from holdfast.fixtures.reference.drivers.processes.supervisor import Supervisor
from holdfast.harness.adapter.network import pipe
from holdfast.harness.adapter.network.acceptor import make_token
from holdfast.harness.adapter.network.loop import Loop
from holdfast.harness.adapter.network.sockets import address_of, call, listen

LIMIT_S = 30.0
SILENCE_S = 0.05
TOKEN = make_token()
CHANNEL = "source[0]->sum[1]"


class Wire:
    """A relayed connection with its two ends."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor
        self._orders = 0
        self.target = listen()
        with listen() as entrance:
            settings = RelaySettings({CHANNEL: address_of(self.target)}, TOKEN)
            program = Program(
                relay.ENTRY, lambda node: msgspec.msgpack.encode(settings), [entrance.fileno()], respawns=False
            )
            supervisor.launch("relay", program)
            assert supervisor.wait_for(lambda: supervisor.alive("relay"), LIMIT_S)
            self.entrance = address_of(entrance)
            self.sender = call(self.entrance, TOKEN, LIMIT_S)
            self.receiver, _ = self.target.accept()
        self.receiver.settimeout(LIMIT_S)
        assert receive(self.receiver, len(TOKEN)) == TOKEN

    def impair(self, *, direction: Direction = Direction.BOTH, cut: bool = False, delay_ms: int = 0) -> None:
        self._orders += 1
        self._supervisor.order("relay", Impair(self._orders, CHANNEL, direction, cut, delay_ms))

    def reset(self) -> None:
        self._orders += 1
        self._supervisor.order("relay", Reset(self._orders, CHANNEL))

    def close(self) -> None:
        for each in (self.sender, self.receiver, self.target):
            each.close()


@pytest.fixture
def wire(supervisor: Supervisor) -> Iterator[Wire]:
    with closing(Wire(supervisor)) as wire:
        yield wire


def receive(stream: socket.socket, length: int) -> bytes:
    content = b""
    while len(content) < length and (chunk := stream.recv(length - len(content))):
        content += chunk
    return content


def silent(stream: socket.socket) -> bool:
    stream.settimeout(SILENCE_S)
    try:
        stream.recv(1, socket.MSG_PEEK)
    except TimeoutError:
        return True
    finally:
        stream.settimeout(LIMIT_S)
    return False


def test_it_passes_both_ways(wire: Wire) -> None:
    wire.sender.sendall(b"records")
    assert receive(wire.receiver, 7) == b"records"
    wire.receiver.sendall(b"credit")
    assert receive(wire.sender, 6) == b"credit"


def test_what_is_sent_into_a_cut_arrives_in_order_after_it(wire: Wire) -> None:
    wire.impair(cut=True)
    wire.sender.sendall(b"first ")
    assert silent(wire.receiver)
    wire.sender.sendall(b"second")
    wire.impair()
    assert receive(wire.receiver, 12) == b"first second"


def test_the_end_of_a_connection_does_not_pass_a_cut_either(wire: Wire) -> None:
    wire.impair(cut=True)
    wire.sender.sendall(b"last words")
    wire.sender.close()
    assert silent(wire.receiver)
    wire.impair()
    assert receive(wire.receiver, 100) == b"last words"


def test_a_cut_of_one_direction_leaves_the_other(wire: Wire) -> None:
    wire.impair(direction=Direction.BACKWARD, cut=True)
    wire.sender.sendall(b"records")
    assert receive(wire.receiver, 7) == b"records"
    wire.receiver.sendall(b"credit")
    assert silent(wire.sender)


def test_a_cut_holds_the_sender_back_in_the_end(wire: Wire) -> None:
    wire.impair(cut=True)
    wire.sender.settimeout(SILENCE_S)
    with pytest.raises(TimeoutError):
        wire.sender.sendall(bytes(1 << 26))


def test_slow_delays_and_keeps_the_order(wire: Wire) -> None:
    wire.impair(delay_ms=1_000)
    started = time.monotonic()
    wire.sender.sendall(b"first ")
    assert silent(wire.receiver)
    wire.sender.sendall(b"second")
    assert receive(wire.receiver, 12) == b"first second"
    assert time.monotonic() - started >= 1 + SILENCE_S


def test_a_shorter_delay_never_lets_later_bytes_overtake(wire: Wire) -> None:
    wire.impair(delay_ms=60_000)
    wire.sender.sendall(b"first ")
    assert silent(wire.receiver)
    wire.impair(delay_ms=1)
    wire.sender.sendall(b"second")
    assert receive(wire.receiver, 12) == b"first second"


def test_restoring_a_slow_channel_delivers_at_once(wire: Wire) -> None:
    wire.impair(delay_ms=60_000)
    wire.sender.sendall(b"records")
    assert silent(wire.receiver)
    wire.impair()
    assert receive(wire.receiver, 7) == b"records"


def test_a_reset_breaks_both_ends(wire: Wire) -> None:
    wire.sender.sendall(b"x")
    assert receive(wire.receiver, 1) == b"x"
    wire.reset()
    for stream in (wire.sender, wire.receiver):
        stream.settimeout(LIMIT_S)
        with pytest.raises(ConnectionResetError):
            stream.recv(1)


def test_a_large_stream_passes_whole(wire: Wire) -> None:
    content = bytes(range(256)) * 4096
    wire.impair(delay_ms=5)
    wire.sender.setblocking(False)
    sent, received = 0, b""
    while len(received) < len(content):
        with suppress(BlockingIOError):
            sent += wire.sender.send(content[sent:])
        received += wire.receiver.recv(1 << 16)
    assert received == content


def test_the_death_of_the_relay_is_a_problem_of_the_run(wire: Wire, supervisor: Supervisor) -> None:
    supervisor._lives["relay"].process.signal(signal.SIGKILL)
    assert supervisor.wait_for(lambda: bool(supervisor.problem), LIMIT_S)
    assert supervisor.problem == "relay.0 ended: SIGKILL."


def test_who_does_not_say_the_token_reaches_nobody(wire: Wire, supervisor: Supervisor) -> None:
    with call(wire.entrance, bytes(len(TOKEN)), LIMIT_S) as stranger:
        assert stranger.recv(1) == b""
    assert supervisor.wait_for(lambda: supervisor.refused_connections == 1, LIMIT_S)
    wire.sender.sendall(b"x")
    assert receive(wire.receiver, 1) == b"x"


def test_a_cut_channel_still_says_the_token(wire: Wire) -> None:
    """Else the receiver would take whoever connects during a long cut for a stranger."""
    wire.impair(cut=True)
    with call(wire.entrance, TOKEN, LIMIT_S) as sender:
        sender.sendall(b"x")
        wire.target.settimeout(LIMIT_S)
        receiver, _ = wire.target.accept()
        with receiver:
            receiver.settimeout(LIMIT_S)
            assert receive(receiver, len(TOKEN)) == TOKEN
            assert silent(receiver)
            wire.impair()
            assert receive(receiver, 1) == b"x"


def test_a_channel_whose_receiver_is_known_later_leads_there(supervisor: Supervisor) -> None:
    with listen() as target, listen() as entrance:
        settings = msgspec.msgpack.encode(RelaySettings({CHANNEL: None}))
        supervisor.launch("relay", Program(relay.ENTRY, lambda node: settings, [entrance.fileno()], respawns=False))
        assert supervisor.wait_for(lambda: supervisor.alive("relay"), LIMIT_S)
        with call(address_of(entrance), b"", LIMIT_S) as early:
            assert early.recv(1) == b""
        supervisor.order("relay", Route(1, CHANNEL, address_of(target)))
        with call(address_of(entrance), b"", LIMIT_S) as sender:
            receiver, _ = target.accept()
            with receiver:
                sender.sendall(b"records")
                assert receive(receiver, 7) == b"records"


def test_a_wire_says_how_much_it_has_held_up() -> None:
    loop, wire = Loop(), pipe.Wire()
    near, source = socket.socketpair()
    drain, far = socket.socketpair()
    with near, source, drain, far:
        source.setblocking(False)
        one = pipe.Pipe(loop, wire, source, drain, lambda: None)
        assert wire.change(cut=True, delay_ns=0) == 0
        near.send(b"abc")
        assert wire.change(cut=False, delay_ns=1) == 3, "the cut held it back"
        one.read()
        assert wire.change(cut=False, delay_ns=0) == 3, "then it was late"
        near.send(b"de")
        one.read()
        assert wire.change(cut=False, delay_ns=0) == 0
        one.close()
    loop.close()
