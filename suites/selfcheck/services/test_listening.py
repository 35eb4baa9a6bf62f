"""Services in containers listen on their own address of the network of their session, and on no other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TYPE_CHECKING

import pytest

from holdfast.fixtures.services import database, kafka, object_store

if TYPE_CHECKING:
    from holdfast.fixtures.services.container import Container
    from holdfast.fixtures.services.stack import Stack

pytestmark = pytest.mark.tier("containers")
LISTENS = "0A"
"""State of a socket, in proc(5)."""
TOXIPROXY_API = 8474
Listener = tuple[IPv4Address | IPv6Address, int]


def listeners(container: Container) -> set[Listener]:
    """Address and port of each socket that listens in a container."""
    code, tables = container.execute(["cat", "/proc/net/tcp", "/proc/net/tcp6"])
    assert code == 0, tables
    return set(parsed(tables))


def parsed(tables: str) -> Iterator[Listener]:
    """What listens by the tables of the kernel, which writes addresses in words of the machine's byte order."""
    for line in tables.splitlines():
        _, local, _, state, *_ = line.split()
        if state == LISTENS:
            words, port = local.split(":")
            found = ip_address(b"".join(bytes.fromhex(words[at : at + 8])[::-1] for at in range(0, len(words), 8)))
            yield getattr(found, "ipv4_mapped", None) or found, int(port, 16)


def test_addresses_are_read_as_the_kernel_writes_them() -> None:
    rows = (
        "  sl  local_address rem_address   st tx_queue rx_queue",
        "   0: 030012AC:2384 00000000:0000 0A 00000000:00000000",
        "   1: 0100007F:2385 0100007F:C350 01 00000000:00000000",
        "   2: 00000000:1F90 00000000:0000 0A 00000000:00000000",
        "   3: 0000000000000000FFFF0000030012AC:2386 00000000000000000000000000000000:0000 0A 00000000:00000000",
        "   4: 00000000000000000000000000000000:0050 00000000000000000000000000000000:0000 0A 00000000:00000000",
    )
    own = ip_address("172.18.0.3")
    everywhere = {(ip_address("0.0.0.0"), 8080), (ip_address("::"), 80)}
    assert set(parsed("\n".join(rows))) == {(own, 9092), (own, 9094), *everywhere}


def containers(stack: Stack) -> dict[str, tuple[Container, set[int]]]:
    """By service, where it runs, and the ports at which others reach it."""
    assert isinstance(stack.kafka, kafka.Kafka)
    assert isinstance(stack.object_store, object_store.ObjectStore)
    assert isinstance(stack.database, database.Database)
    return {
        "database": (stack.database.container, {database.INTERNAL}),
        "kafka": (stack.kafka.container, {kafka.INTERNAL, kafka.PROXIED, kafka.EXTERNAL}),
        "object-store": (stack.object_store.container, {object_store.INTERNAL}),
        "toxiproxy": (stack.relay.container, {TOXIPROXY_API, database.PROXIED, kafka.PROXIED, object_store.PROXIED}),
    }


@pytest.mark.parametrize("name", ["database", "kafka", "object-store", "toxiproxy"])
def test_a_service_listens_on_its_own_address_alone(name: str, stack: Stack) -> None:
    stack.start("kafka", "object-store")
    container, ports = containers(stack)[name]
    own = ip_address(container.address)
    found = listeners(container)
    assert {(own, port) for port in ports} <= found
    assert not {(address, port) for address, port in found if address != own and not address.is_loopback}


def test_the_image_of_toxiproxy_opens_nothing_by_itself() -> None:
    """Nor does whoever starts it by hand."""
    from holdfast.fixtures.services.container import Container, Session

    with closing(Session({})) as session:
        container = Container(session, "bare", "toxiproxy")
        container.start()
        container.wait_until(lambda: any(port == TOXIPROXY_API for _, port in listeners(container)))
        assert all(address.is_loopback for address, _ in listeners(container))
