"""What stands between a storage and its object store: requests are passed on, refused, cut, or answered to nobody."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from http.client import HTTPConnection, HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from urllib.parse import urlsplit

_BUSY = b"<Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>"


class WireFault(StrEnum):
    """What becomes of one request."""

    REFUSED = "refused"
    """The store says that it is busy; nothing happened."""
    CUT = "cut"
    """The connection ends; nothing happened."""
    LOST_ANSWER = "lost-answer"
    """It takes effect, and the connection ends before the answer."""


class Relay:
    """Listens on the loopback address.

    Attributes:
        url: of it.
        requests: that came since `arm`.
        struck: whether the fault acted.
    """

    def __init__(self, upstream: str) -> None:
        self._upstream = urlsplit(upstream)
        self._lock = Lock()
        self._fault: tuple[int, WireFault] | None = None
        self.requests = 0
        self.struck = False
        self._server = _Server(("127.0.0.1", 0), self)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    def arm(self, number: int, fault: WireFault) -> None:
        """The request of that number, from now on counted from 0, meets a fault."""
        with self._lock:
            self._fault, self.requests, self.struck = (number, fault), 0, False

    def disarm(self) -> None:
        """All requests are passed on."""
        with self._lock:
            self._fault = None

    def take(self) -> WireFault | None:
        """What becomes of the next request."""
        with self._lock:
            number, self.requests = self.requests, self.requests + 1
            if self._fault is not None and self._fault[0] == number:
                self.struck = True
                return self._fault[1]
            return None

    def forward(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, list[tuple[str, str]], bytes]:
        """What the store answers."""
        host, port = self._upstream.hostname or "", self._upstream.port
        connection: HTTPConnection
        if self._upstream.scheme == "https":
            connection = HTTPSConnection(host, port, timeout=60)
        else:
            connection = HTTPConnection(host, port, timeout=60)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in headers.items():
                if name.lower() != "expect":
                    connection.putheader(name, value)
            connection.endheaders(body or None)
            answer = connection.getresponse()
            return answer.status, answer.getheaders(), answer.read()
        finally:
            connection.close()

    def close(self) -> None:
        """End it."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], relay: Relay) -> None:
        super().__init__(address, _Handler)
        self.relay = relay

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that has gone is none of our business."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def _pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        relay = self.server.relay
        fault = relay.take()
        if fault is WireFault.CUT:
            self.close_connection = True
            return
        if fault is WireFault.REFUSED:
            self._answer(503, [], _BUSY)
            return
        status, headers, content = relay.forward(self.command, self.path, dict(self.headers.items()), body)
        if fault is WireFault.LOST_ANSWER:
            self.close_connection = True
            return
        self._answer(status, headers, content)

    def _answer(self, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
        self.send_response_only(status)
        kept = {name.lower(): value for name, value in headers}
        length = kept.get("content-length", str(len(content))) if self.command == "HEAD" else str(len(content))
        for name, value in headers:
            if name.lower() not in ("transfer-encoding", "content-length", "connection"):
                self.send_header(name, value)
        self.send_header("Content-Length", length)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _pass_on  # noqa: N815 - named by the library

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - named by the library
        """Nothing is written anywhere."""
