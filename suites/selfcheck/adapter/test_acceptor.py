"""Who does not say the token of the run is closed and counted, and nobody else notices."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from holdfast.harness.adapter.network.acceptor import MOST_WAITING, TOKEN_BYTES, Acceptor, Peer, make_token, peer_of
from holdfast.harness.adapter.network.loop import Loop
from holdfast.harness.adapter.network.sockets import Address, address_of, call, listen

LIMIT_S = 30.0
SHORT_S = 0.05
TOKEN = make_token()
NOBODY = 65534


class Door:
    """An acceptor, and what came of those who knocked."""

    def __init__(self, token: bytes = TOKEN, limit_s: float = LIMIT_S) -> None:
        self.loop = Loop()
        self.listener = listen()
        self.admitted: list[socket.socket] = []
        self.ready = 0
        self.acceptor = Acceptor(self.loop, self.listener, token, self.admitted.append, self._refuse, limit_s)

    def _refuse(self) -> None:
        self.ready += 1

    @property
    def address(self) -> Address:
        return address_of(self.listener)

    def turn_until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + LIMIT_S
        while not condition():
            assert time.monotonic() < deadline, "it did not happen in time"
            self.loop.turn(0.1)

    def close(self) -> None:
        self.acceptor.close()
        for each in (self.listener, *self.admitted):
            each.close()
        self.loop.close()


@pytest.fixture
def door() -> Iterator[Door]:
    with closing(Door()) as made:
        yield made


def test_what_follows_the_token_is_left_to_be_read(door: Door) -> None:
    with call(door.address, TOKEN + b"hello", LIMIT_S):
        door.turn_until(lambda: bool(door.admitted))
        assert door.admitted[0].recv(100) == b"hello"
    assert (door.acceptor.refused, door.ready) == (0, 0)


def test_a_token_may_come_in_pieces(door: Door) -> None:
    with call(door.address, TOKEN[:5], LIMIT_S) as caller:
        door.loop.turn(0.1)
        assert not door.admitted
        caller.sendall(TOKEN[5:])
        door.turn_until(lambda: bool(door.admitted))


@pytest.mark.parametrize(
    "said",
    [bytes(TOKEN_BYTES), TOKEN[:-1] + bytes([TOKEN[-1] ^ 1]), b"GET / HTTP/1.1\r\n\r\n" * 3],
    ids=["zeros", "one bit", "request"],
)
def test_a_wrong_token_is_refused(door: Door, said: bytes) -> None:
    with call(door.address, said, LIMIT_S) as stranger:
        door.turn_until(lambda: door.ready == 1)
        stranger.settimeout(LIMIT_S)
        with pytest.raises(ConnectionResetError) if len(said) > TOKEN_BYTES else closing(stranger):
            assert stranger.recv(1) == b""
    assert not door.admitted


def test_a_wrong_beginning_is_not_told_from_a_right_one(door: Door) -> None:
    """Else a stranger could guess byte by byte."""
    wrong = bytes([TOKEN[0] ^ 1])
    with call(door.address, wrong, LIMIT_S), call(door.address, TOKEN[:1], LIMIT_S):
        for _ in range(4):
            door.loop.turn(0.01)
        assert door.ready == 0


def test_who_goes_away_is_refused(door: Door) -> None:
    call(door.address, b"", LIMIT_S).close()
    call(door.address, TOKEN[:7], LIMIT_S).close()
    door.turn_until(lambda: door.ready == 2)


def test_who_says_nothing_in_time_is_refused() -> None:
    with closing(Door(limit_s=SHORT_S)) as door, call(door.address, b"", LIMIT_S) as stranger:
        door.turn_until(lambda: door.ready == 1)
        assert stranger.recv(1) == b""


def test_of_those_who_say_nothing_only_so_many_wait(door: Door) -> None:
    with ExitStack() as silent:
        for _ in range(3 * MOST_WAITING):
            silent.enter_context(call(door.address, b"", LIMIT_S))
        with call(door.address, TOKEN, LIMIT_S):
            door.turn_until(lambda: bool(door.admitted))
        assert door.ready == 2 * MOST_WAITING
    door.turn_until(lambda: door.ready == 3 * MOST_WAITING)


def test_without_a_token_our_own_user_is_admitted() -> None:
    with closing(Door(b"")) as door, call(door.address, b"hello", LIMIT_S):
        door.turn_until(lambda: bool(door.admitted))
        assert door.admitted[0].recv(100) == b"hello"


def test_without_a_token_another_user_is_refused() -> None:
    if os.getuid():
        pytest.skip("only root can be another user")
    with closing(Door(b"")) as door:
        stays, ends = os.pipe()
        if not (child := os.fork()):
            os.setuid(NOBODY)
            with socket.create_connection(door.address):
                os.read(stays, 1)
            os._exit(0)
        door.turn_until(lambda: door.ready == 1)
        os.write(ends, b"x")
        os.waitpid(child, 0)
        os.close(stays)
        os.close(ends)
    assert not door.admitted


def test_whose_a_connection_is_stands_in_the_table_of_the_kernel(tmp_path: Path) -> None:
    with listen() as listener, call(address_of(listener), b"", LIMIT_S) as caller:
        accepted, _ = listener.accept()
        with accepted:
            assert peer_of(accepted, os.getuid()) is Peer.OWN
            assert peer_of(accepted, os.getuid() + 1) is Peer.FOREIGN
            (empty := tmp_path / "tcp").write_text("  sl  local_address rem_address\n")
            assert peer_of(accepted, os.getuid(), [empty]) is Peer.GONE
            assert peer_of(accepted, os.getuid(), [tmp_path / "absent"]) is Peer.UNKNOWN
            caller.close()
            assert peer_of(accepted, os.getuid()) is Peer.GONE


def test_a_process_that_speaks_ipv4_through_ipv6_is_known_as_well() -> None:
    """Those of Java do: the kernel lists their ends among the connections of IPv6."""
    with listen() as listener, socket.socket(socket.AF_INET6) as caller:
        caller.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        host, port = address_of(listener)
        caller.connect((f"::ffff:{host}", port))
        accepted, _ = listener.accept()
        with accepted:
            assert peer_of(accepted, os.getuid()) is Peer.OWN
            assert peer_of(accepted, os.getuid() + 1) is Peer.FOREIGN
