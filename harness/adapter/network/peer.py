"""Who is at the other end of a connection of this machine, as far as the kernel tells."""

from __future__ import annotations

import socket
import struct
from enum import Enum
from pathlib import Path

_CONNECTIONS = Path("/proc/net/tcp")
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


def peer_of(stream: socket.socket, user: int, connections: Path = _CONNECTIONS) -> Peer:
    """Who holds the other end.

    Args:
        stream: an accepted connection over IPv4.
        user: that this process runs as.
        connections: as the kernel lists them.
    """
    try:
        ends = _name(stream.getpeername()), _name(stream.getsockname())
    except OSError:
        return Peer.GONE
    try:
        lines = connections.read_text(encoding="ascii").splitlines()
    except OSError:
        return Peer.UNKNOWN
    for line in lines[1:]:
        columns = line.split()
        if (columns[_LOCAL], columns[_REMOTE]) == ends:
            if columns[_INODE] == "0":
                return Peer.GONE
            return Peer.OWN if int(columns[_USER]) == user else Peer.FOREIGN
    return Peer.GONE if ends[0].partition(":")[0] == ends[1].partition(":")[0] else Peer.UNKNOWN


def _name(address: tuple[str, int]) -> str:
    """An address as that list names it: the host as a number of this machine's own byte order."""
    (host,) = struct.unpack("=I", socket.inet_aton(address[0]))
    return f"{host:08X}:{address[1]:04X}"
