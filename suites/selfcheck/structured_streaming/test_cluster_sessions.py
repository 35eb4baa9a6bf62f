"""Sessions on one cluster: with other additions another one, and one of them at a time. On this machine: one for each
stack and additions."""

from __future__ import annotations

import atexit
import select
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from holdfast.fixtures.pipelines.output.outgoing import DeltaOutput, IcebergOutput, TableOutput
from holdfast.fixtures.systems.structured_streaming import local_host
from holdfast.fixtures.systems.structured_streaming.additions import NOTHING, Additions, additions_of
from holdfast.suites.selfcheck.services.listener import becomes

LIMIT_MS = 30_000


class Ending:
    """A session that knows whether it was ended."""

    def __init__(self, host: object) -> None:
        self.ended = False

    def end(self) -> None:
        self.ended = True


def test_a_session_ends_when_one_with_other_additions_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("testcontainers")
    from holdfast.fixtures.systems.structured_streaming import cluster_host

    monkeypatch.setattr(cluster_host, "_sessions", {})
    monkeypatch.setattr(cluster_host, "ClusterHost", lambda stack, additions: None)
    monkeypatch.setattr(cluster_host, "Session", Ending)

    def session(run: str, additions: Additions) -> Any:
        return cluster_host.session_in(SimpleNamespace(run=run), additions)  # type: ignore[arg-type]

    tables = additions_of(DeltaOutput())
    plain, other = session("one", NOTHING), session("two", NOTHING)
    assert session("one", NOTHING) is plain
    with_tables = session("one", tables)
    assert (plain.ended, other.ended) == (True, False)
    assert session("one", additions_of(IcebergOutput())) is with_tables
    assert not with_tables.ended
    assert session("one", NOTHING) is plain
    assert (with_tables.ended, other.ended) == (True, False)


def test_on_this_machine_each_stack_and_additions_have_a_session_until_it_is_closed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(local_host, "_sessions", {})
    monkeypatch.setattr(atexit, "register", lambda end: None)

    def host(stack: object, additions: Additions, spark: object) -> Any:
        folder = tmp_path / str(len(local_host._sessions))
        folder.mkdir(exist_ok=True)
        return SimpleNamespace(folder=folder)

    monkeypatch.setattr(local_host, "LocalHost", host)
    stack: Any = SimpleNamespace(run="one")
    alone, beside = local_host.session_here(), local_host.session_here(stack)
    with_tables = local_host.session_here(stack, additions_of(DeltaOutput()))
    assert len({alone, beside, with_tables}) == 3
    assert [local_host.session_here(), local_host.session_here(stack)] == [alone, beside]
    alone.host.folder.rmdir()
    assert local_host.session_here() is not alone
    assert local_host.session_here(stack) is beside


def test_only_tables_of_files_need_more_than_the_image_has_on_its_class_path() -> None:
    served = additions_of(TableOutput(url="postgresql://", table="orders"))
    assert (served.among_containers, NOTHING.among_containers) == ({}, {})
    added = additions_of(DeltaOutput()).among_containers
    assert [jar.rpartition("/")[2].partition("-")[0] for jar in added["spark.jars"].split(",")] == [
        "delta",
        "delta",
        "iceberg",
    ]
    assert "io.delta.sql.DeltaSparkSessionExtension" in added["spark.sql.extensions"]


class Here:
    """fixtures.services.container.Container, whose first process is one of this machine."""

    def __init__(self, command: Sequence[str], log: Path) -> None:
        self._log = log
        self.calls: list[str] = []
        with log.open("wb") as written:
            self.process = subprocess.Popen(command, stderr=written)
        self.pid = self.process.pid

    def log(self) -> str:
        return "".join(f"12:00 {line}" for line in self._log.read_text().splitlines(keepends=True))

    def last_line(self) -> str:
        return self.log().strip().rpartition("\n")[2].partition(" ")[2]

    def wait_for_end(self, limit_s: float) -> None:
        self.process.wait(limit_s)

    def remove(self) -> None:
        self.process.wait()
        self.calls.append("remove")

    def forget(self) -> None:
        self.calls.append("forget")


def test_a_driver_program_in_a_container_is_spoken_to_dies_and_is_removed(tmp_path: Path) -> None:
    pytest.importorskip("testcontainers")
    from holdfast.fixtures.systems.structured_streaming.cluster_host import ContainerProgram

    echo = "import sys; print(sys.stdin.readline(), end='', flush=True); print('that was it', file=sys.stderr)"
    started: list[Here] = []

    def run_driver(command: Sequence[str], **given: Any) -> Here:
        started.append(Here(command, tmp_path / "written"))
        return started[-1]

    stack: Any = SimpleNamespace(run_driver=run_driver)
    sleeps = f"{echo}; import time; time.sleep(60)"
    program = ContainerProgram(stack, "driver", ["-c", sleeps], {}, tmp_path / "driver.log")
    [container] = started
    try:
        assert (program.pid, program.dead, program.lines()) == (container.pid, False, [])
        program.send(b"a line")
        poll = select.poll()
        program.watch(poll)
        assert poll.poll(LIMIT_MS)
        assert program.lines() == [b"a line"]
        assert becomes(lambda: program.last_words() == "that was it")
        assert program.end() == -9
        assert program.dead
    finally:
        container.process.kill()
        program.close()
    program.close()
    assert container.calls == ["remove", "forget"]
    assert program.log() == "12:00 that was it\n"
