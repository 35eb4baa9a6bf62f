"""A small server that answers whatever it is told with the same, as a program and as a thread."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

PROGRAM = """
import os, socket, sys
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("listening, with", os.environ.get("SECRET", "nothing"), flush=True)
while True:
    stream, _ = listener.accept()
    with stream:
        while data := stream.recv(65536):
            stream.sendall(data)
"""


def becomes(true: Callable[[], bool], limit_s: float = 10.0) -> bool:
    """Whether something is true by now, or soon."""
    deadline_s = time.monotonic() + limit_s
    while not (now := true()) and time.monotonic() < deadline_s:
        time.sleep(0.02)
    return now


def answers(port: int, limit_s: float = 1.0) -> bool:
    """Whether somebody there gives back what he is told."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), limit_s) as stream:
        stream.settimeout(limit_s)
        stream.sendall(b"ping")
        return stream.recv(4) == b"ping"
    return False


@contextmanager
def listening(prefix: bytes = b"") -> Iterator[int]:
    """The port of a server that lives as long as the context; it says `prefix` first."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_serve, args=(listener, prefix), daemon=True).start()
        yield int(listener.getsockname()[1])
        listener.shutdown(socket.SHUT_RDWR)  # Ends the accept that is under way.


def _serve(listener: socket.socket, prefix: bytes) -> None:
    with suppress(OSError):
        while True:
            stream, _ = listener.accept()
            threading.Thread(target=_echo, args=(stream, prefix), daemon=True).start()


def _echo(stream: socket.socket, prefix: bytes) -> None:
    with stream, suppress(OSError):
        stream.sendall(prefix)
        while data := stream.recv(65536):
            stream.sendall(data)
