"""The relay cuts, slows and resets; one class acts on links of targets, one knows which faults act."""

from __future__ import annotations

import ast
import os
import signal
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from functools import cache
from pathlib import Path

import pytest

from holdfast.harness.adapter.links import CUT
from holdfast.harness.adapter.network import pipe
from holdfast.harness.adapter.network.acceptor import make_token
from holdfast.harness.adapter.network.loop import Loop
from holdfast.harness.adapter.network.pipe import NOTHING, Impairment, Impairments
from holdfast.harness.adapter.network.sockets import LOOPBACK, address_of, call, listen
from holdfast.harness.adapter.relay_process import RelayProcess
from holdfast.suites.selfcheck.services.listener import becomes, silent
from holdfast.suites.selfcheck.source_files import source_files

LIMIT_S = 30.0
SILENCE_S = 0.05
TOKEN = make_token()
CHANNEL = "source[0]->sum[1]"


class Wire:
    """A relayed connection with its two ends."""

    def __init__(self, folder: Path) -> None:
        self.target = listen()
        self.relay = RelayProcess({CHANNEL: str(address_of(self.target))}, folder, folder / "log", token=TOKEN)
        self.entrance = self.relay.listening[CHANNEL]
        self.sender = call(self.entrance, TOKEN, LIMIT_S)
        self.receiver, _ = self.target.accept()
        self.receiver.settimeout(LIMIT_S)
        assert receive(self.receiver, len(TOKEN)) == TOKEN

    def impair(self, *, cut: bool = False, delay_ms: int = 0) -> None:
        does = Impairment(cut, delay_ms)
        self.relay.impair(CHANNEL, CUT, Impairments(does, does))

    def close(self) -> None:
        for each in (self.sender, self.receiver, self.target):
            each.close()
        self.relay.kill()


@pytest.fixture
def wire(tmp_path: Path) -> Iterator[Wire]:
    with closing(Wire(tmp_path)) as wire:
        yield wire


def receive(stream: socket.socket, length: int) -> bytes:
    content = b""
    while len(content) < length and (chunk := stream.recv(length - len(content))):
        content += chunk
    return content


def test_it_passes_both_ways(wire: Wire) -> None:
    wire.sender.sendall(b"records")
    assert receive(wire.receiver, 7) == b"records"
    wire.receiver.sendall(b"credit")
    assert receive(wire.sender, 6) == b"credit"


def test_what_is_sent_into_a_cut_arrives_in_order_after_it(wire: Wire) -> None:
    wire.impair(cut=True)
    wire.sender.sendall(b"first ")
    assert silent(wire.receiver, SILENCE_S)
    wire.sender.sendall(b"second")
    wire.impair()
    assert receive(wire.receiver, 12) == b"first second"


def test_the_end_of_a_connection_does_not_pass_a_cut_either(wire: Wire) -> None:
    wire.impair(cut=True)
    wire.sender.sendall(b"last words")
    wire.sender.close()
    assert silent(wire.receiver, SILENCE_S)
    wire.impair()
    assert receive(wire.receiver, 100) == b"last words"


def test_a_cut_of_one_direction_leaves_the_other(wire: Wire) -> None:
    wire.relay.impair(CHANNEL, CUT, Impairments(NOTHING, Impairment(cut=True)))
    wire.sender.sendall(b"records")
    assert receive(wire.receiver, 7) == b"records"
    wire.receiver.sendall(b"credit")
    assert silent(wire.sender, SILENCE_S)


def test_a_cut_holds_the_sender_back_in_the_end(wire: Wire) -> None:
    wire.impair(cut=True)
    wire.sender.settimeout(SILENCE_S)
    with pytest.raises(TimeoutError):
        wire.sender.sendall(bytes(1 << 26))


def test_slow_delays_and_keeps_the_order(wire: Wire) -> None:
    wire.impair(delay_ms=1_000)
    started = time.monotonic()
    wire.sender.sendall(b"first ")
    assert silent(wire.receiver, SILENCE_S)
    wire.sender.sendall(b"second")
    assert receive(wire.receiver, 12) == b"first second"
    assert time.monotonic() - started >= 1 + SILENCE_S


def test_a_shorter_delay_never_lets_later_bytes_overtake(wire: Wire) -> None:
    wire.impair(delay_ms=60_000)
    wire.sender.sendall(b"first ")
    assert silent(wire.receiver, SILENCE_S)
    wire.impair(delay_ms=1)
    wire.sender.sendall(b"second")
    assert receive(wire.receiver, 12) == b"first second"


def test_restoring_a_slow_channel_delivers_at_once(wire: Wire) -> None:
    wire.impair(delay_ms=60_000)
    wire.sender.sendall(b"records")
    assert silent(wire.receiver, SILENCE_S)
    wire.impair()
    assert receive(wire.receiver, 7) == b"records"


def test_a_reset_breaks_both_ends(wire: Wire) -> None:
    wire.sender.sendall(b"x")
    assert receive(wire.receiver, 1) == b"x"
    assert wire.relay.reset(CHANNEL)
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


def test_it_says_how_it_ended(wire: Wire) -> None:
    assert wire.relay.ended() == ""
    os.kill(wire.relay._child.pid, signal.SIGKILL)
    assert becomes(lambda: wire.relay.ended() == "SIGKILL")


def test_who_does_not_say_the_token_reaches_nobody(wire: Wire) -> None:
    with call(wire.entrance, bytes(len(TOKEN)), LIMIT_S) as stranger:
        assert stranger.recv(1) == b""
    assert wire.relay.refused() == {CHANNEL: 1}
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
            assert silent(receiver, SILENCE_S)
            wire.impair()
            assert receive(receiver, 1) == b"x"


def test_a_channel_whose_receiver_is_known_later_leads_there(tmp_path: Path) -> None:
    relay = RelayProcess({CHANNEL: None}, tmp_path, tmp_path / "log", token=TOKEN)
    try:
        with listen() as target:
            with call(relay.listening[CHANNEL], TOKEN, LIMIT_S) as early:
                assert early.recv(1) == b""
            relay.lead(CHANNEL, str(address_of(target)))
            with call(relay.listening[CHANNEL], TOKEN, LIMIT_S) as sender:
                receiver, _ = target.accept()
                with receiver:
                    sender.sendall(b"records")
                    assert receive(receiver, len(TOKEN) + 7) == TOKEN + b"records"
    finally:
        relay.kill()


def test_a_wire_says_how_much_it_has_held_up() -> None:
    loop, wire = Loop(), pipe.Wire()
    near, source = socket.socketpair()
    drain, far = socket.socketpair()
    with near, source, drain, far:
        source.setblocking(False)
        one = pipe.Pipe(loop, wire, source, drain, lambda: None)
        assert wire.change(Impairment(cut=True)) == 0
        near.send(b"abc")
        assert wire.change(Impairment(delay_ms=1)) == 3, "the cut held it back"
        one.read()
        assert wire.change(NOTHING) == 3, "then it was late"
        near.send(b"de")
        one.read()
        assert wire.change(NOTHING) == 0
        one.close()
    loop.close()


def test_connections_are_broken_where_nobody_listens(tmp_path: Path) -> None:
    with socket.socket() as silent:  # Bound and not listening: who connects is refused.
        silent.bind((LOOPBACK, 0))
        relay = RelayProcess({CHANNEL: str(address_of(silent))}, tmp_path, tmp_path / "log", guarded=False)
        try:
            with socket.create_connection(relay.listening[CHANNEL], LIMIT_S) as sender:
                sender.sendall(b"x")
                with suppress(ConnectionResetError):
                    assert sender.recv(1) == b""
        finally:
            relay.kill()


SIMULATED = "fixtures/reference/drivers/simulated/"
"""The simulator has a network of its own, and no relay."""


@cache
def classes() -> Mapping[str, Mapping[str, frozenset[str]]]:
    """All of what runs processes, by file and name, but for protocols: the arguments of each method by its name."""
    return {
        f"{path}:{node.name}": {
            each.name: frozenset(argument.arg for argument in each.args.args)
            for each in node.body
            if isinstance(each, ast.FunctionDef)
        }
        for path, source in source_files("harness/adapter", "fixtures")
        if not path.startswith(SIMULATED)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ClassDef) and not any("Protocol" in ast.unparse(base) for base in node.bases)
    }


def with_verbs(*verbs: str) -> set[str]:
    """Classes that define all of these."""
    return {name for name, methods in classes().items() if methods.keys() >= set(verbs)}


@pytest.mark.parametrize(
    ("verbs", "implementations"),
    [
        (("cut", "slow", "restore", "whole"), {"harness/adapter/links.py:LinksOfTargets"}),
        (
            ("impair", "does", "lead"),
            {"harness/adapter/relay_process.py:RelayProcess", "fixtures/services/toxiproxy.py:Toxiproxy"},
        ),
        (
            ("act", "restore", "whole"),
            {"harness/adapter/links.py:Links", "fixtures/systems/flink/links.py:MovingLinks"},
        ),
        (("change", "passed"), {"harness/adapter/network/pipe.py:Wire"}),
    ],
    ids=["verbs of a link", "relays", "faults of a link by name", "what is done to bytes"],
)
def test_each_is_there_once(verbs: tuple[str, ...], implementations: set[str]) -> None:
    """Flink's stands in front of the one: a channel is where its sender runs."""
    assert with_verbs(*verbs) == implementations


def test_whoever_cuts_a_link_is_counted() -> None:
    """By its own verb alone, so that one that has fewer is found as well."""
    found = {name for name, methods in classes().items() if "direction" in methods.get("cut", ())}
    assert found == {"harness/adapter/links.py:LinksOfTargets"}
