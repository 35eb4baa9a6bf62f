"""Who is at the other end of a connection of this machine, as far as the kernel tells."""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence
from enum import Enum
from pathlib import Path

_CONNECTIONS = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_MAPPED = "0000000000000000FFFF0000"
"""In the second list, in front of a host of IPv4: the sockets of a Java process stand there."""
_LOCAL, _REMOTE, _USER, _INODE = 1, 2, 7, 9
"""Columns of a line."""


class Peer(Enum):
    """The other end of a connection."""

    OWN = "own"
    """A process of this user holds it."""
    FOREIGN = "foreign"
    """A process of another user of this machine holds it."""
    GONE = "gone"
    """It was on this machine, and nobody holds it any more."""
    UNKNOWN = "unknown"
    """It is on another machine, or in a container."""


def peer_of(stream: socket.socket, user: int, connections: Sequence[Path] = _CONNECTIONS) -> Peer:
    """Who holds the other end.

    Args:
        stream: an accepted connection over IPv4.
        user: that this process runs as.
        connections: the lists of the kernel.
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
            return Peer.OWN if int(columns[_USER]) == user else Peer.FOREIGN
    return Peer.GONE if ends[0].partition(":")[0] == ends[1].partition(":")[0] else Peer.UNKNOWN


def _name(address: tuple[str, int]) -> str:
    """An address as that list names it: the host as a number of this machine's own byte order."""
    (host,) = struct.unpack("=I", socket.inet_aton(address[0]))
    return f"{host:08X}:{address[1]:04X}"
