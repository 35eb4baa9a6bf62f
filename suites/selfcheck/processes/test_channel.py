"""Frames survive any cutting, record batches are read in place, and a channel never holds more than its bound."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing

import msgspec
import numpy as np
import pyarrow as pa
import pytest

from holdfast.fixtures.reference.drivers.processes.channel import (
    InputChannel,
    Mark,
    Open,
    OutputChannel,
    opening,
)
from holdfast.fixtures.reference.drivers.processes.connection import (
    LARGEST_PAYLOAD,
    Connection,
    FrameError,
    FrameKind,
    FrameReader,
    header,
)
from holdfast.fixtures.reference.drivers.processes.worker_channels import LocalChannel
from holdfast.fixtures.reference.operators.batches import Batch, PartialSums, from_arrow, to_arrow
from holdfast.fixtures.reference.protocol.channels.buffers import InputBuffers, TaskInputs
from holdfast.fixtures.reference.protocol.messages import Barrier, Element, Records
from holdfast.harness.adapter.network.loop import Loop
from holdfast.harness.adapter.network.sockets import address_of, connect, listen
from holdfast.harness.model.records import FoldColumns, IdentityColumns

LIMIT_S = 30.0
CAPACITY = 4


KEYS = ("a", "b", "c")


OPENING = Open("a[0]->b[0]", 3)


def batch(first: int, rows: int = 100) -> IdentityColumns:
    return IdentityColumns(np.full(rows, 1), np.arange(first, first + rows))


def records(position: int = 0, channel: str = OPENING.channel, origin: int = 0) -> Records:
    """A batch of a hundred rows that begin at a hundred times its position."""
    return Records(OPENING.attempt, channel, position, batch(100 * position), origin)


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


def inputs_of(buffers: InputBuffers, has_room: Callable[[], bool] = lambda: True) -> TaskInputs:
    """The inputs of a task that has one channel."""
    return TaskInputs("sum[0]", {OPENING.channel: buffers}, has_room, lambda batch: 0, announces=True)


class Receiver:
    """What an input channel leads to."""

    def __init__(self, connection: Connection, on_lost: Callable[[str], None]) -> None:
        self.input = InputBuffers(CAPACITY)
        self.has_room: Callable[[], bool] = lambda: True
        self.inputs = inputs_of(self.input, lambda: self.has_room())
        self.announced: list[int] = []
        self.channel = InputChannel(connection, OPENING, lambda arrived: from_arrow(arrived, KEYS), on_lost)
        self.channel.open(self.input, self._arrive)

    def _arrive(self, element: Element) -> None:
        announced = self.inputs.arrive(element)
        if announced is not None:
            self.announced.append(announced.checkpoint)

    def take(self, has_room: Callable[[], bool]) -> Element | None:
        self.has_room = has_room
        element = self.inputs.take()
        self.channel.grant()
        return element

    def resize(self, buffers: int) -> None:
        self.input.credit.resize(buffers)
        self.channel.resize(buffers)
        self.channel.grant()


class Ends:
    """Both ends of a channel in one process."""

    def __init__(self) -> None:
        self.loop = Loop()
        self.lost: list[str] = []
        self.room: list[bool] = []
        self.receiver: Receiver
        self._listener = listen()
        self.sender = OutputChannel(
            self.loop,
            connect(address_of(self._listener), b""),
            OPENING,
            CAPACITY,
            to_arrow,
            self.lost.append,
            lambda: self.room.append(self.sender.output.has_room),
        )
        stream, _ = self._listener.accept()
        self._connection = Connection(self.loop, stream, self._on_open, self.lost.append)

    def _on_open(self, kind: FrameKind, payload: pa.Buffer) -> None:
        assert opening(payload) == OPENING
        self.receiver = Receiver(self._connection, self.lost.append)

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
        ends.turn_until(lambda: hasattr(ends, "receiver"))
        yield ends


def barrier(
    checkpoint: int, *, overtakes: bool = False, cancelled: bool = False, channel: str = OPENING.channel
) -> Barrier:
    return Barrier(OPENING.attempt, channel, checkpoint, unaligned=overtakes, overtakes=overtakes, cancelled=cancelled)


def take(receiver: Receiver, *, has_room: bool = True) -> Element:
    """The next element, which must be there."""
    element = receiver.take(lambda: has_room)
    assert element is not None
    return element


def arrived(receiver: Receiver) -> int:
    """How many elements wait at a receiver."""
    return len(receiver.input.arrived)


def overtaken(receiver: Receiver, checkpoint: int) -> list[int]:
    """Positions of the batches that the barrier of a checkpoint overtakes."""
    taken = receiver.input.take_overtaking()
    assert taken is not None
    assert (taken.checkpoint, taken.unaligned, receiver.input.overtaking) == (checkpoint, True, 0)
    return [element.position for element in taken.overtaken]


def columns_of(element: Element | None) -> IdentityColumns:
    assert isinstance(element, Records)
    assert isinstance(element.batch, IdentityColumns)
    return element.batch


def fill(ends: Ends, capacity: int = CAPACITY) -> int:
    """Send until there is room at neither end; returns how many batches that took."""
    sent = 0

    def full() -> bool:
        nonlocal sent
        while ends.sender.output.has_room:
            ends.sender.send(records(sent))
            sent += 1
        return arrived(ends.receiver) >= capacity

    ends.turn_until(full)
    return sent


def test_batches_and_marks_arrive_in_order_and_are_read_in_place(ends: Ends) -> None:
    for element in (records(0), barrier(7), records(1)):
        ends.sender.send(element)
    ends.turn_until(lambda: arrived(ends.receiver) == 3)
    assert ends.receiver.take(lambda: False) is None, "a batch waits for room"
    first, second, third = (take(ends.receiver) for _ in range(3))
    assert second == barrier(7)
    assert columns_of(first).partition.tolist() == [1] * 100
    assert columns_of(first).offset.tolist() == list(range(100))
    assert columns_of(third).offset.tolist() == list(range(100, 200))
    assert columns_of(third).offset.flags.aligned
    assert not columns_of(third).offset.flags.owndata, "reading must not copy"


def test_a_channel_holds_so_many_batches_at_either_end_and_no_more(ends: Ends) -> None:
    assert fill(ends) == 2 * CAPACITY
    ends.loop.turn(0.02)
    assert not ends.sender.output.has_room, "arriving is not being consumed"
    assert arrived(ends.receiver) == CAPACITY
    take(ends.receiver)
    take(ends.receiver)
    ends.turn_until(lambda: ends.sender.output.has_room)


def test_a_barrier_waits_for_no_room_and_uses_no_credit(ends: Ends) -> None:
    for position in range(CAPACITY):
        ends.sender.send(records(position))
    ends.sender.send(barrier(1))
    ends.turn_until(lambda: arrived(ends.receiver) == CAPACITY + 1)
    for _ in range(CAPACITY + 1):
        take(ends.receiver)
    ends.sender.send(records(CAPACITY))
    ends.turn_until(lambda: arrived(ends.receiver) == 1)


def test_a_mark_overtakes_what_waits_at_both_ends_and_says_what(ends: Ends) -> None:
    sent = fill(ends)
    ends.sender.send(barrier(1))
    ends.sender.send(barrier(2, overtakes=True))
    assert [element.position for element in ends.sender.output.batches] == list(range(CAPACITY, sent))
    ends.turn_until(lambda: ends.receiver.input.overtaking == 2)
    assert overtaken(ends.receiver, 2) == list(range(CAPACITY))
    taken: list[int] = []

    def drained() -> bool:
        while arrived(ends.receiver):
            element = take(ends.receiver)
            assert isinstance(element, Records | Barrier)
            taken.append(element.position if isinstance(element, Records) else -element.checkpoint)
        return len(taken) == sent + 1

    ends.turn_until(drained)
    assert taken == [*range(sent), -1], "what was overtaken is delivered all the same, and a barrier in place stays"


def test_what_was_in_flight_keeps_its_position(ends: Ends) -> None:
    ends.sender.send(records(5, origin=2))
    ends.sender.send(records(0))
    ends.turn_until(lambda: arrived(ends.receiver) == 2)
    taken = [take(ends.receiver) for _ in range(2)]
    assert [(each.origin, each.position) for each in taken if isinstance(each, Records)] == [(2, 5), (0, 0)]


@pytest.mark.parametrize(
    "sent",
    [
        PartialSums(
            3, 6, np.array([0, 2]), np.array([5, -5]), np.array([2, 4]), np.array([1, 2**64 - 1], dtype=np.uint64)
        ),
        FoldColumns(KEYS, np.array([1]), np.array([7]), np.array([[1, 2]]), np.array([2**64 - 1], dtype=np.uint64)),
        batch(5),
    ],
)
def test_every_kind_of_batch_travels(sent: Batch) -> None:
    arrived = to_arrow(sent)
    received = from_arrow(pa.ipc.read_record_batch(arrived.serialize(), arrived.schema), KEYS)
    assert type(received) is type(sent)
    assert repr(received) == repr(sent)


def full(channel: LocalChannel) -> bool:
    """Whether it takes no more batches."""
    return not channel.output.has_room


def opened(channel: LocalChannel, capacity: int) -> tuple[InputBuffers, TaskInputs]:
    """What waits at the end of a local channel, and the inputs of its receiver."""
    buffers = InputBuffers(capacity)
    inputs = inputs_of(buffers)
    channel.open(buffers, inputs.arrive)
    return buffers, inputs


def test_a_local_channel_is_bounded_and_in_order() -> None:
    channel = LocalChannel(2, nobody)
    buffers, inputs = opened(channel, 2)
    for position in range(4):
        assert channel.output.has_room
        channel.send(records(position))
    assert not channel.output.has_room
    channel.send(barrier(1))
    assert len(buffers.arrived) == 2
    taken: list[Element] = []
    while (element := inputs.take()) is not None:
        taken.append(element)
        channel.grant()
    assert taken[-1] == barrier(1)
    assert [each.position for each in taken if isinstance(each, Records)] == list(range(4))


def test_who_sends_hears_of_room(ends: Ends) -> None:
    fill(ends)
    ends.room.clear()
    while not ends.sender.output.has_room:
        ends.turn_until(lambda: arrived(ends.receiver) > 0)
        take(ends.receiver)
        ends.loop.turn(0.02)
    assert ends.room[-1]


def test_who_sends_on_a_local_channel_hears_of_room() -> None:
    heard: list[bool] = []
    channel = LocalChannel(1, lambda: heard.append(channel.output.has_room))
    _, inputs = opened(channel, 1)
    for position in range(2):
        channel.send(records(position))
    assert (channel.output.has_room, heard) == (False, [])
    inputs.take()
    channel.grant()
    assert heard == [True]
    channel.send(records(2))
    channel.resize(2)
    assert heard == [True, True]


def test_what_is_sent_on_a_local_channel_waits_for_its_receiver() -> None:
    channel = LocalChannel(1, nobody)
    channel.send(barrier(1))
    channel.send(records(0))
    buffers, _ = opened(channel, 1)
    assert [type(each) for each in buffers.arrived] == [Barrier, Records]
    channel.close()
    channel.send(barrier(2))
    assert len(buffers.arrived) == 2, "a channel that was closed passes on nothing"


def nobody() -> None:
    """Is told of room, and does nothing."""


def test_nothing_is_granted_for_what_was_restored(ends: Ends) -> None:
    ends.receiver.input.restore(tuple(records(position, origin=1) for position in range(CAPACITY + 1)))
    fill(ends, 2 * CAPACITY + 1)
    for _ in range(CAPACITY + 1):
        take(ends.receiver)
    ends.loop.turn(0.02)
    assert not ends.sender.output.has_room
    take(ends.receiver)
    take(ends.receiver)
    ends.turn_until(lambda: ends.sender.output.has_room)


def test_a_lost_peer_is_noticed_on_the_other_end(ends: Ends) -> None:
    ends.sender.send(records(0))
    ends.turn_until(lambda: arrived(ends.receiver) == 1)
    ends.sender.close()
    ends.turn_until(lambda: bool(ends.lost))
    assert ends.lost == ["the peer closed the connection"]


def test_a_connection_that_does_not_open_is_refused() -> None:
    with pytest.raises(ValueError, match="something else than Open"):
        opening(pa.py_buffer(msgspec.msgpack.encode(Mark(1))))


def test_a_barrier_that_waits_at_the_sender_can_be_let_in_front_of_its_batches(ends: Ends) -> None:
    sent = fill(ends)
    ends.sender.send(barrier(1))
    ends.sender.send(records(sent))
    output = ends.sender.output
    assert output.holds(1)
    front, waiting = output.overtake(1)
    assert front == barrier(1, overtakes=True)
    assert [element.position for element in waiting] == list(range(CAPACITY, sent))
    assert not output.holds(1)
    assert output.overtake(1) == (None, []), "it has left"
    ends.sender.transmit(front)
    ends.turn_until(lambda: ends.receiver.input.overtaking == 1)
    assert overtaken(ends.receiver, 1) == list(range(CAPACITY))


def test_a_barrier_that_came_is_announced_and_can_be_let_in_front(ends: Ends) -> None:
    for element in (records(0), barrier(3), barrier(4, cancelled=True)):
        ends.sender.send(element)
    ends.turn_until(lambda: arrived(ends.receiver) == 3)
    assert ends.receiver.announced == [3]
    assert not ends.receiver.input.overtake(4), "a marker overtakes nothing"
    assert ends.receiver.input.overtake(3)
    assert overtaken(ends.receiver, 3) == [0]


@pytest.mark.parametrize("taken", range(CAPACITY))
@pytest.mark.parametrize("buffers", [1, CAPACITY + 1, 2 * CAPACITY])
def test_either_end_follows_a_change_of_size(ends: Ends, buffers: int, taken: int) -> None:
    sent = fill(ends)
    for _ in range(taken):
        take(ends.receiver)
    ends.receiver.resize(buffers)
    ends.receiver.resize(buffers)
    for _ in range(sent - taken):
        ends.turn_until(lambda: arrived(ends.receiver) > 0)
        take(ends.receiver)
    unreturned = max(1, buffers // 2) - 1
    fill(ends, buffers - unreturned)
    ends.loop.turn(0.02)
    assert not ends.sender.output.has_room
    assert buffers - unreturned <= arrived(ends.receiver) <= buffers, "credit comes back several at a time"
    assert len(ends.sender.output.batches) == buffers
