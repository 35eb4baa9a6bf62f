"""Run as a module: the relay, a process in front of receivers of links, where links are cut, slowed, narrowed, reset,
and where requests are held back.

    python -P -m holdfast.harness.adapter.network.relay

The first line of its standard input has the target of each link; it answers with a line of the ports on which they
listen. Each further line is an order, and is answered when it is in force. It also writes a line for each request that
it begins to hold. The end of its standard input ends it.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
from collections.abc import Callable
from functools import partial

import msgspec

from holdfast.harness.adapter.network.acceptor import Acceptor
from holdfast.harness.adapter.network.loop import Loop
from holdfast.harness.adapter.network.pipe import Impairments, Pipe, Wire
from holdfast.harness.adapter.network.sockets import LOOPBACK, Address, Outgoing, address_of, connect, listen


class Carrier:
    """One link with all its connections: whoever connects to its listening socket is connected to its target, through
    two pipes.

    Args:
        loop: of the process.
        listener: where clients connect.
        target: where they are led to; None: not known yet, and connections are closed at once.
        token: that clients must send, and that is sent to the target; empty: the target is a service, which has none.
        guarded: processes outside the run are refused, where there is no token; see Acceptor.

    Attributes:
        target: of connections that are made from now on.
    """

    def __init__(
        self, loop: Loop, listener: socket.socket, target: Address | None, token: bytes = b"", *, guarded: bool = True
    ) -> None:
        self.target = target
        self._token = token
        self._forward, self._backward = Wire(), Wire()
        self._loop = loop
        self._connections: list[_Connection] = []
        self._acceptor = Acceptor(loop, listener, token, self._carry, guarded=guarded)

    @property
    def does(self) -> Impairments:
        """What the link does now."""
        return Impairments(self._forward.does, self._backward.does)

    @property
    def refused(self) -> int:
        """How many clients were refused so far."""
        return self._acceptor.refused

    def impair(self, wanted: Impairments) -> bool:
        """Set what the link does from now on, also to what is under way. At the end of swallowing all connections are
        reset: what was swallowed never comes.

        Returns:
            Whether what it did until now befell anything.
        """
        swallowed = self._forward.does.swallow and not wanted.forward.swallow
        touched = self._forward.change(wanted.forward) + self._backward.change(wanted.backward)
        if swallowed:
            self.reset()
        return bool(touched)

    def hold(self, beginning: bytes, occurrence: int, on_held: Callable[[], None]) -> None:
        """Hold back a request when it comes; holds are numbered from 0. See pipe.Hold."""
        self._forward.hold(beginning, occurrence, on_held)

    def release(self, hold: int, *, lost: bool) -> None:
        """Let the request of a hold go, or lose it. See pipe.Hold."""
        which = self._forward.holds[hold]
        if lost:
            which.drop()
        else:
            which.release()

    def reset(self) -> bool:
        """Break all connections with a reset at both ends, and forget what they carried; whether there was any."""
        connections, self._connections = [each for each in self._connections if not each.closed], []
        for connection in connections:
            connection.reset()
        return bool(connections)

    def _carry(self, stream: socket.socket) -> None:
        self._connections = [each for each in self._connections if not each.closed]
        if self.target is None:
            stream.close()
        else:
            far = connect(self.target, self._token)
            self._connections.append(_Connection(self._loop, stream, far, self._forward, self._backward))


class _Connection:
    """Two sockets, two pipes. They carry nothing before the greeting has gone to the target, whatever the link does."""

    def __init__(self, loop: Loop, near: socket.socket, outgoing: Outgoing, forward: Wire, backward: Wire) -> None:
        far, self._greeting = outgoing
        for stream in (near, far):
            stream.setblocking(False)
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.closed = False
        self._loop = loop
        self._near, self._far = near, far
        self._forward = Pipe(loop, forward, near, far, self._watch)
        self._backward = Pipe(loop, backward, far, near, self._watch)
        self._greet()

    def reset(self) -> None:
        """Close so that both ends see a reset."""
        for stream in (self._near, self._far):
            if stream.fileno() >= 0:
                stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._close()

    def _greet(self) -> None:
        try:
            self._greeting = self._greeting[self._far.send(self._greeting) :] if self._greeting else b""
        except BlockingIOError:
            pass
        except OSError:
            self._greeting = b""  # The pipes will find out.
        if self._greeting:
            self._loop.watch(self._far, None, self._greet)
        else:
            self._watch()

    def _watch(self) -> None:
        if self.closed or self._greeting:
            return
        if self._forward.finished and self._backward.finished:
            self._close()
            return
        for stream, inward, outward in (
            (self._near, self._forward, self._backward),
            (self._far, self._backward, self._forward),
        ):
            self._loop.watch(
                stream,
                inward.read if inward.wants_to_read else None,
                outward.pump if outward.wants_to_write else None,
            )

    def _close(self) -> None:
        self.closed = True
        for pipe in (self._forward, self._backward):
            pipe.close()
        for stream in (self._near, self._far):
            self._loop.forget(stream)
            stream.close()


_CHUNK_BYTES = 1 << 16


class Targets(msgspec.Struct, frozen=True):
    """The first line of its input.

    Attributes:
        links: by link, where it leads; None: not known yet.
        host: of this machine, where all listen.
        token, guarded: as of Carrier.
    """

    links: dict[str, Address | None]
    host: str = LOOPBACK
    token: bytes = b""
    guarded: bool = True


class Listening(msgspec.Struct, frozen=True, tag="listening"):
    """Its answer: by link, the port on which it listens."""

    links: dict[str, Address]


class Impair(msgspec.Struct, frozen=True, tag="impair"):
    """See Carrier.impair."""

    link: str
    wanted: Impairments


class Reset(msgspec.Struct, frozen=True, tag="reset"):
    """See Carrier.reset."""

    link: str


class Route(msgspec.Struct, frozen=True, tag="route"):
    """New connections of a link go elsewhere."""

    link: str
    target: Address


class Hold(msgspec.Struct, frozen=True, tag="hold"):
    """See Carrier.hold."""

    link: str
    beginning: str
    occurrence: int


class Release(msgspec.Struct, frozen=True, tag="release"):
    """See Carrier.release."""

    link: str
    hold: int
    lost: bool = False


class Ask(msgspec.Struct, frozen=True, tag="ask"):
    """Do nothing but answer."""

    link: str


Order = Impair | Reset | Route | Hold | Release | Ask


class Answer(msgspec.Struct, frozen=True, tag="answer"):
    """An order is in force.

    Attributes:
        does: what the link does now.
        refused: how many clients of the link were refused so far.
        touched: what the order before this one had done to the link befell something; of a reset, there were
            connections.
    """

    does: Impairments
    refused: int
    touched: bool


class Held(msgspec.Struct, frozen=True, tag="held"):
    """A hold of a link has come to hold a request."""

    link: str
    hold: int


Said = Listening | Answer | Held


class Relay:
    """One loop over all sockets."""

    def __init__(self, targets: Targets) -> None:
        self._loop = Loop()
        listeners = {link: listen(host=targets.host) for link in targets.links}
        self._carriers = {
            link: Carrier(self._loop, listener, targets.links[link], targets.token, guarded=targets.guarded)
            for link, listener in listeners.items()
        }
        self._holds = dict.fromkeys(listeners, 0)
        self.listening = Listening({link: address_of(listener) for link, listener in listeners.items()})

    def serve(self, orders: _Orders) -> None:
        """Until there are no more orders."""

        def obey() -> None:
            for line in orders.lines():
                self._obey(msgspec.json.decode(line, type=Order))

        self._loop.watch(orders, obey)
        while not orders.ended:
            self._loop.turn()

    def _obey(self, order: Order) -> None:
        carrier = self._carriers[order.link]
        touched = False
        match order:
            case Impair(wanted=wanted):
                touched = carrier.impair(wanted)
            case Reset():
                touched = carrier.reset()
            case Route(target=target):
                carrier.target = target
            case Hold(link=link):
                held = Held(link, self._holds[link])
                self._holds[link] += 1
                carrier.hold(order.beginning.encode(), order.occurrence, partial(_say, held))
            case Release(hold=hold, lost=lost):
                carrier.release(hold, lost=lost)
        _say(Answer(carrier.does, carrier.refused, touched))


class _Orders:
    """Lines of standard input, without blocking."""

    def __init__(self) -> None:
        self._rest = b""
        self.ended = False

    def fileno(self) -> int:
        return 0

    def lines(self) -> list[bytes]:
        chunk = os.read(0, _CHUNK_BYTES)
        self.ended = not chunk
        *whole, self._rest = (self._rest + chunk).split(b"\n")
        return whole


def _say(what: Said) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(what) + b"\n")
    sys.stdout.buffer.flush()


def main() -> None:
    orders = _Orders()
    lines: list[bytes] = []
    while not lines:
        lines = orders.lines()
        if orders.ended:
            return
    relay = Relay(msgspec.json.decode(lines[0], type=Targets))
    _say(relay.listening)
    relay.serve(orders)


if __name__ == "__main__":
    main()
