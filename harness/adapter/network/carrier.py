"""A relayed link: whoever connects to its listening socket is connected to its target, through pipes that can be cut,
slowed, narrowed and emptied, and that hold back requests."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from typing import NamedTuple

from holdfast.harness.adapter.network.acceptor import Acceptor
from holdfast.harness.adapter.network.loop import Loop
from holdfast.harness.adapter.network.pipe import Hold, Impairment, Pipe, Wire
from holdfast.harness.adapter.network.sockets import Address, Outgoing, connect


class Impairments(NamedTuple):
    """What is done to what comes from who connects, and to what goes back."""

    forward: Impairment
    backward: Impairment


class Carrier:
    """One link with all its connections.

    Args:
        loop: of the process.
        listener: where clients connect.
        target: where they are led to; None: not known yet, and connections are closed at once.
        token: that clients must say and the target is told; empty: it is a service, which knows of none.
        guarded: who is not of the run is refused, where there is no token; see Acceptor.

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
        """Hold back a request when it comes; holds are numbered from 0. See Hold."""
        self._forward.holds.append(Hold(beginning, occurrence, on_held))

    def release(self, hold: int, *, lost: bool) -> None:
        """Let the request of a hold go, or lose it. See Hold."""
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
