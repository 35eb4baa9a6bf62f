"""Links through our relay: each fault does to a connection what it says, and its undo ends it."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest

from holdfast.fixtures.services.impairment import BLACK_HOLE, CUT, LIMIT, SLOW
from holdfast.fixtures.services.processes.own_process import Session
from holdfast.fixtures.services.processes.relayed_links import RelayedLinks
from holdfast.harness.adapter.network.sockets import Address
from holdfast.harness.spi.controls.link import BACKWARD, FORWARD
from holdfast.suites.selfcheck.services.listener import answers, as_stranger, becomes, listening

pytestmark = pytest.mark.tier("process")
LINK, OTHER = "kafka", "object-store"


@pytest.fixture(scope="module")
def links() -> Iterator[RelayedLinks]:
    with ExitStack() as held:
        session = held.enter_context(closing(Session()))
        port = held.enter_context(listening())
        yield RelayedLinks(session, {name: Address("127.0.0.1", port) for name in (LINK, OTHER)})


@pytest.fixture
def stream(links: RelayedLinks) -> Iterator[socket.socket]:
    with socket.create_connection(links.addresses[LINK], 5.0) as connected:
        yield connected
    links.restore(LINK)


def echo(stream: socket.socket, data: bytes) -> float:
    """Seconds until all of it came back."""
    start = time.monotonic()
    stream.sendall(data)
    taken = b""
    while len(taken) < len(data):
        chunk = stream.recv(65536)
        assert chunk, "the connection was closed"
        taken += chunk
    assert taken == data
    return time.monotonic() - start


def quick(stream: socket.socket, data: bytes, limit_s: float) -> bool:
    """Whether it comes back so soon. An impaired link delays every echo; a busy machine does not delay all for long."""
    return becomes(lambda: echo(stream, data) < limit_s)


def silent(stream: socket.socket, limit_s: float) -> bool:
    """Whether nothing comes for a while."""
    stream.settimeout(limit_s)
    try:
        return not stream.recv(1) and False
    except TimeoutError:
        return True
    finally:
        stream.settimeout(5.0)


@pytest.mark.parametrize("direction", ["both", FORWARD, BACKWARD])
def test_a_cut_holds_everything_back_until_it_is_undone(
    links: RelayedLinks, stream: socket.socket, direction: str
) -> None:
    echo(stream, b"before")
    links.cut(LINK, direction)
    assert not links.whole(LINK, CUT, direction)
    assert not links.whole(LINK)
    assert links.whole(OTHER)
    stream.sendall(b"held")
    assert silent(stream, 0.3)
    assert answers(links.addresses[OTHER].port)
    links.restore(LINK, CUT, direction)
    assert stream.recv(4) == b"held"
    assert links.whole(LINK)


def test_each_fault_of_a_kind_is_undone_on_its_own(links: RelayedLinks, stream: socket.socket) -> None:
    links.cut(LINK, FORWARD)
    links.cut(LINK, BACKWARD)
    links.restore(LINK, CUT, FORWARD)
    stream.sendall(b"held")
    assert silent(stream, 0.2)
    assert (links.whole(LINK, CUT, FORWARD), links.whole(LINK, CUT, BACKWARD)) == (True, False)
    links.restore(LINK, CUT, BACKWARD)
    assert stream.recv(4) == b"held"


def test_a_slow_link_delays_each_way(links: RelayedLinks, stream: socket.socket) -> None:
    assert quick(stream, b"ping", 0.3)
    links.slow(LINK, 150)
    assert echo(stream, b"ping") >= 0.3
    links.restore(LINK, SLOW, "150")
    assert links.whole(LINK)
    assert quick(stream, b"ping", 0.3)


def test_a_limit_is_kept_each_way_and_nothing_is_lost(links: RelayedLinks, stream: socket.socket) -> None:
    data = bytes(range(256)) * 160
    links.limit(LINK, 100)
    assert echo(stream, data) >= 0.9 * len(data) / 100_000
    links.restore(LINK, LIMIT, "100")
    assert quick(stream, data, 0.9 * len(data) / 100_000)


def test_a_black_hole_swallows_and_its_undo_closes(links: RelayedLinks, stream: socket.socket) -> None:
    links.black_hole(LINK)
    stream.sendall(b"lost")
    assert silent(stream, 0.2)
    links.restore(LINK, BLACK_HOLE)
    with pytest.raises(ConnectionResetError):
        stream.recv(4)
    assert answers(links.addresses[LINK].port)


def test_a_reset_closes_what_there_is_and_lets_new_ones_through(links: RelayedLinks, stream: socket.socket) -> None:
    echo(stream, b"ping")
    links.reset(LINK)
    with pytest.raises(ConnectionResetError):
        stream.recv(4)
    assert answers(links.addresses[LINK].port)


def test_a_link_leads_elsewhere_and_back(links: RelayedLinks, stream: socket.socket) -> None:
    echo(stream, b"ping")
    with listening(b"other") as port:
        links.retarget(LINK, f"127.0.0.1:{port}")
        with pytest.raises(ConnectionResetError):
            stream.recv(4)
        with socket.create_connection(links.addresses[LINK], 5.0) as elsewhere:
            assert elsewhere.recv(5) == b"other"
    links.retarget(LINK)
    assert answers(links.addresses[LINK].port)


def test_what_is_unknown_is_refused(links: RelayedLinks) -> None:
    with pytest.raises(ValueError, match="link 'spark' is unknown; known are kafka, object-store"):
        links.cut("spark")
    with pytest.raises(ValueError, match="sideways"):
        links.cut(LINK, "sideways")
    assert links.whole(LINK)


def test_a_relay_that_is_gone_is_told(links: RelayedLinks) -> None:
    with closing(Session()) as session, listening() as port:
        own = RelayedLinks(session, {LINK: Address("127.0.0.1", port)})
        assert own.whole(LINK)
        own.kill()
        assert not own.whole(LINK)
        with pytest.raises(OSError, match="the relay"):
            own.cut(LINK)
        assert links.whole(LINK)


def test_who_is_not_of_the_run_is_refused_and_counted(links: RelayedLinks, stream: socket.socket) -> None:
    before = links.refused()
    assert as_stranger(*links.addresses[LINK]) == "refused"
    echo(stream, b"ping")
    assert answers(links.addresses[LINK].port)
    assert dict(links.refused() - before) == {LINK: 1}
    links.reset(LINK)
