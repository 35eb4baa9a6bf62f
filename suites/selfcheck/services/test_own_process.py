"""A service that is a process: its lives, its end with the harness, and the sweep."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.fixtures.services.ports import free_port
from holdfast.fixtures.services.processes.own_process import OwnProcess, Session
from holdfast.harness import lease
from holdfast.harness.adapter.process import end_group
from holdfast.harness.adapter.process_stat import process_stat
from holdfast.suites.selfcheck.marks import sweeps
from holdfast.suites.selfcheck.services.listener import PROGRAM, answers, becomes
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
