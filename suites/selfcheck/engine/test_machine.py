"""What a machine is said to lack."""

from __future__ import annotations

import socket  # noqa: TID251 - a listener of its own
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.harness.engine.site import machine
from holdfast.harness.model.case import Tier


@pytest.fixture(autouse=True)
def looked_at_afresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """With the clients of services installed, whether they are or not."""
    monkeypatch.setattr(machine, "_CLIENTS", ())
    machine.lacking.cache_clear()
    yield
    machine.lacking.cache_clear()


def test_an_engine_is_asked_where_its_clients_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "docker.sock"
    with closing(socket.socket(socket.AF_UNIX)) as engine:
        engine.bind(str(path))
        engine.listen()
        monkeypatch.setenv("DOCKER_HOST", f"unix://{path}")
        assert machine.lacking(Tier.CONTAINERS) == ""
    machine.lacking.cache_clear()
    assert machine.lacking(Tier.CONTAINERS) == (
        f"needs a Docker engine that responds at unix://{path} (Debian: apt install docker.io)"
    )


def test_an_engine_may_be_reached_by_network(monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as engine:
        monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{engine.getsockname()[1]}")
        assert machine.lacking(Tier.CONTAINERS) == ""


@pytest.mark.parametrize("address", ["unix:///none", "tcp://127.0.0.1:x", "ssh://127.0.0.1:1", "nonsense"])
def test_an_address_where_nobody_responds_is_named(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", address)
    assert f"a Docker engine that responds at {address} " in machine.lacking(Tier.CONTAINERS)
