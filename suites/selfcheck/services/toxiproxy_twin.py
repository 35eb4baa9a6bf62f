"""What Toxiproxy says of its links and their toxics, without a link."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

LINK = "object-store"
"""The only one that there is."""
Toxic = dict[str, Any]


class ToxiproxyTwin:
    """
    Attributes:
        toxics: of the link, by name.
        destroyed: names of those that are gone, in order.
        refuses: the type of toxics that it does not take.
    """

    def __init__(self) -> None:
        self.toxics: dict[str, Toxic] = {}
        self.destroyed: list[str] = []
        self.refuses = ""

    def answer(self, method: str, path: list[str], body: Toxic) -> tuple[int, object]:
        """Status and body."""
        if path == ["proxies"]:
            return 200, {LINK: {"name": LINK, "listen": "", "upstream": "", "enabled": True}}
        if method == "GET":
            return 200, list(self.toxics.values())
        if method == "POST" and (body["type"] == self.refuses or body["name"] in self.toxics):
            return 400, {"error": "toxic refused"}
        if method == "POST":
            self.toxics[body["name"]] = body
            return 200, body
        if self.toxics.pop(path[-1], None) is None:
            return 404, {"error": "toxic not found"}
        self.destroyed.append(path[-1])
        return 204, None

    @contextmanager
    def serving(self) -> Iterator[int]:
        """The port where it answers."""
        twin = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length) or "{}")
                status, content = twin.answer(self.command, self.path.strip("/").split("/"), body)
                written = b"" if content is None else json.dumps(content).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(written)))
                self.end_headers()
                self.wfile.write(written)

            do_POST = do_DELETE = do_GET  # noqa: N815 - the library's names

            def log_message(self, *_: object) -> None:
                """Says nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()
            server.server_close()
