"""Frames survive any cutting, record batches are read in place, and a channel never holds more than its bound."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing

import msgspec
import numpy as np
import pyarrow as pa
import pytest

from holdfast.fixtures.reference.drivers.processes.channel import InputChannel, Mark, Open, OutputChannel, opening
from holdfast.fixtures.reference.drivers.processes.connection import Connection
from holdfast.fixtures.reference.drivers.processes.framing import (
    LARGEST_PAYLOAD,
    FrameError,
    FrameKind,
    FrameReader,
    header,
)
from holdfast.fixtures.reference.drivers.processes.loop import Loop
from holdfast.fixtures.reference.drivers.processes.sockets import listen, port_of

LIMIT_S = 10.0
CAPACITY = 4


def batch(first: int, rows: int = 100) -> pa.RecordBatch:
    return pa.record_batch({"key": np.arange(first, first + rows), "value": np.ones(rows, dtype=np.int64)})


class Dribble:
    """A stream that hands out a few bytes at a time."""

    def __init__(self, content: bytes, step: int) -> None:
        self.content = content
        self.step = step

    def recv_into(self, buffer: memoryview, /) -> int:
        taken = self.content[: min(self.step, len(buffer))]
        self.content = self.content[len(taken) :]
        buffer[: len(taken)] = taken
        return len(taken)


@pytest.mark.parametrize("step", [1, 3, 8, 1000])
def test_frames_survive_any_cutting(step: int) -> None:
    payloads = [(FrameKind.MESSAGE, b"hello"), (FrameKind.BATCH, b""), (FrameKind.SCHEMA, bytes(range(256)))]
    stream = Dribble(b"".join(header(kind, len(payload)) + payload for kind, payload in payloads), step)
    reader = FrameReader()
    frames = [reader.receive(stream) for _ in payloads]
    assert [(frame[0], bytes(frame[1])) for frame in frames if frame is not None] == payloads
    assert reader.receive(stream) is None


def test_what_is_no_frame_is_refused() -> None:
    with pytest.raises(FrameError, match="who else is on this port"):
        FrameReader().receive(Dribble(b"GET / HTTP/1.1\r\n", 100))


def test_a_frame_has_a_greatest_length() -> None:
    with pytest.raises(ValueError, match="send smaller batches"):
        header(FrameKind.BATCH, LARGEST_PAYLOAD + 1)


class Ends:
    """Both ends of a channel in one process."""

    def __init__(self) -> None:
        self.loop = Loop()
        self.lost: list[str] = []
        self.rooms = 0
        self.receiver: InputChannel
        self._listener = listen()
        self.sender = OutputChannel(
            self.loop, port_of(self._listener), Open("a[0]->b[0]", 3), self._on_room, self.lost.append
        )
        stream, _ = self._listener.accept()
        self._connection = Connection(self.loop, stream, self._on_open, self.lost.append)

    def _on_room(self) -> None:
        self.rooms += 1

    def _on_open(self, kind: FrameKind, payload: pa.Buffer) -> None:
        assert opening(payload) == Open("a[0]->b[0]", 3)
        self.receiver = InputChannel(self._connection, CAPACITY, lambda: None, self.lost.append)

    def turn_until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + LIMIT_S
        while not condition():
            assert time.monotonic() < deadline, "it did not happen in time"
            self.loop.turn(0.1)

    def close(self) -> None:
        self.sender.close()
        self._connection.close()
        self._listener.close()
        self.loop.close()


@pytest.fixture
def ends() -> Iterator[Ends]:
    with closing(Ends()) as ends:
        ends.turn_until(lambda: ends.sender.has_room)
        yield ends


def test_batches_and_marks_arrive_in_order_and_are_read_in_place(ends: Ends) -> None:
    ends.sender.send_batch(batch(0))
    ends.sender.send_mark(7)
    ends.sender.send_batch(batch(100))
    ends.turn_until(lambda: len(ends.receiver) == 3)
    first, mark, second = (ends.receiver.take() for _ in range(3))
    assert mark == Mark(7)
    assert not isinstance(first, Mark)
    assert first.equals(batch(0))
    assert not isinstance(second, Mark)
    column = second.column("key").to_numpy(zero_copy_only=True)
    assert column.tolist() == list(range(100, 200))
    assert column.flags.aligned


def test_a_sender_may_have_so_many_unconsumed_batches_and_no_more(ends: Ends) -> None:
    sent = 0
    while ends.sender.has_room:
        ends.sender.send_batch(batch(sent))
        sent += 1
    assert sent == CAPACITY
    ends.turn_until(lambda: len(ends.receiver) == CAPACITY)
    ends.loop.turn(0.02)
    assert not ends.sender.has_room, "arriving is not being consumed"
    rooms = ends.rooms
    ends.receiver.take()
    ends.receiver.take()
    ends.turn_until(lambda: ends.sender.has_room)
    assert ends.rooms == rooms + 1


def test_a_mark_does_not_wait_for_room_and_is_paid_back_later(ends: Ends) -> None:
    for _ in range(CAPACITY):
        ends.sender.send_batch(batch(0))
    ends.sender.send_mark(1)
    ends.turn_until(lambda: len(ends.receiver) == CAPACITY + 1)
    for _ in range(CAPACITY + 1):
        ends.receiver.take()
    ends.turn_until(lambda: ends.sender.has_room)


def test_a_lost_peer_is_noticed_on_the_other_end(ends: Ends) -> None:
    ends.sender.close()
    ends.turn_until(lambda: bool(ends.lost))
    assert ends.lost == ["the peer closed the connection"]


def test_a_peer_that_does_not_read_is_lost_when_the_outbox_is_full() -> None:
    ours, theirs = socket.socketpair()
    lost: list[str] = []
    with theirs:
        connection = Connection(Loop(), ours, lambda kind, payload: None, lost.append, outbox_bytes=1 << 20)
        for _ in range(100):
            connection.send(FrameKind.MESSAGE, bytes(1 << 16))
        assert connection.closed
        assert len(lost) == 1
        assert "unread" in lost[0]


def test_a_connection_that_does_not_open_is_refused() -> None:
    with pytest.raises(ValueError, match="something else than Open"):
        opening(pa.py_buffer(msgspec.msgpack.encode(Mark(1))))
