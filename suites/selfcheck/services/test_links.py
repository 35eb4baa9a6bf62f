"""Links of services act on real requests and heal; services listen in the network of their session alone."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TYPE_CHECKING, Any

import pytest

from holdfast.fixtures.services import database, kafka, object_store
from holdfast.harness.adapter.links import Links
from holdfast.harness.spi.controls.network import BACKWARD, BOTH, FORWARD

if TYPE_CHECKING:
    from minio import Minio

    from holdfast.fixtures.services.container import Container
    from holdfast.fixtures.services.stack import Stack


pytestmark = pytest.mark.tier("containers")
LINK = "object-store"
BUCKET = "links"
DELAY_S = 0.5
PATIENCE_S = 1.5
LIMIT_S = 60.0
"""For what must happen, however busy the machine is."""
SMALL, LARGE = b"x" * 100, b"x" * 200_000


@pytest.fixture(scope="module")
def store(stack: Stack) -> Minio:
    """The object store as the system under test sees it, through its link."""
    from minio import Minio

    stack.object_store.create_bucket(BUCKET)
    keys = stack.object_store.keys
    address = f"{stack.relay.container.address}:19000"
    return Minio(address, keys.access_key, keys.secret_key, secure=False, region="us-east-1")


@pytest.fixture
def links(stack: Stack, store: Minio) -> Iterator[Links]:
    yield stack.links
    stack.links.restore(LINK)
    assert stack.links.whole(LINK)


def put(store: Minio, content: bytes = SMALL) -> float:
    """How long one put takes, in seconds."""
    start = time.monotonic()
    store.put_object(BUCKET, "key", io.BytesIO(content), len(content))
    return time.monotonic() - start


def prompt(store: Minio, content: bytes = SMALL) -> bool:
    """Whether nothing delays puts. A link delays each of them; a busy machine does not delay all for so long."""
    deadline = time.monotonic() + LIMIT_S
    while put(store, content) >= DELAY_S:
        if time.monotonic() > deadline:
            return False
    return True


def read(store: Minio) -> bytes:
    answer: Any = store.get_object(BUCKET, "key")
    try:
        return bytes(answer.data)
    finally:
        answer.close()
        answer.release_conn()


def test_a_slow_link_delays_a_put_each_way(links: Links, store: Minio) -> None:
    assert prompt(store)
    links.act(LINK, "slow", round(DELAY_S * 1_000))
    assert not links.whole(LINK)
    assert put(store) >= 2 * DELAY_S
    links.restore(LINK)
    assert links.whole(LINK)
    assert prompt(store)


def test_another_delay_replaces_the_first(links: Links, store: Minio) -> None:
    links.act(LINK, "slow", 30_000)
    links.act(LINK, "slow", 1)
    assert prompt(store)


def test_of_two_delays_the_one_that_is_healed_goes(links: Links, store: Minio) -> None:
    links.act(LINK, "slow", round(DELAY_S * 1_000))
    links.act(LINK, "slow", 1)
    links.restore(LINK, "slow", 1)
    assert put(store) >= 2 * DELAY_S


@pytest.mark.parametrize("direction", [FORWARD, BACKWARD, BOTH])
def test_what_a_cut_holds_back_arrives_whole_after_the_heal(links: Links, store: Minio, direction: str) -> None:
    content = bytes(range(256)) * 2_000
    with ThreadPoolExecutor(1) as pool:
        links.act(LINK, "cut", direction)
        attempt = pool.submit(put, store, content)
        with pytest.raises(TimeoutError):
            attempt.result(PATIENCE_S)
        assert not links.whole(LINK)
        links.restore(LINK)
        assert attempt.result(LIMIT_S) >= PATIENCE_S
    assert read(store) == content


def test_a_limited_link_carries_only_so_much(links: Links, store: Minio) -> None:
    assert prompt(store, LARGE)
    links.act(LINK, "limit", 200)
    assert put(store, LARGE) >= len(LARGE) / 200_000 - 0.2
    links.restore(LINK)
    assert prompt(store, LARGE)


@pytest.mark.parametrize(
    ("impairment", "end"), [(("black-hole",), Links.restore), (("slow", 30_000), Links.reset)],
    ids=["the heal of a black hole", "a reset of a slow link"],
)  # fmt: skip
def test_a_connection_that_hangs_is_closed_and_the_next_one_goes_through(
    links: Links, stack: Stack, store: Minio, impairment: tuple[Any, ...], end: Callable[[Links, str], object]
) -> None:
    import urllib3

    url = f"http://{stack.relay.container.address}:19000/minio/health/live"
    with urllib3.PoolManager(retries=False) as pool, ThreadPoolExecutor(1) as threads:
        links.act(LINK, *impairment)
        attempt = threads.submit(pool.request, "GET", url)
        with pytest.raises(TimeoutError):
            attempt.result(PATIENCE_S)
        end(links, LINK)
        with pytest.raises(urllib3.exceptions.ProtocolError):
            attempt.result(LIMIT_S)
        links.restore(LINK)
        assert pool.request("GET", url).status == 200


def test_a_link_can_lead_elsewhere_and_back(links: Links, stack: Stack, store: Minio) -> None:
    import urllib3

    api = f"http://{stack.relay.container.address}:19000/proxies"
    with urllib3.PoolManager(retries=False) as pool:
        links.lead(LINK, "toxiproxy:8474")
        assert LINK in pool.request("GET", api).json()
        links.lead(LINK)
        assert pool.request("GET", api).headers["Server"] == "MinIO"
    assert prompt(store)


def test_a_link_of_ones_own_comes_and_goes(links: Links, stack: Stack) -> None:
    assert stack.relay.create("own", upstream="object-store:9000", port=19100) == "toxiproxy:19100"
    assert stack.relay.address("own") == "toxiproxy:19100"
    links.act("own", "cut")
    assert links.whole(LINK)
    stack.relay.remove("own")
    with pytest.raises(ValueError, match=r"link 'own' is unknown; known are .*object-store"):
        links.act("own", "cut")


def test_an_unknown_direction_is_refused(links: Links) -> None:
    with pytest.raises(ValueError, match="direction 'sideways' is unknown; allowed are forward, backward, both"):
        links.act(LINK, "cut", "sideways")
    assert links.whole(LINK)


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
