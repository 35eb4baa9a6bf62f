"""Who is at the other end of a connection of this machine, as far as the kernel tells."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from enum import Enum
from pathlib import Path

from holdfast.harness.adapter.process_stat import process_stat
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
    """A process of ours holds it, or one of this user of which the kernel tells no more."""
    FOREIGN = "foreign"
    """A process of another user of this machine holds it, or one that is not of the run."""
    GONE = "gone"
    """It was on this machine, and nobody holds it any more."""
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
        """Whether one of ours holds a socket. Who opens many is looked at first.

        Args:
            inode: of the socket.

        Returns:
            True also where nobody can be seen to hold it.
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
    """Who holds the other end.

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
