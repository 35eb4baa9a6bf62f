"""What a machine is said to lack."""

from __future__ import annotations

import os
import socket  # noqa: TID251 - a listener of its own
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.fixtures.services.processes.installation import java
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


def test_an_engine_whose_processes_are_not_seen_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container that has the socket of its host: the number of a process there is somebody else here."""
    path = tmp_path / "docker.sock"
    with closing(socket.socket(socket.AF_UNIX)) as engine:
        engine.bind(str(path))
        engine.listen()
        monkeypatch.setenv("DOCKER_HOST", f"unix://{path}")
        assert machine._peer(f"unix://{path}") == os.getpid()
        monkeypatch.setattr(machine, "_peer", lambda _: 0)
        assert machine.lacking(Tier.CONTAINERS) == (
            f"needs to see the processes of the Docker engine at unix://{path} (in a container: --pid host)"
        )


def test_an_engine_may_be_reached_by_network(monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as engine:
        monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{engine.getsockname()[1]}")
        assert machine.lacking(Tier.CONTAINERS) == ""


@pytest.mark.parametrize("address", ["unix:///none", "tcp://127.0.0.1:x", "ssh://127.0.0.1:1", "nonsense"])
def test_an_address_where_nobody_responds_is_named(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", address)
    assert f"a Docker engine that responds at {address} " in machine.lacking(Tier.CONTAINERS)


def java_of(version: int, folder: Path) -> Path:
    """A home of Java that says no more than its version."""
    (folder / "bin").mkdir(parents=True)
    program = folder / "bin" / "java"
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}.0.1\" 2023-10-17' >&2\n")
    program.chmod(0o755)
    return folder


@pytest.mark.parametrize(("of_home", "on_path"), [(17, 11), (11, 17), (None, 17), (0, 17)])
def test_the_java_of_java_home_is_looked_at_before_the_one_on_the_path(
    of_home: int | None, on_path: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Version 0 stands for a home that is not there: nobody falls back to another Java."""
    monkeypatch.setattr(machine, "find_spec", lambda name: name)
    monkeypatch.setenv("PATH", f"{java_of(on_path, tmp_path / 'path') / 'bin'}{os.pathsep}/bin")
    home = tmp_path / "home"
    if of_home is None:
        monkeypatch.delenv("JAVA_HOME", raising=False)
    else:
        monkeypatch.setenv("JAVA_HOME", str(java_of(of_home, home) if of_home else home))
    where = "" if of_home is None else f" in JAVA_HOME, which is {home}"
    found = on_path if of_home is None else of_home
    wanted = "" if found == 17 else f"needs Java 17 or 21{where} (Debian: apt install openjdk-17-jre-headless)"
    assert machine.lacking(Tier.SPARK) == wanted
    if found:
        assert java("Kafka") == str((tmp_path / "path" if of_home is None else home) / "bin" / "java")
    else:
        with pytest.raises(OSError, match=f"Kafka needs Java 17 or 21{where}: install"):
            java("Kafka")
