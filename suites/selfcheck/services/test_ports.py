"""A port that is held is left to who names it, and to nobody else."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest

from holdfast.fixtures.services.ports import LOOPBACK, HeldPorts, free_ports

MANY, DRAWS = 64, 3000


@pytest.fixture
def held() -> Iterator[HeldPorts]:
    with closing(HeldPorts(MANY)) as held:
        yield held


def listening(port: int, *, reuses: bool) -> socket.socket:
    """As Java listens where it may reuse an address."""
    with ExitStack() as begun:
        listener = begun.enter_context(socket.socket())
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, reuses)
        listener.bind((LOOPBACK, port))
        listener.listen()
        begun.pop_all()
    return listener


def drawn() -> set[int]:
    """What others get who want any free port. Ports are drawn at random: one of MANY that are free would be met."""
    return {port for _ in range(DRAWS) for port in free_ports(1)}


def test_all_are_different(held: HeldPorts) -> None:
    assert len({*held.numbers}) == MANY


def test_nobody_else_gets_one(held: HeldPorts) -> None:
    assert not drawn() & {*held.numbers}


def test_those_that_are_let_go_are_met(held: HeldPorts) -> None:
    held.close()
    assert drawn() & {*held.numbers}


def test_each_life_of_a_program_that_names_one_listens_there(held: HeldPorts) -> None:
    port = held.numbers[0]
    for _ in range(2):
        with listening(port, reuses=True) as listener, socket.create_connection((LOOPBACK, port)) as stream:
            accepted, _ = listener.accept()
            with accepted:
                assert stream.getpeername() == (LOOPBACK, port)


def test_where_no_life_listens_nobody_answers(held: HeldPorts) -> None:
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((LOOPBACK, held.numbers[0]))


def test_one_that_may_not_reuse_an_address_does_not_get_it_until_it_is_let_go(held: HeldPorts) -> None:
    with pytest.raises(OSError, match="in use"):
        listening(held.numbers[0], reuses=False)
    held.close()
    listening(held.numbers[0], reuses=False).close()
