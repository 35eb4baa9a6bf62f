"""Who may connect: every connection between processes of ours begins with the token of the run.

Rules of this file
- A token comes to a process by its environment, or over a connection whose other end is ours: never by its arguments,
  which every user of the machine can read.
- A connection without the token is closed and counted, and costs the run nothing: it reaches no callback, gets no
  answer, and waits for a limited time; only a limited number of such wait.
- In front of a service clients cannot send a token. There a connection is refused if its process was not started by the
  process of the harness which started this one, as far as the kernel reports who holds its other end. A process that
  reaches this port could reach the service itself: such a run decides nothing.
"""

from __future__ import annotations

import hmac
import os
import secrets
import socket
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from enum import Enum
from pathlib import Path

from holdfast.harness.adapter.network.loop import Loop, Timer
from holdfast.harness.adapter.process import process_stat
from holdfast.harness.label import label_of

_CONNECTIONS = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_MAPPED = "0000000000000000FFFF0000"
"""In the second list, in front of a host of IPv4: the sockets of a Java process stand there."""
_LOCAL, _REMOTE, _USER, _INODE = 1, 2, 7, 9
"""Columns of a line."""
_MOST_SEEN = 32


class Peer(Enum):
    """The other end of a connection."""

    OWN = "own"
    """A process of ours holds it, or one of this user of which the kernel reports no more."""
    FOREIGN = "foreign"
    """A process of another user of this machine holds it, or one that is not of the run."""
    GONE = "gone"
    """It was on this machine, and no process holds it any more."""
    UNKNOWN = "unknown"
    """It is on another machine, or in a container."""


class Kin:
    """Which processes are ours: one of the harness, whatever it has started or was started by, and whatever carries a
    label.

    Args:
        root: pid of that process.
    """

    def __init__(self, root: int) -> None:
        self._root = root
        self._seen: list[int] = []

    def holds(self, inode: str) -> bool:
        """Whether one of ours holds a socket. Processes that open many are searched first.

        Args:
            inode: of the socket.

        Returns:
            True also where no holder is found.
        """
        stranger = False
        for pid in (*self._seen, *_processes()):
            if not _holds(pid, inode):
                continue
            if label_of(pid) is not None or self._root in _lineage(pid) or pid in _lineage(self._root):
                self._seen = [pid, *(each for each in self._seen if each != pid)][:_MOST_SEEN]
                return True
            stranger = True
        return not stranger


def _lineage(pid: int) -> Iterator[int]:
    """A process, and those above it up to the first one."""
    while pid > 1:
        yield pid
        stat = process_stat(pid)
        pid = 0 if stat is None else stat.parent


def _processes() -> Iterator[int]:
    return (int(entry.name) for entry in os.scandir("/proc") if entry.name.isdigit())


def _holds(pid: int, inode: str) -> bool:
    folder, socket_of = f"/proc/{pid}/fd", f"socket:[{inode}]"
    with suppress(OSError):  # It is gone, or of another user.
        for name in os.listdir(folder):
            with suppress(OSError):
                if os.readlink(f"{folder}/{name}") == socket_of:
                    return True
    return False


def peer_of(
    stream: socket.socket, user: int, connections: Sequence[Path] = _CONNECTIONS, kin: Kin | None = None
) -> Peer:
    """The process that holds the other end of a connection.

    Args:
        stream: an accepted connection over IPv4.
        user: that this process runs as.
        connections: the lists of the kernel.
        kin: which processes of this user are ours; None: all.
    """
    try:
        ends = _name(stream.getpeername()), _name(stream.getsockname())
    except OSError:
        return Peer.GONE
    lists = [path for path in connections if path.exists()]  # Without IPv6 there is no second one.
    try:
        lines = [line for path in lists for line in path.read_text(encoding="ascii").splitlines()[1:]]
    except OSError:
        lists = []
    if not lists:
        return Peer.UNKNOWN
    for line in lines:
        columns = line.split()
        if (columns[_LOCAL].removeprefix(_MAPPED), columns[_REMOTE].removeprefix(_MAPPED)) == ends:
            if columns[_INODE] == "0":
                return Peer.GONE
            ours = int(columns[_USER]) == user and (kin is None or kin.holds(columns[_INODE]))
            return Peer.OWN if ours else Peer.FOREIGN
    return Peer.GONE if ends[0].partition(":")[0] == ends[1].partition(":")[0] else Peer.UNKNOWN


def _name(address: tuple[str, int]) -> str:
    """An address as that list names it: the host as a number of this machine's own byte order."""
    (host,) = struct.unpack("=I", socket.inet_aton(address[0]))
    return f"{host:08X}:{address[1]:04X}"


TOKEN_BYTES = 32
TOKEN_LIMIT_S = 30.0
"""How long one may take to say it. A link that a fault has cut for a while may hold it back."""
MOST_WAITING = 64
"""So many may be about to say it; the one that has waited longest goes when another comes."""
_ACCEPTED_A_TURN = 16


def make_token() -> bytes:
    return secrets.token_bytes(TOKEN_BYTES)


def ignore_refusal() -> None:
    """Do nothing on a refused connection."""


class Acceptor:
    """Accepts connections, and hands over those that are of the run.

    Args:
        loop: of the process.
        listener: where they come; the caller closes it.
        token: that each must begin with; empty: clients cannot send one here.
        on_stream: takes each connection that is admitted; what follows the token is still to be read.
        on_refused: called once for each that is not.
        limit_s: how long one may take to send the token.
        guarded: where there is none, processes outside the run are refused; if not, every connection is admitted.

    Attributes:
        refused: how many were not admitted.
    """

    def __init__(
        self,
        loop: Loop,
        listener: socket.socket,
        token: bytes,
        on_stream: Callable[[socket.socket], None],
        on_refused: Callable[[], None] = ignore_refusal,
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
        """Accept no more, and refuse those that have not sent the token. Idempotent."""
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
        self._hear(stream)  # One of ours has sent it by now.
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
            # Only a whole token is compared: else the time would show how much of a guess is right.
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
    """A connection that has not sent the whole token."""

    __slots__ = ("said", "timer")

    def __init__(self, timer: Timer) -> None:
        self.said = b""
        self.timer = timer
