"""Links through our relay: each fault does to a connection what it says, and its undo ends it."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.harness.adapter.engine import _declared
from holdfast.harness.adapter.links import BLACK_HOLE, CUT, LIMIT, SLOW, Links, LinksOfTargets
from holdfast.harness.adapter.relay_process import RelayProcess
from holdfast.harness.model.target import STORAGE, Role, Target
from holdfast.harness.spi.controls.network import BACKWARD, BOTH, FORWARD
from holdfast.suites.selfcheck.services.listener import answers, as_stranger, becomes, listening, silent

pytestmark = pytest.mark.tier("process")
LINK, OTHER = "kafka", "object-store"
LIMIT_S = 10.0


@pytest.fixture(scope="module")
def relay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RelayProcess]:
    with ExitStack() as held:
        service = f"127.0.0.1:{held.enter_context(listening())}"
        folder = tmp_path_factory.mktemp("relay")
        relay = RelayProcess({LINK: service, OTHER: service}, folder, folder / "log")
        held.callback(relay.kill)
        yield relay


@pytest.fixture
def links(relay: RelayProcess) -> Iterator[Links]:
    links = Links(relay)
    yield links
    links.restore(LINK)


@pytest.fixture
def stream(relay: RelayProcess, links: Links) -> Iterator[socket.socket]:
    with connected(relay, LINK) as stream:
        yield stream


def connected(relay: RelayProcess, link: str) -> socket.socket:
    return socket.create_connection(relay.listening[link], LIMIT_S)


def echo_s(stream: socket.socket, data: bytes = b"ping") -> float:
    """Seconds until all of it came back."""
    start_s = time.monotonic()
    stream.sendall(data)
    taken = b""
    while len(taken) < len(data):
        chunk = stream.recv(65536)
        assert chunk, "the connection was closed"
        taken += chunk
    assert taken == data
    return time.monotonic() - start_s


def quick(stream: socket.socket, data: bytes, limit_s: float) -> bool:
    """Whether it comes back so soon. An impaired link delays every echo; a busy machine does not delay all for long."""
    return becomes(lambda: echo_s(stream, data) < limit_s)


@pytest.mark.parametrize(
    "direction", [BOTH, *(pytest.param(each, marks=pytest.mark.nightly) for each in (FORWARD, BACKWARD))]
)
def test_a_cut_holds_everything_back_until_it_is_undone(
    relay: RelayProcess, links: Links, stream: socket.socket, direction: str
) -> None:
    echo_s(stream)
    links.act(LINK, CUT, direction)
    assert not links.whole(LINK, CUT, direction)
    assert not links.whole(LINK)
    assert links.whole(OTHER)
    stream.sendall(b"held")
    assert silent(stream, 0.3)
    assert answers(relay.listening[OTHER].port)
    links.restore(LINK, CUT, direction)
    assert stream.recv(4) == b"held"
    assert links.whole(LINK, CUT, direction)
    assert links.whole(LINK)


def test_each_fault_of_a_kind_is_undone_on_its_own(links: Links, stream: socket.socket) -> None:
    links.act(LINK, CUT, FORWARD)
    links.act(LINK, CUT, BACKWARD)
    links.restore(LINK, CUT, FORWARD)
    stream.sendall(b"held")
    assert silent(stream, 0.2)
    assert (links.whole(LINK, CUT, FORWARD), links.whole(LINK, CUT, BACKWARD)) == (True, False)
    links.restore(LINK, CUT, BACKWARD)
    assert stream.recv(4) == b"held"


@pytest.mark.nightly
def test_of_two_delays_the_one_that_is_undone_ends(links: Links, stream: socket.socket) -> None:
    links.act(LINK, SLOW, 300)
    links.act(LINK, SLOW, 100)
    links.restore(LINK, SLOW, 300)
    assert echo_s(stream) >= 0.2
    links.restore(LINK, SLOW, 100)
    assert links.whole(LINK, SLOW, 100)


def test_a_slow_link_delays_each_way(links: Links, stream: socket.socket) -> None:
    assert quick(stream, b"ping", 0.3)
    links.act(LINK, SLOW, 150)
    assert echo_s(stream) >= 0.3
    links.restore(LINK, SLOW, "150")
    assert links.whole(LINK)
    assert quick(stream, b"ping", 0.3)


def test_a_limit_is_kept_each_way_and_nothing_is_lost(links: Links, stream: socket.socket) -> None:
    data = bytes(range(256)) * 160
    links.act(LINK, LIMIT, 100)
    assert echo_s(stream, data) >= 0.9 * len(data) / 100_000
    links.restore(LINK, LIMIT, "100")
    assert quick(stream, data, 0.9 * len(data) / 100_000)


def test_a_black_hole_swallows_and_its_undo_closes(relay: RelayProcess, links: Links, stream: socket.socket) -> None:
    links.act(LINK, BLACK_HOLE)
    stream.sendall(b"lost")
    assert silent(stream, 0.2)
    links.restore(LINK, BLACK_HOLE, "")
    with pytest.raises(ConnectionResetError):
        stream.recv(4)
    assert answers(relay.listening[LINK].port)


def test_a_reset_breaks_connections_and_lets_new_ones_through(
    relay: RelayProcess, links: Links, stream: socket.socket
) -> None:
    echo_s(stream)
    links.reset(LINK)
    with pytest.raises(ConnectionResetError):
        stream.recv(4)
    assert answers(relay.listening[LINK].port)


def test_a_link_leads_elsewhere_and_back(relay: RelayProcess, links: Links, stream: socket.socket) -> None:
    echo_s(stream)
    with listening(b"other") as port:
        links.lead(LINK, f"127.0.0.1:{port}")
        with pytest.raises(ConnectionResetError):
            stream.recv(4)
        with connected(relay, LINK) as elsewhere:
            assert elsewhere.recv(5) == b"other"
    links.lead(LINK)
    assert answers(relay.listening[LINK].port)


def test_what_is_unknown_is_refused(links: Links) -> None:
    with pytest.raises(ValueError, match="link 'spark' is unknown; known are kafka, object-store"):
        links.act("spark", CUT)
    with pytest.raises(ValueError, match="direction 'sideways' is unknown; allowed are forward, backward, both"):
        links.act(LINK, CUT, "sideways")
    with pytest.raises(ValueError, match="kind 'tickle' of a link's fault is unknown; allowed are cut, slow, limit"):
        links.act(LINK, "tickle")
    assert links.whole(LINK)


def test_a_link_that_an_engine_has_not_declared_is_named() -> None:
    nothing: Any = None
    links = LinksOfTargets(_declared(nothing, {STORAGE: "", Target(Role.BROKER): ""}))
    with pytest.raises(ValueError, match=r"link sink-system\[0\] is unknown; known are storage\[0\], broker\[0\]"):
        links.cut(Target(Role.SINK_SYSTEM))


def test_a_service_without_a_port_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"'localhost': write host:port"):
        RelayProcess({LINK: "localhost"}, tmp_path, tmp_path / "log")


def test_a_relay_that_is_gone_is_told(tmp_path: Path) -> None:
    with listening() as port:
        relay = RelayProcess({LINK: f"127.0.0.1:{port}"}, tmp_path, tmp_path / "log")
        links = Links(relay)
        assert links.whole(LINK)
        relay.kill()
        assert not links.whole(LINK)
        with pytest.raises(OSError, match="the relay of the links ended"):
            links.act(LINK, CUT)
        assert relay.refused() == {}


def test_who_is_not_of_the_run_is_refused_and_counted(relay: RelayProcess, stream: socket.socket) -> None:
    assert [as_stranger(*relay.listening[LINK]) for _ in range(2)] == ["refused", "refused"]
    echo_s(stream)
    with closing(connected(relay, OTHER)) as other:
        echo_s(other)
    assert relay.refused() == {LINK: 2}
