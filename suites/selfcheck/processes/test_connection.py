"""Whoever is at the other end of a connection may be gone: that is told once, and never in the middle of a send."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing

import pytest

from holdfast.fixtures.reference.drivers.processes.connection import Connection, OnClose
from holdfast.fixtures.reference.drivers.processes.framing import FrameKind
from holdfast.harness.adapter.network.loop import Loop


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
