"""PostgreSQL as a process: what it holds outlives a kill, and all of its processes stand still together."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.fixtures.services.database import USER
from holdfast.fixtures.services.processes import database
from holdfast.fixtures.services.processes.database import DatabaseProcess, Family, Unprivileged, missing_database
from holdfast.fixtures.services.processes.own_process import Session
from holdfast.harness.adapter.process_stat import children_by_parent, process_stat
from holdfast.suites.selfcheck.marks import unless
from holdfast.suites.selfcheck.services.listener import becomes
from holdfast.suites.selfcheck.services.spawning import paused, spawns, states

pytestmark = pytest.mark.tier("process")
ABSENT = missing_database()
needs_database = unless(ABSENT)
PARENT = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])"
NAME = "holdfast_test"


@pytest.fixture
def session() -> Iterator[Session]:
    with closing(Session()) as made:
        yield made


@pytest.fixture(scope="module")
def server() -> Iterator[DatabaseProcess]:
    from holdfast.fixtures.services.processes.stack import ProcessStack

    with closing(ProcessStack()) as stack:
        stack.database.create_database(NAME)
        assert isinstance(stack.database, DatabaseProcess)
        yield stack.database


def family(session: Session) -> tuple[Family, int]:
    """A process and the only child that it has."""
    made = Family(session, "family", [sys.executable, "-c", PARENT])
    made.start()
    assert becomes(lambda: len(children_by_parent()[made.pid]) == 1)
    [child] = children_by_parent()[made.pid]
    return made, child


def test_one_that_is_starting_a_child_stands_still_too(session: Session, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    made = Family(session, "family", spawns(fifo))
    made.start()
    assert becomes(lambda: states(made.pid) == ["D", "S"])
    with paused(made.pid, fifo, made.pause):
        assert states(made.pid) == ["T", "T"]


def state(pid: int) -> str:
    stat = process_stat(pid)
    return "gone" if stat is None or stat.state == "Z" else stat.state


def test_a_family_stands_still_and_goes_on_together(session: Session) -> None:
    made, child = family(session)
    made.pause()
    assert (state(made.pid), state(child), made.paused) == ("T", "T", True)
    made.resume()
    assert becomes(lambda: state(made.pid) in "RS" and state(child) in "RS")


def test_of_a_family_that_is_killed_nobody_is_left(session: Session) -> None:
    made, child = family(session)
    made.pause()
    made.kill()
    assert (made.running, state(child)) == (False, "gone")
    made.kill()


@pytest.mark.nightly
@needs_database
def test_what_was_committed_outlives_a_kill(server: DatabaseProcess) -> None:
    import psycopg

    with psycopg.connect(server.url(NAME), autocommit=True) as connection:
        connection.execute("CREATE TABLE kept (number int)")
        connection.execute("INSERT INTO kept VALUES (7)")
        server.down()
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    alive = server.alive
    server.up()
    assert (alive, becomes(lambda: server.alive)) == (False, True)
    with psycopg.connect(server.url(NAME, direct=True)) as connection:
        assert connection.execute("SELECT number FROM kept").fetchall() == [(7,)]


@pytest.mark.nightly
@needs_database
def test_what_stands_still_is_not_alive_and_goes_on(server: DatabaseProcess) -> None:
    server.pause()
    alive = server.alive
    server.resume()
    assert (alive, becomes(lambda: server.alive)) == (False, True)


@pytest.mark.nightly
@needs_database
def test_nobody_gets_in_without_the_password_and_nobody_sees_it(server: DatabaseProcess) -> None:
    import psycopg

    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(f"postgresql://{USER}:wrong@{server.external}/{NAME}")
    password = server.url("a").split(":")[2].split("@")[0]
    command = Path(f"/proc/{server.process.pid}/cmdline").read_bytes()
    assert password.encode() not in command
    assert password not in server.process.log()
    assert not (server.process.folder / "password").exists()


@pytest.mark.nightly
@needs_database
@pytest.mark.skipif(os.getuid() != 0, reason="only root has to become somebody else")
def test_it_does_not_run_as_root_and_its_files_are_its_own(server: DatabaseProcess) -> None:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    [users] = [line for line in status.splitlines() if line.startswith("Uid:")]
    assert "0" not in users.split()[1:]
    assert server.process.folder.stat().st_mode & 0o077 == 0
    assert server.process.folder.parent.stat().st_mode & 0o066 == 0


def test_what_is_missing_is_said_with_what_brings_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(database, "_DEBIAN", tmp_path)
    assert missing_database() == ("PostgreSQL is not installed on this machine: install the Debian package postgresql.")
    monkeypatch.setattr(database, "_binaries", lambda: tmp_path)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert missing_database() == "package 'psycopg' is not installed: run pip install 'holdfast-chaos[tables]'."
    monkeypatch.setattr(database, "_ACCOUNTS", ("no-such-account",))
    monkeypatch.setattr(os, "getuid", lambda: 0)
    with pytest.raises(OSError, match="there is no account no-such-account: add one"):
        Unprivileged()


def test_an_account_without_rights_changes_to_nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    found = Unprivileged()
    assert found.command(["postgres"]) == ["postgres"]
    found.give(tmp_path / "none")
