"""A port that is reserved is left to who names it, and to nobody else."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest

from holdfast.fixtures.services.ports import LOOPBACK, ReservedPorts

MANY, DRAWS = 64, 4000


@pytest.fixture
def reserved() -> Iterator[ReservedPorts]:
    with closing(ReservedPorts(MANY)) as reserved:
        yield reserved


def listening(port: int, *, reuses: bool) -> socket.socket:
    """As Java listens where it may reuse an address."""
    with ExitStack() as begun:
        listener = begun.enter_context(socket.socket())
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, reuses)
        listener.bind((LOOPBACK, port))
        listener.listen()
        begun.pop_all()
    return listener


def drawn(*, reuses: bool) -> set[int]:
    """What others get who want any free port. Ports are drawn at random: one of MANY that are free would be met."""
    return {drawn_port(reuses=reuses) for _ in range(DRAWS)}


def drawn_port(*, reuses: bool) -> int:
    with closing(listening(0, reuses=reuses)) as listener:
        return int(listener.getsockname()[1])


def test_all_are_different(reserved: ReservedPorts) -> None:
    assert len({*reserved.numbers}) == MANY


@pytest.mark.parametrize("reuses", [True, False])
def test_nobody_else_gets_one(reserved: ReservedPorts, reuses: bool) -> None:
    assert not drawn(reuses=reuses) & {*reserved.numbers}


def test_no_connection_begins_at_one(reserved: ReservedPorts) -> None:
    begun = set()
    with closing(listening(0, reuses=True)) as listener:
        for _ in range(DRAWS):
            with socket.create_connection(listener.getsockname()) as stream:
                begun.add(stream.getsockname()[1])
                listener.accept()[0].close()
    assert not begun & {*reserved.numbers}


def test_those_that_are_let_go_are_met(reserved: ReservedPorts) -> None:
    reserved.close()
    assert drawn(reuses=True) & {*reserved.numbers}


def test_each_life_of_a_program_that_names_one_listens_there(reserved: ReservedPorts) -> None:
    port = reserved.numbers[0]
    for _ in range(2):
        with listening(port, reuses=True) as listener, socket.create_connection((LOOPBACK, port)) as stream:
            accepted, _ = listener.accept()
            with accepted:
                assert stream.getpeername() == (LOOPBACK, port)


def test_where_no_life_listens_nobody_answers(reserved: ReservedPorts) -> None:
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((LOOPBACK, reserved.numbers[0]))


def test_one_that_may_not_reuse_an_address_does_not_get_it_until_it_is_let_go(reserved: ReservedPorts) -> None:
    with pytest.raises(OSError, match="in use"):
        listening(reserved.numbers[0], reuses=False)
    reserved.close()
    listening(reserved.numbers[0], reuses=False).close()
