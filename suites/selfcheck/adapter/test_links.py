"""Links of an engine: each fault does to a connection what it says, and its undo ends it."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from holdfast.harness.adapter.links import Links
from holdfast.harness.model.target import STORAGE, Role, Target
from holdfast.harness.spi.controls.link import BACKWARD, BOTH, FORWARD
from holdfast.suites.selfcheck.services.listener import as_stranger, listening

pytestmark = pytest.mark.tier("process")
BROKER = Target(Role.BROKER)
LIMIT_S = 10.0


@pytest.fixture
def links(tmp_path: Path) -> Iterator[Links]:
    with ExitStack() as held:
        port = held.enter_context(listening())
        service = f"127.0.0.1:{port}"
        yield held.enter_context(closing(Links({STORAGE: service, BROKER: service}, tmp_path, tmp_path / "log")))


@pytest.fixture
def stream(links: Links) -> Iterator[socket.socket]:
    with connected(links, STORAGE) as stream:
        yield stream


def connected(links: Links, link: Target) -> socket.socket:
    host, _, port = links.address(link).rpartition(":")
    return socket.create_connection((host, int(port)), LIMIT_S)


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


def silent(stream: socket.socket, limit_s: float = 0.3) -> bool:
    stream.settimeout(limit_s)
    try:
        stream.recv(1)
    except TimeoutError:
        return True
    else:
        return False
    finally:
        stream.settimeout(LIMIT_S)


@pytest.mark.parametrize(
    "direction", [BOTH, *(pytest.param(each, marks=pytest.mark.nightly) for each in (FORWARD, BACKWARD))]
)
def test_a_cut_holds_everything_back_until_it_is_undone(links: Links, stream: socket.socket, direction: str) -> None:
    echo_s(stream)
    links.cut(STORAGE, direction)
    assert not links.whole(STORAGE, "cut", direction)
    stream.sendall(b"held")
    assert silent(stream)
    with connected(links, BROKER) as other:
        echo_s(other)
    links.restore(STORAGE, "cut", direction)
    assert stream.recv(4) == b"held"
    assert links.whole(STORAGE, "cut", direction)


@pytest.mark.nightly
def test_each_fault_of_a_link_is_undone_on_its_own(links: Links, stream: socket.socket) -> None:
    links.slow(STORAGE, 300)
    links.slow(STORAGE, 100)
    links.restore(STORAGE, "slow", 300)
    assert echo_s(stream) >= 0.2
    links.restore(STORAGE, "slow", 100)
    assert links.whole(STORAGE, "slow", 100)


@pytest.mark.nightly
def test_a_limit_narrows_a_link(links: Links, stream: socket.socket) -> None:
    links.limit(STORAGE, 100)
    assert echo_s(stream, bytes(50_000)) >= 0.3


def test_a_reset_breaks_connections_and_lets_new_ones_through(links: Links, stream: socket.socket) -> None:
    echo_s(stream)
    links.reset(STORAGE)
    with pytest.raises(ConnectionResetError):
        stream.recv(1)
    with connected(links, STORAGE) as other:
        echo_s(other)


@pytest.mark.nightly
def test_a_black_hole_loses_what_it_took(links: Links, stream: socket.socket) -> None:
    links.black_hole(STORAGE)
    stream.sendall(b"lost")
    assert silent(stream)
    links.restore(STORAGE, "black-hole")
    with pytest.raises(ConnectionResetError):
        stream.recv(1)


def test_a_link_that_was_not_declared_is_named(links: Links) -> None:
    with pytest.raises(ValueError, match=r"link sink-system\[0\] is unknown; known are storage\[0\], broker\[0\]"):
        links.cut(Target(Role.SINK_SYSTEM))


def test_a_service_without_a_port_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"'localhost': write host:port"):
        Links({STORAGE: "localhost"}, tmp_path, tmp_path / "log")


def test_who_is_not_of_the_run_is_refused_and_counted(links: Links, stream: socket.socket) -> None:
    host, _, port = links.address(STORAGE).rpartition(":")
    assert [as_stranger(host, int(port)) for _ in range(2)] == ["refused", "refused"]
    echo_s(stream)
    with connected(links, BROKER) as other:
        echo_s(other)
    assert links.refused() == {str(STORAGE): 2}
