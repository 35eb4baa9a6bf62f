"""The zygote forks quickly and safely, reports every death, and takes everything with it."""

from __future__ import annotations

import os
import select
import signal
import socket
import threading
from pathlib import Path

import pytest

from holdfast.fixtures.reference.drivers.processes.spawner import Spawner, open_zygote
from holdfast.fixtures.reference.drivers.processes.zygote import Ended
from holdfast.harness.adapter.process import Process
from holdfast.harness.adapter.process_stat import process_stat
from holdfast.suites.selfcheck.processes import children
from holdfast.suites.selfcheck.processes.conftest import PRELOAD
from holdfast.suites.selfcheck.started import Started

LIMIT_S = 30.0
NOWHERE = Path(os.devnull)


def spawn(spawner: Spawner, child: str, arguments: bytes = b"", descriptors: tuple[int, ...] = ()) -> Process:
    return spawner.spawn(f"{children.PACKAGE}:{child}", arguments, descriptors, NOWHERE)


def next_death(spawner: Spawner) -> Ended:
    assert select.select([spawner], [], [], LIMIT_S)[0], "no death was reported"
    (death,) = spawner.ended()
    return death


def test_a_child_gets_its_arguments_and_descriptors_and_nothing_else(spawner: Spawner, tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, (tmp_path / "not for the child").open("w"):
        ours.settimeout(LIMIT_S)
        process = spawner.spawn(f"{children.PACKAGE}:describe", b"hello", [theirs.fileno()], tmp_path / "log")
        assert ours.recv(100) == b"hello True 1"
    assert next_death(spawner) == Ended(process.pid, 0)
    assert (tmp_path / "log").read_text() == "said on standard output\n"


def test_a_death_is_reported_with_its_signal(spawner: Spawner) -> None:
    process = spawn(spawner, "wait")
    assert process.signal(signal.SIGKILL)
    assert process.wait_end(LIMIT_S)
    assert next_death(spawner) == Ended(process.pid, -signal.SIGKILL)
    assert not process.signal(signal.SIGKILL), "a signal to the dead must reach nobody"


def test_an_exception_is_an_exit_code_and_a_traceback_in_the_log(spawner: Spawner, tmp_path: Path) -> None:
    process = spawner.spawn(f"{children.PACKAGE}:fail", b"", [], tmp_path / "log")
    assert next_death(spawner) == Ended(process.pid, 1)
    assert (tmp_path / "log").read_text().endswith("RuntimeError: out of luck\n")


def test_many_forks_in_a_row(spawner: Spawner) -> None:
    for _ in range(100):
        process = spawn(spawner, "leave")
        assert next_death(spawner) == Ended(process.pid, 0)
        process.close()


def test_closing_a_zygote_ends_its_children_and_no_others(spawner: Spawner, tmp_path: Path) -> None:
    other, zygote = open_zygote(PRELOAD, tmp_path / "other.log")
    ours, theirs = spawn(spawner, "wait"), spawn(other, "wait")
    other.close()
    assert zygote.wait_end(LIMIT_S)
    assert theirs.wait_end(LIMIT_S)
    assert not ours.wait_end(0)


def test_a_zygote_outlives_the_thread_that_opened_it(tmp_path: Path) -> None:
    opened = []
    thread = threading.Thread(target=lambda: opened.append(open_zygote(PRELOAD, tmp_path / "zygote.log")))
    thread.start()
    thread.join()
    spawner, _ = opened[0]
    process = spawn(spawner, "wait")
    assert not process.wait_end(0.05)
    spawner.close()


def test_a_dead_zygote_is_said_so(tmp_path: Path) -> None:
    spawner, zygote = open_zygote(PRELOAD, tmp_path / "zygote.log")
    zygote.signal(signal.SIGKILL)
    assert zygote.wait_end(LIMIT_S)
    with pytest.raises(OSError, match="ended unexpectedly"):
        spawn(spawner, "wait")
    spawner.close()


HARNESS = """
import signal
from pathlib import Path
from holdfast.harness.adapter.process import Process
from holdfast.harness.adapter.process_stat import process_stat
from holdfast.fixtures.reference.drivers.processes.spawner import open_zygote
spawner, zygote = open_zygote(["holdfast.suites.selfcheck.processes.children"], Path("/dev/null"))
entry = "holdfast.suites.selfcheck.processes.children:wait"
pids = [zygote.pid, *(spawner.spawn(entry, b"", [], Path("/dev/null")).pid for _ in range(3))]
print(*pids, flush=True)
signal.pause()
"""


def test_nothing_survives_a_sigkill_of_the_harness() -> None:
    with Started.python(HARNESS) as harness:
        processes = [Process(int(pid)) for pid in harness.read_line().split()]
        first = process_stat(processes[0].pid)
        assert first is not None
        root = first.parent
        processes.append(Process(root))
        assert len(processes) == 5
        assert not any(process.wait_end(0) for process in processes)
        harness.kill()
        assert all(process.wait_end(LIMIT_S) for process in processes)
    for process in processes:
        process.close()
