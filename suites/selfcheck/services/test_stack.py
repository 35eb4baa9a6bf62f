"""A stack that cannot be stood up says why, and nothing remains of it, nor of a harness that was killed."""

from __future__ import annotations

import io
import json
import signal
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from holdfast.harness.spi.service import Site
from holdfast.suites.selfcheck.services.listener import becomes
from holdfast.suites.selfcheck.soon import ends_within
from holdfast.suites.selfcheck.started import Started

if TYPE_CHECKING:
    from holdfast.fixtures.services.stack import Stack


pytestmark = pytest.mark.tier("containers")
SECONDS = 15.0
"""A refusal comes within these."""


@pytest.fixture
def open_stack() -> Iterator[Callable[..., Stack]]:
    from holdfast.fixtures.services.stack import Stack

    stacks: list[Stack] = []

    def opened(**site: object) -> Stack:
        stacks.append(Stack(Site(**site)))  # type: ignore[arg-type]
        return stacks[-1]

    with ends_within(SECONDS):
        yield opened
    for stack in stacks:
        stack.close()
        assert ours(stack.run) == []


def ours(run: str) -> list[str]:
    """What of a session is on the daemon."""
    from holdfast.fixtures.images.daemon import connected
    from holdfast.fixtures.services.labels import RUN

    label = {"label": f"{RUN}={run}"}
    with connected() as client:
        things = [
            *client.containers.list(all=True, filters=label, ignore_removed=True),
            *client.networks.list(filters=label),
        ]
        return [str(thing.name) for thing in [*things, *client.volumes.list(filters=label)]]


def test_a_stack_is_labelled_and_goes_with_everything_of_it(tmp_path: Path) -> None:
    from holdfast.fixtures.services.stack import Stack

    with closing(Stack()) as stack:
        assert ours(stack.run) == []
        assert stack.relay.container.running
        assert sorted(ours(stack.run)) == [f"holdfast-{stack.run}", f"holdfast-{stack.run}-toxiproxy"]
        assert stack.exchange.is_dir()
        stack.save_logs(tmp_path)
    assert ours(stack.run) == []
    assert not stack.exchange.exists()
    assert (tmp_path / "toxiproxy.log").read_text()
    stack.close()
    with pytest.raises(OSError, match="the stack is closed"):
        _ = stack.links


def test_an_image_that_is_missing(open_stack: Callable[..., Stack]) -> None:
    stack = open_stack(images={"toxiproxy": "holdfast/nobody-built-this:1"})
    with pytest.raises(
        OSError, match="image holdfast/nobody-built-this:1 of toxiproxy is not there: run holdfast images"
    ):
        _ = stack.links
    with pytest.raises(OSError, match="is not there"):
        _ = stack.object_store


def test_an_image_that_is_another(open_stack: Callable[..., Stack]) -> None:
    from holdfast.fixtures.images.recipe import recipes

    tags = {name: recipe.tag for name, recipe in recipes().items()}
    with pytest.raises(OSError, match="container toxiproxy ended instead of serving; its log ends with: "):
        _ = open_stack(images={"toxiproxy": tags["kafka"]}).links


def test_a_container_that_never_serves() -> None:
    from holdfast.fixtures.services.container import Container, Session

    with closing(Session({})) as session:
        container = Container(session, "mute", "spark", command=["sh", "-c", "echo only this; sleep infinity"])
        container.start()
        assert becomes(lambda: container.log() != "")
        with pytest.raises(OSError, match="container mute does not serve after 1 s; its log ends with: only this"):
            container.wait_until(lambda: False, limit_s=1)


def test_a_port_that_is_taken(open_stack: Callable[..., Stack], stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    from holdfast.fixtures.services import ports

    taken = next(iter(stack.relay.container.published.values()))
    monkeypatch.setattr(ports, "free_ports", lambda count: [taken] * count)
    with pytest.raises(OSError, match=f"container toxiproxy: a port of {taken} is taken by another program"):
        _ = open_stack().links


def test_a_broker_that_does_not_answer(open_stack: Callable[..., Stack]) -> None:
    stack = open_stack(kafka_bootstrap="127.0.0.1:1")
    with pytest.raises(OSError, match=r"--kafka-bootstrap is '127\.0\.0\.1:1', but no broker answers there"):
        _ = stack.kafka


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("http://127.0.0.1:1", "but it does not answer"),
        ("ftp://somewhere", "write it as http://host:port"),
        ("somewhere", "write it as http://host:port"),
    ],
)
def test_an_object_store_that_does_not_answer(open_stack: Callable[..., Stack], url: str, complaint: str) -> None:
    stack = open_stack(s3_endpoint=url, s3_access_key="a", s3_secret_key="b")
    with pytest.raises((OSError, ValueError), match=complaint):
        _ = stack.object_store


def test_wrong_keys_are_refused_and_not_shown(open_stack: Callable[..., Stack], stack: Stack) -> None:
    url = stack.object_store.external
    for access_key in ("somebody", stack.object_store.keys.access_key):
        given = open_stack(s3_endpoint=url, s3_access_key=access_key, s3_secret_key="sesame-open-up")
        with pytest.raises(OSError, match="but it refuses the keys") as raised:
            _ = given.object_store
        assert "sesame-open-up" not in str(raised.value)
        assert access_key not in str(raised.value)


def test_services_of_others_serve_and_are_left_alone(open_stack: Callable[..., Stack], stack: Stack) -> None:
    from holdfast.fixtures.services.object_store import ObjectStore

    keys = stack.object_store.keys
    assert isinstance(stack.object_store, ObjectStore)
    url = f"http://{stack.object_store.container.address}:9000"
    site = {"s3_endpoint": url, "s3_access_key": keys.access_key, "s3_secret_key": keys.secret_key}
    given = open_stack(kafka_bootstrap=stack.kafka.external, **site)
    assert given.kafka.external == stack.kafka.external
    given.object_store.create_bucket("given")
    given.object_store.client().put_object("given", "key", io.BytesIO(b"1"), 1)
    assert given.object_store.proxied == url
    assert ours(given.run) == [], "nothing was started"
    for name in ("kafka", "object-store"):
        with pytest.raises(ValueError, match=f"no fault acts on it without --allow-faults-on {name}"):
            given.require_faults_allowed(name)
    given.require_faults_allowed("spark")
    given.close()
    assert stack.object_store.client().stat_object("given", "key").size == 1


def test_faults_on_the_link_to_a_store_of_others_where_allowed(open_stack: Callable[..., Stack], stack: Stack) -> None:
    from holdfast.fixtures.services.object_store import ObjectStore

    assert isinstance(stack.object_store, ObjectStore)
    keys = stack.object_store.keys
    given = open_stack(
        s3_endpoint=stack.object_store.external,
        s3_access_key=keys.access_key,
        s3_secret_key=keys.secret_key,
        allow_faults_on=frozenset({"object-store"}),
    )
    assert given.object_store.proxied == "http://toxiproxy:19000"
    given.require_faults_allowed("object-store")
    given.links.act("object-store", "cut")
    assert not given.links.whole("object-store")
    given.links.restore("object-store")
    assert given.links.whole("object-store")


def test_a_site_with_unknown_names(open_stack: Callable[..., Stack]) -> None:
    with pytest.raises(ValueError, match="image 'kavka' is unknown; known are base, toxiproxy, object-store, kafka"):
        open_stack(images={"kavka": "x"})
    with pytest.raises(ValueError, match="--allow-faults-on is 'kavka'; allowed are kafka, object-store, spark"):
        open_stack(allow_faults_on=frozenset({"kavka"}))


@pytest.mark.parametrize("url", ["yarn", "spark://somewhere", "spark://:7077", "http://somewhere:7077", "local[2]"])
def test_a_master_that_is_none(open_stack: Callable[..., Stack], url: str) -> None:
    with pytest.raises(ValueError, match=r"name a master of a standalone cluster, spark://HOST:PORT\.$"):
        open_stack(spark_master=url)


@pytest.mark.parametrize("url", ["spark://127.0.0.1:1", "spark://nobody.invalid:7077", "spark://127.0.0.1:99999"])
def test_a_master_that_does_not_answer(open_stack: Callable[..., Stack], url: str) -> None:
    with pytest.raises(OSError, match=f"--spark-master is '{url}', but no master answers there"):
        open_stack(spark_master=url).start()


OWNER = """
import signal, time
from holdfast.fixtures.services.stack import Stack
signal.signal(signal.SIGINT, signal.default_int_handler)  # A shell's background jobs inherit that it is ignored.
stack = Stack()
stack.links
print(stack.run, stack.exchange, flush=True)
time.sleep(600)
"""


def left_by(end: signal.Signals) -> tuple[str, Path]:
    """Id and exchange folder of a stack whose owner was ended by a signal."""
    with Started.python(OWNER) as owner:
        run, exchange = owner.read_line().split()
        assert len(ours(run)) == 2
        owner.send_signal(end)
        owner.wait(60)
    return run, Path(exchange)


def test_what_a_killed_harness_left_is_found_and_swept(stack: Stack) -> None:
    from holdfast.fixtures.services.provider import Provider
    from holdfast.harness import lease

    assert stack.relay.container.running
    before = ours(stack.run)
    run, exchange = left_by(signal.SIGKILL)
    left = ours(run)
    assert len(left) == 2, "without the sweep it would stay"
    assert all(any(name in found for found in Provider().leftovers()) for name in left)
    done = Provider().sweep()
    assert all(any(name in sentence for sentence in done) for name in left)
    assert ours(run) == []
    assert any(str(exchange) in sentence for sentence in lease.sweep())
    assert not exchange.exists()
    assert not any(run in found for found in Provider().leftovers())
    assert ours(stack.run) == before, "what a living harness uses was touched"
    assert stack.relay.container.running


def test_an_interrupted_harness_leaves_nothing() -> None:
    run, exchange = left_by(signal.SIGINT)
    assert ours(run) == []
    assert not exchange.exists()


def test_keys_are_in_nothing_that_is_kept(stack: Stack, tmp_path: Path) -> None:
    from holdfast.fixtures.images.daemon import connected
    from holdfast.fixtures.services.labels import RUN

    keys = stack.object_store.keys
    secrets = (keys.access_key, keys.secret_key)
    environment = {"ACCESS_KEY": keys.access_key, "SECRET_KEY": keys.secret_key}
    writes = "echo to its log $SECRET_KEY; mkdir -p logs/own; echo to a file $ACCESS_KEY > logs/own/file"
    talkative = stack.run_driver(["sh", "-c", writes], name="talkative", environment=environment)
    talkative.wait_for_end(20)
    assert keys.secret_key in talkative.log(), "without care they would be kept"
    stack.save_logs(tmp_path)
    kept = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert "to its log ***" in kept["talkative.log"]
    assert "to a file ***" in kept["own-file"]
    with connected() as client:
        labelled = client.containers.list(all=True, filters={"label": f"{RUN}={stack.run}"})
        kept["labels"] = json.dumps([container.labels for container in labelled])
    kept["repr"] = f"{keys!r} {stack!r} {stack.object_store!r} {vars(stack)!r}"
    for name, text in kept.items():
        assert not any(secret in text for secret in secrets), name
    talkative.remove()
