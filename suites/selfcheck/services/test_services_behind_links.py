"""Each service of a stack of containers stands behind its link. Nothing is started for this."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("docker")
pytest.importorskip("testcontainers")
pytest.importorskip("minio")
pytest.importorskip("pika")
pytest.importorskip("psycopg")

from holdfast.fixtures.services.own_service import OwnService
from holdfast.fixtures.services.site import DATABASE, KAFKA, OBJECT_STORE, QUEUES
from holdfast.fixtures.services.stack import Stack

HOST, FURTHER = "toxiproxy", 1
"""Host of the links, and how far the ports of links are from those that are wanted."""
UPSTREAM = {KAFKA: "kafka:19092", OBJECT_STORE: "object-store:9000", DATABASE: "database:5432", QUEUES: "queues:5672"}
PROXIED = {KAFKA: 19092, OBJECT_STORE: 19000, DATABASE: 15432, QUEUES: 15672}


class Relay:
    host = HOST

    def __init__(self) -> None:
        self.created: dict[str, tuple[str, int]] = {}

    def port(self, wanted: int) -> int:
        return wanted + FURTHER

    def upstream(self, container: Any, port: int) -> str:
        return f"{container.name}:{port}"

    def create(self, name: str, upstream: str, port: int) -> None:
        self.created[name] = upstream, port


@pytest.fixture
def relay() -> Relay:
    return Relay()


@pytest.fixture
def stack(relay: Relay, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    monkeypatch.setattr(Stack, "_start_relay", lambda self: relay)
    monkeypatch.setattr(OwnService, "start", lambda self: None)
    with closing(Stack()) as made:
        yield made


def test_each_link_leads_to_its_service_and_is_what_those_on_trial_are_told(stack: Stack, relay: Relay) -> None:
    queues = stack.queues.proxied
    given = {
        KAFKA: stack.kafka.proxied,
        OBJECT_STORE: stack.object_store.proxied.removeprefix("http://"),
        DATABASE: stack.database.proxied,
        QUEUES: f"{queues.host}:{queues.port}",
    }
    assert given == {name: f"{HOST}:{port + FURTHER}" for name, port in PROXIED.items()}
    assert relay.created == {name: (UPSTREAM[name], port + FURTHER) for name, port in PROXIED.items()}


def test_what_could_not_be_started_is_not_tried_again(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = SimpleNamespace(count=0)

    def refuse(service: OwnService) -> None:
        tries.count += 1
        raise OSError("it does not start")

    monkeypatch.setattr(OwnService, "start", refuse)
    for _ in range(2):
        with pytest.raises(OSError, match="it does not start"):
            _ = stack.database
    assert tries.count == 1


def test_a_stack_that_is_closed_starts_nothing(stack: Stack, relay: Relay) -> None:
    stack.close()
    with pytest.raises(OSError, match="the stack is closed"):
        _ = stack.kafka
    assert not relay.created
