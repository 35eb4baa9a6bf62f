"""Faults of one link of a Toxiproxy that act at a time: each is undone on its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from holdfast.fixtures.services.toxiproxy import Toxiproxy
from holdfast.harness.adapter.links import Links
from holdfast.harness.spi.controls.network import BACKWARD, BOTH, FORWARD, Detail

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


Fault = tuple[str, Detail]
PAIRS: tuple[tuple[Fault, Fault], ...] = (
    (("slow", 50), ("slow", 700)),
    (("limit", 1), ("limit", 9)),
    (("cut", FORWARD), ("cut", BACKWARD)),
    (("cut", BOTH), ("cut", FORWARD)),
    (("cut", BOTH), ("slow", 50)),
    (("limit", 9), ("cut", BOTH)),
    (("black-hole", ""), ("cut", BOTH)),
)


@pytest.fixture
def twin() -> ToxiproxyTwin:
    return ToxiproxyTwin()


@pytest.fixture
def links(twin: ToxiproxyTwin) -> Iterator[Links]:
    with twin.serving() as port:
        yield Links(Toxiproxy(port))


def impair(links: Links, *faults: Fault) -> None:
    for kind, detail in faults:
        links.act(LINK, kind, detail)


def attributes(twin: ToxiproxyTwin) -> dict[str, dict[str, int]]:
    return {name: toxic["attributes"] for name, toxic in twin.toxics.items()}


@pytest.mark.parametrize(("first", "second"), [*PAIRS, *((second, first) for first, second in PAIRS)])
def test_one_is_undone_and_the_other_goes_on(links: Links, twin: ToxiproxyTwin, first: Fault, second: Fault) -> None:
    impair(links, second)
    alone = attributes(twin)
    links.restore(LINK, *second)
    impair(links, first, second)
    links.restore(LINK, *first)
    assert attributes(twin) == alone
    assert links.whole(LINK, *first)
    assert not links.whole(LINK, *second)
    assert not links.whole(LINK)
    links.restore(LINK, *second)
    assert links.whole(LINK, *second)
    assert links.whole(LINK)


def test_the_newest_of_two_delays_counts(links: Links, twin: ToxiproxyTwin) -> None:
    impair(links, ("slow", 700), ("slow", 50))
    assert attributes(twin) == {"slow-upstream": {"latency": 50}, "slow-downstream": {"latency": 50}}


def test_a_cut_lets_nothing_through_while_another_is_healed(links: Links, twin: ToxiproxyTwin) -> None:
    """A toxic that is replaced would let through what it has held back."""
    impair(links, ("cut", BOTH), ("cut", FORWARD))
    links.restore(LINK, "cut", BOTH)
    assert twin.destroyed == ["cut-downstream"]


def test_what_toxiproxy_does_not_take_does_not_act(links: Links, twin: ToxiproxyTwin) -> None:
    twin.refuses = "latency"
    with pytest.raises(OSError, match="Toxiproxy refuses a request: InvalidToxic"):
        impair(links, ("slow", 50))
    twin.refuses = ""
    impair(links, ("cut", FORWARD))
    assert links.whole(LINK, "slow", 50)
    assert attributes(twin) == {"cut-upstream": {"rate": 0}}


def test_what_somebody_else_left_is_undone(links: Links, twin: ToxiproxyTwin) -> None:
    impair(links, ("slow", 50), ("cut", BOTH))
    with twin.serving() as port:
        another = Links(Toxiproxy(port))
        assert not another.whole(LINK, "slow", 50)
        another.restore(LINK, "slow", 50)
        assert another.whole(LINK, "slow", 50)
        assert not another.whole(LINK)
        another.restore(LINK)
        assert another.whole(LINK)


def test_an_unknown_kind_is_refused(links: Links) -> None:
    with pytest.raises(ValueError, match="kind 'tickle' of a link's fault is unknown; allowed are cut, slow, limit"):
        links.restore(LINK, "tickle", "")


def test_an_unknown_link_is_refused(links: Links) -> None:
    with pytest.raises(ValueError, match="link 'own' is unknown; known are object-store"):
        links.restore("own")
