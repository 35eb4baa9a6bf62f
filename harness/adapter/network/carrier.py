"""A relayed link: whoever connects to its listening socket is connected to its target, through pipes that can be cut,
slowed, narrowed and emptied."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable

from holdfast.harness.adapter.network.acceptor import Acceptor, uncounted
from holdfast.harness.adapter.network.loop import Loop
from holdfast.harness.adapter.network.pipe import Pipe, Wire
from holdfast.harness.adapter.network.sockets import Address, Outgoing, connect
from holdfast.harness.spi.controls.link import BACKWARD, BOTH, FORWARD

_TO_BYTES = 1_000
_TO_NS = 1_000_000


class Carrier:
    """One link with all its connections.

    Args:
        loop: of the process.
        listener: where clients connect.
        target: where they are led to; None: not known yet, and connections are closed at once.
        token: that clients must say and the target is told; empty: it is a service, which knows of none.
        on_refused: called for each client that is refused.

    Attributes:
        target: of connections that are made from now on.
    """

    def __init__(
        self,
        loop: Loop,
        listener: socket.socket,
        target: Address | None,
        token: bytes = b"",
        on_refused: Callable[[], None] = uncounted,
    ) -> None:
        self.target = target
        self._token = token
        self._wires = {FORWARD: Wire(), BACKWARD: Wire()}
        self._loop = loop
        self._connections: list[_Connection] = []
        Acceptor(loop, listener, token, self._carry, on_refused)

    def impair(
        self, direction: str, *, cut: bool, delay_ms: int = 0, kilobytes_per_second: int = 0, swallow: bool = False
    ) -> bool:
        """Set what the link does from now on, also to what is under way.

        Args:
            direction: FORWARD (from who connects), BACKWARD or BOTH.
            cut: take nothing and pass nothing.
            delay_ms: pass everything so much later.
            kilobytes_per_second: pass no more than that; 0: as much as comes.
            swallow: take everything and pass nothing, ever.

        Returns:
            Whether what it did until now befell anything.
        """
        touched = 0
        for each, wire in self._wires.items():
            if direction in (each, BOTH):
                touched += wire.change(
                    cut=cut,
                    delay_ns=delay_ms * _TO_NS,
                    bytes_per_second=kilobytes_per_second * _TO_BYTES,
                    swallow=swallow,
                )
        return bool(touched)

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
            self._connections.append(_Connection(self._loop, stream, far, self._wires))


class _Connection:
    """Two sockets, two pipes. They carry nothing before the greeting has gone to the target, whatever the link does."""

    def __init__(self, loop: Loop, near: socket.socket, outgoing: Outgoing, wires: dict[str, Wire]) -> None:
        far, self._greeting = outgoing
        for stream in (near, far):
            stream.setblocking(False)
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.closed = False
        self._loop = loop
        self._near, self._far = near, far
        self._forward = Pipe(loop, wires[FORWARD], near, far, self._watch)
        self._backward = Pipe(loop, wires[BACKWARD], far, near, self._watch)
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
