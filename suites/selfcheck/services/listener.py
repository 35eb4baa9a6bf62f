"""A small server that gives back whatever it is told, as a program and as a thread; and a client that is not ours."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from holdfast.harness.label import NAME

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


_STRANGER = """
import os, socket, sys
ours = os.getpid()
if os.fork():
    os._exit(0)
while os.getppid() == ours:
    pass
with socket.create_connection((sys.argv[1], int(sys.argv[2]))) as stream:
    stream.sendall(b"GET / HTTP/1.1\\r\\n\\r\\n")
    try:
        answer = stream.recv(1)
    except OSError:
        answer = b""
    print("answered" if answer else "refused", flush=True)
"""


def as_stranger(host: str, port: int) -> str:
    """What becomes of a connection of a process whose parent is gone, so that nobody can say whose it is."""
    surroundings = {name: value for name, value in os.environ.items() if name != NAME}
    command = [sys.executable, "-I", "-c", _STRANGER, host, str(port)]
    return subprocess.run(command, env=surroundings, stdout=subprocess.PIPE, check=True, text=True).stdout.strip()


def becomes(true: Callable[[], bool], limit_s: float = 10.0) -> bool:
    """Whether something is true by now, or soon."""
    deadline_s = time.monotonic() + limit_s
    while not (now := true()) and time.monotonic() < deadline_s:
        time.sleep(0.02)
    return now


def silent(stream: socket.socket, for_s: float) -> bool:
    """Whether nothing comes for a while. What comes can still be read."""
    before_s = stream.gettimeout()
    stream.settimeout(for_s)
    try:
        stream.recv(1, socket.MSG_PEEK)
    except TimeoutError:
        return True
    finally:
        stream.settimeout(before_s)
    return False


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
