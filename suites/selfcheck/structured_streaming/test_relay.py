"""The relay in front of the object store: everything passes but the request that is meant, until it is told what to do
with it."""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from holdfast.fixtures.systems.structured_streaming import gates
from holdfast.harness.adapter.child import Child, wait_for

HOST = "127.0.0.1"
LIMIT_S = 30.0


class _Store(BaseHTTPRequestHandler):
    """Keeps the paths of what was put."""

    protocol_version = "HTTP/1.1"
    paths: list[str] = []

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.paths.append(self.path)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def store() -> Iterator[ThreadingHTTPServer]:
    _Store.paths = []
    server = ThreadingHTTPServer((HOST, 0), _Store)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


class Relayed:
    """A relay in front of a store."""

    def __init__(self, port: int, folder: Path) -> None:
        command = [sys.executable, "-I", str(gates._SCRIPT), HOST, HOST, str(port)]
        self.child = Child(command, folder, folder / "relay.log")
        self.port = self.told()["port"]

    def told(self) -> dict[str, int]:
        """The next thing it says."""
        while True:
            for line in self.child.lines():
                return dict(json.loads(line))
            wait_for([self.child], LIMIT_S)
            assert not self.child.dead, self.child.last_words()

    def order(self, **order: str | int) -> None:
        self.child.send(json.dumps(order).encode())

    def put(self, path: str) -> HTTPConnection:
        """A request on a connection of its own; its answer is not waited for."""
        connection = HTTPConnection(HOST, self.port, timeout=LIMIT_S)
        try:
            connection.request("PUT", path, body=b"content")
        except OSError:  # The relay may break it before the body is sent.
            connection.close()
            raise
        return connection


@pytest.fixture
def relay(store: ThreadingHTTPServer, tmp_path: Path) -> Iterator[Relayed]:
    relayed = Relayed(store.server_port, tmp_path)
    yield relayed
    relayed.child.close()


def answered(connection: HTTPConnection) -> int:
    status = connection.getresponse().status
    connection.close()
    return status


def test_everything_passes_that_nobody_holds(relay: Relayed) -> None:
    assert answered(relay.put("/a/offsets/0")) == 200
    assert _Store.paths == ["/a/offsets/0"]


def test_the_occurrence_that_is_meant_is_held_and_released(relay: Relayed) -> None:
    relay.order(hold="PUT /a/commits/", occurrence=2)
    assert answered(relay.put("/a/commits/0")) == 200
    held = relay.put("/a/commits/1")
    assert relay.told() == {"held": 0}
    assert answered(relay.put("/a/offsets/2")) == 200
    assert _Store.paths == ["/a/commits/0", "/a/offsets/2"]
    relay.order(release=0)
    assert answered(held) == 200
    assert answered(relay.put("/a/commits/2")) == 200
    assert _Store.paths[2:] == ["/a/commits/1", "/a/commits/2"]


def test_what_is_dropped_never_reaches_the_store(relay: Relayed) -> None:
    relay.order(hold="PUT /a/commits/", occurrence=1)
    held = relay.put("/a/commits/0")
    assert relay.told() == {"held": 0}
    relay.order(drop=0)
    with pytest.raises(OSError):
        held.getresponse()
    held.close()
    assert answered(relay.put("/a/commits/1")) == 200
    assert _Store.paths == ["/a/commits/1"]


def test_a_hold_that_is_dropped_before_it_holds_awaits_the_next_client(relay: Relayed) -> None:
    """A driver program died, and the gate of a later fault was not reached yet."""
    relay.order(hold="PUT /a/commits/", occurrence=1)
    relay.order(drop=0)
    held = relay.put("/a/commits/0")
    assert relay.told() == {"held": 0}
    relay.order(drop=0)
    with pytest.raises(OSError):
        held.getresponse()
    held.close()
    assert answered(relay.put("/a/commits/1")) == 200


def test_a_hold_that_is_released_before_it_holds_is_forgotten(relay: Relayed) -> None:
    relay.order(hold="PUT /a/commits/", occurrence=1)
    relay.order(release=0)
    assert answered(relay.put("/a/commits/0")) == 200


def test_connections_are_broken_where_there_is_no_store(tmp_path: Path) -> None:
    with socket.socket() as silent:  # Bound and not listening: who connects is refused.
        silent.bind((HOST, 0))
        relayed = Relayed(silent.getsockname()[1], tmp_path)
        with pytest.raises(OSError):
            answered(relayed.put("/a/offsets/0"))
        relayed.child.close()
