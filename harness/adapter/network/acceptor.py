"""Who may connect: every connection between processes of ours begins with the token of the run.

Rules of this file
- A token comes to a process by its environment, or over a connection that has nobody else at its end: never by its
  arguments, which every user of the machine can read.
- Who does not say it is closed and counted, and costs the run nothing: it reaches no callback, nothing is answered, it
  waits for a limited time, and of such only a limited number wait.
- In front of a service nobody can be asked for a token. There a connection of a process that the process of the harness
  which started this one did not start is refused, as far as the kernel tells who holds its other end. Who could come
  here could go to the service itself: such a run says nothing.
"""

from __future__ import annotations

import hmac
import os
import secrets
import socket
from collections.abc import Callable

from holdfast.harness.adapter.network.loop import Loop, Timer
from holdfast.harness.adapter.network.peer import Kin, Peer, peer_of

TOKEN_BYTES = 32
TOKEN_LIMIT_S = 30.0
"""How long one may take to say it. A link that a fault has cut for a while may hold it back."""
MOST_WAITING = 64
"""So many may be about to say it; the one that has waited longest goes when another comes."""
_ACCEPTED_A_TURN = 16


def make_token() -> bytes:
    return secrets.token_bytes(TOKEN_BYTES)


def uncounted() -> None:
    """Of a connection that was refused nobody need know."""


class Acceptor:
    """Accepts connections, and hands over those that are of the run.

    Args:
        loop: of the process.
        listener: where they come; the caller closes it.
        token: that each must begin with; empty: nobody can be asked for one here.
        on_stream: takes each connection that is admitted; what follows the token is still to be read.
        on_refused: called once for each that is not.
        limit_s: how long one may take to say the token.
        guarded: where there is none, who is not of the run is refused; if not, whoever comes is admitted.

    Attributes:
        refused: how many were not admitted.
    """

    def __init__(
        self,
        loop: Loop,
        listener: socket.socket,
        token: bytes,
        on_stream: Callable[[socket.socket], None],
        on_refused: Callable[[], None] = uncounted,
        limit_s: float = TOKEN_LIMIT_S,
        *,
        guarded: bool = True,
    ) -> None:
        self.refused = 0
        self._loop = loop
        self._listener = listener
        self._token = token
        self._on_stream = on_stream
        self._on_refused = on_refused
        self._limit_s = limit_s
        self._guarded = guarded
        self._kin = Kin(os.getppid())
        self._waiting: dict[socket.socket, _Caller] = {}
        listener.setblocking(False)
        loop.watch(listener, self._accept)

    def close(self) -> None:
        """Accept no more, and refuse those that have not said the token. Idempotent."""
        self._loop.forget(self._listener)
        for stream in tuple(self._waiting):
            self._refuse(stream)

    def _accept(self) -> None:
        for _ in range(_ACCEPTED_A_TURN):
            try:
                stream, _ = self._listener.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            if self._token:
                self._await_token(stream)
            else:
                self._look_at(stream)

    def _look_at(self, stream: socket.socket) -> None:
        peer = peer_of(stream, os.getuid(), kin=self._kin) if self._guarded else Peer.UNKNOWN
        if peer is Peer.FOREIGN:
            self._refuse(stream)
        elif peer is Peer.GONE:
            stream.close()
        else:
            self._on_stream(stream)

    def _await_token(self, stream: socket.socket) -> None:
        stream.setblocking(False)
        timer = self._loop.after(self._limit_s, lambda: self._refuse(stream))
        self._waiting[stream] = _Caller(timer)
        self._loop.watch(stream, lambda: self._hear(stream))
        self._hear(stream)  # Ours has said it by now.
        if len(self._waiting) > MOST_WAITING:
            self._refuse(next(iter(self._waiting)))

    def _hear(self, stream: socket.socket) -> None:
        caller = self._waiting[stream]
        try:
            received = stream.recv(TOKEN_BYTES - len(caller.said))
        except BlockingIOError:
            return
        except OSError:
            received = b""
        caller.said += received
        if not received:
            self._refuse(stream)
        elif len(caller.said) == TOKEN_BYTES:
            # Only a whole token is looked at: else the time would tell how much of a guess is right.
            if hmac.compare_digest(caller.said, self._token):
                self._leave(stream)
                self._on_stream(stream)
            else:
                self._refuse(stream)

    def _refuse(self, stream: socket.socket) -> None:
        self._leave(stream)
        stream.close()
        self.refused += 1
        self._on_refused()

    def _leave(self, stream: socket.socket) -> None:
        caller = self._waiting.pop(stream, None)
        if caller is not None:
            caller.timer.cancel()
            self._loop.forget(stream)


class _Caller:
    """Somebody who has not said the whole token."""

    __slots__ = ("said", "timer")

    def __init__(self, timer: Timer) -> None:
        self.said = b""
        self.timer = timer
