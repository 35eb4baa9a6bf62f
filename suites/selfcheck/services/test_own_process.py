"""Services that are processes: their lives, their end with the harness, and the sweep; PostgreSQL keeps its data."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.fixtures.services.database import USER
from holdfast.fixtures.services.ports import free_port
from holdfast.fixtures.services.processes import database as database_process
from holdfast.fixtures.services.processes.database import DatabaseProcess, Family, Unprivileged, missing_database
from holdfast.fixtures.services.processes.own_process import OwnProcess, Session
from holdfast.harness import lease
from holdfast.harness.adapter.process import children_by_parent, end_group, process_stat
from holdfast.suites.selfcheck.marks import sweeps, unless
from holdfast.suites.selfcheck.services.listener import PROGRAM, answers, becomes
from holdfast.suites.selfcheck.services.spawning import paused, spawns, states
from holdfast.suites.selfcheck.started import Started

pytestmark = pytest.mark.tier("process")
OWNER = """
import time
from holdfast.fixtures.services.processes.own_process import OwnProcess
from holdfast.fixtures.services.processes.own_process import Session
session = Session()
process = OwnProcess(session, "parent", ["/bin/sh", "-c", "sleep 600 & echo $!; wait"])
process.start()
while not process.log():
    time.sleep(0.02)
print(session.folder, process.pid, process.log().strip(), flush=True)
time.sleep(600)
"""


@pytest.fixture
def session() -> Iterator[Session]:
    with closing(Session()) as made:
        yield made


@pytest.fixture
def port() -> int:
    return free_port()


def server(session: Session, port: int, environment: dict[str, str] | None = None) -> OwnProcess:
    return OwnProcess(session, "server", [sys.executable, "-I", "-c", PROGRAM, str(port)], environment)


def lives(pid: int) -> bool:
    stat = process_stat(pid)
    return stat is not None and stat.state != "Z"


def test_it_is_killed_comes_back_is_paused_and_goes_on(session: Session, port: int) -> None:
    process = server(session, port)
    process.start()
    process.wait_until(lambda: answers(port))
    first = process.pid
    process.kill()
    assert not process.running
    assert not answers(port)
    process.kill()
    process.start_again()
    process.start_again()
    process.wait_until(lambda: answers(port))
    assert process.pid != first
    process.pause()
    assert (process.running, process.paused, answers(port, 0.2)) == (True, True, False)
    process.resume()
    process.wait_until(lambda: answers(port))
    assert not process.paused
    process.pause()
    process.kill()
    assert not process.running


def test_it_outlives_the_thread_that_started_it(session: Session, port: int) -> None:
    process = server(session, port)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(process.start).result()
    process.wait_until(lambda: answers(port))
    assert process.running


def test_one_that_ends_says_why_and_shows_no_secret(session: Session, tmp_path: Path) -> None:
    session.secrets.add("open-sesame")
    process = OwnProcess(session, "broken", ["/bin/sh", "-c", "echo cannot take $SECRET"], {"SECRET": "open-sesame"})
    process.start()
    with pytest.raises(OSError, match=r"broken ended instead of serving; its log ends with: cannot take \*\*\*"):
        process.wait_until(lambda: False)
    assert "open-sesame" in process.log(), "without care it would be kept"
    session.save_logs(tmp_path)
    assert (tmp_path / "broken.log").read_text() == "cannot take ***\n"


def test_one_that_does_not_serve_in_time_is_told(session: Session) -> None:
    process = OwnProcess(session, "idle", ["/bin/sleep", "60"])
    process.start()
    with pytest.raises(OSError, match="process idle does not serve after 0 s; its log is empty"):
        process.wait_until(lambda: False, limit_s=0.1)


def test_a_closed_session_leaves_nothing_and_starts_nothing(port: int) -> None:
    session = Session()
    process = server(session, port)
    process.start()
    process.wait_until(lambda: answers(port))
    session.close()
    session.close()
    assert not session.folder.exists()
    assert not answers(port)
    with pytest.raises(OSError, match="the stack is closed"):
        process.start_again()


def test_one_that_outlives_sigkill_keeps_a_session_from_nothing(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def ends_late(leader: int) -> None:
        end_group(leader)
        raise OSError(f"process {leader} outlives SIGKILL for 5 s.")

    session = Session()
    process = server(session, port)
    other = OwnProcess(session, "idle", ["/bin/sleep", "60"])
    for each in (process, other):
        each.start()
    monkeypatch.setattr("holdfast.harness.adapter.child.end_group", ends_late)
    session.close()
    assert not any(each.running for each in (process, other))
    assert not session.folder.exists()
    with pytest.raises(RuntimeError, match="after shutdown"):
        session._launcher.submit(print)


@sweeps
def test_what_a_killed_harness_left_is_found_and_swept(session: Session, port: int) -> None:
    living = server(session, port)
    living.start()
    living.wait_until(lambda: answers(port))
    with Started.python(OWNER) as owner:
        folder, parent, child = owner.read_line().split()
    assert becomes(lambda: not lives(int(parent))), "it dies with its harness"
    assert lives(int(child)), "without the sweep it would stay"
    assert Path(folder) in lease.abandoned()
    done = [sentence for sentence in lease.sweep() if folder in sentence]
    assert done == [f"{folder}: removed, 1 process ended."]
    assert becomes(lambda: not lives(int(child)))
    assert not Path(folder).exists()
    assert Path(folder) not in lease.abandoned()
    assert living.running, "what a living harness uses was touched"
    assert session.folder.exists()


ABSENT = missing_database()
needs_database = unless(ABSENT)
PARENT = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])"
NAME = "holdfast_test"


@pytest.fixture(scope="module")
def database() -> Iterator[DatabaseProcess]:
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
def test_what_was_committed_outlives_a_kill(database: DatabaseProcess) -> None:
    import psycopg

    with psycopg.connect(database.url(NAME), autocommit=True) as connection:
        connection.execute("CREATE TABLE kept (number int)")
        connection.execute("INSERT INTO kept VALUES (7)")
        database.down()
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    alive = database.alive
    database.up()
    assert (alive, becomes(lambda: database.alive)) == (False, True)
    with psycopg.connect(database.url(NAME, direct=True)) as connection:
        assert connection.execute("SELECT number FROM kept").fetchall() == [(7,)]


@pytest.mark.nightly
@needs_database
def test_what_stands_still_is_not_alive_and_goes_on(database: DatabaseProcess) -> None:
    database.pause()
    alive = database.alive
    database.resume()
    assert (alive, becomes(lambda: database.alive)) == (False, True)


@pytest.mark.nightly
@needs_database
def test_nobody_gets_in_without_the_password_and_nobody_sees_it(database: DatabaseProcess) -> None:
    import psycopg

    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(f"postgresql://{USER}:wrong@{database.external}/{NAME}")
    password = database.url("a").split(":")[2].split("@")[0]
    command = Path(f"/proc/{database.process.pid}/cmdline").read_bytes()
    assert password.encode() not in command
    assert password not in database.process.log()
    assert not (database.process.folder / "password").exists()


@pytest.mark.nightly
@needs_database
@pytest.mark.skipif(os.getuid() != 0, reason="only root has to become somebody else")
def test_it_does_not_run_as_root_and_its_files_are_its_own(database: DatabaseProcess) -> None:
    status = Path(f"/proc/{database.process.pid}/status").read_text()
    [users] = [line for line in status.splitlines() if line.startswith("Uid:")]
    assert "0" not in users.split()[1:]
    assert database.process.folder.stat().st_mode & 0o077 == 0
    assert database.process.folder.parent.stat().st_mode & 0o066 == 0


def test_what_is_missing_is_said_with_what_brings_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(database_process, "_DEBIAN", tmp_path)
    assert missing_database() == ("PostgreSQL is not installed on this machine: install the Debian package postgresql.")
    monkeypatch.setattr(database_process, "_binaries", lambda: tmp_path)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert missing_database() == "package 'psycopg' is not installed: run pip install 'holdfast-chaos[tables]'."
    monkeypatch.setattr(database_process, "_ACCOUNTS", ("no-such-account",))
    monkeypatch.setattr(os, "getuid", lambda: 0)
    with pytest.raises(OSError, match="there is no account no-such-account: add one"):
        Unprivileged()


def test_an_account_without_rights_changes_to_nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    found = Unprivileged()
    assert found.command(["postgres"]) == ["postgres"]
    found.give(tmp_path / "none")
