"""How long the processes of a run waited for a processor or a disk is measured, and written down stretch by stretch."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import cast

import pytest

from holdfast.harness.engine.executor import stall_trace
from holdfast.harness.engine.executor.stall_trace import LEAST_NS, STRETCH_MS, StallTrace
from holdfast.harness.engine.site.thread_waits import ThreadWaits
from holdfast.harness.model.events import Event, MachineStalled
from holdfast.harness.spi.system import Deployment
from holdfast.suites.selfcheck.started import Started

MS = 1_000_000
BUSY = """
import os, time
os.sched_setaffinity(0, {processor})
until = time.monotonic() + 0.5
while time.monotonic() < until:
    pass
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells how long a thread waited")
def test_two_that_share_a_processor_wait_for_each_other() -> None:
    """Of half a second each has about one half."""
    processor = {min(os.sched_getaffinity(0))}
    waits = ThreadWaits(0)
    busy = BUSY.format(processor=processor)
    waited_ns = now_ns = 0
    with Started.python(busy) as first, Started.python(busy) as second:
        while first.poll() is None or second.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                first.wait(0.02)
            now_ns += 20 * MS
            waited_ns += waits.grown_ns(now_ns)
    waits.close()
    assert waited_ns >= 100 * MS


HELD = """
import os
os.posix_spawn("/bin/true", ["true"], {{}}, file_actions=[(os.POSIX_SPAWN_OPEN, 0, {pipe!r}, os.O_RDONLY, 0)])
print("released", flush=True)
input()
"""
"""Who begins a process sleeps until that is executed, as deeply as for a disk; this one first waits for a writer."""


@pytest.fixture
def held(tmp_path: Path) -> Iterator[tuple[Started, Path]]:
    """A process that sleeps as one that flushes a file, until somebody opens a pipe for writing."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with Started.python(HELD.format(pipe=str(pipe))) as process:
        yield process, pipe
        process.communicate("\n")
    assert process.returncode == 0


def sleeps_deeply(process: Started) -> bool:
    """Whether the process waits for what nothing interrupts, within ten seconds."""
    for _ in range(1_000):
        if Path(f"/proc/{process.pid}/stat").read_bytes().rpartition(b")")[2].split()[0] == b"D":
            return True
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.01)
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells what a thread waits for")
def test_who_waits_for_a_disk_at_an_end_of_a_stretch_may_have_waited_in_all_of_it(held: tuple[Started, Path]) -> None:
    """On a clock whose stretches last far longer than the machine can have kept anybody waiting."""
    process, pipe = held
    waits, second_ns = ThreadWaits(0), 1_000 * MS
    assert sleeps_deeply(process)
    grown_ns = [waits.grown_ns(100 * second_ns), waits.grown_ns(200 * second_ns)]
    pipe.write_text("")
    assert process.read_line() == "released"
    grown_ns += [waits.grown_ns(300 * second_ns), waits.grown_ns(400 * second_ns)]
    waits.close()
    assert [each > 50 * second_ns for each in grown_ns] == [True, True, True, False]


class Clocked:
    """As much of a deployment as is used."""

    def __init__(self) -> None:
        self.now_ms = 0.0
        self.recorded: list[Event] = []

    def record(self, event: Event) -> None:
        self.recorded.append(event)


class Scripted:
    """What was waited, in nanoseconds by call."""

    waits_ns: tuple[int, ...] = ()
    calls = 0

    def __init__(self, now_ns: int) -> None:
        pass

    def grown_ns(self, now_ns: int) -> int:
        Scripted.calls += 1
        return self.waits_ns[Scripted.calls - 1]


def noted(monkeypatch: pytest.MonkeyPatch, *waits_ns: int, every_ms: float = STRETCH_MS) -> list[Event]:
    monkeypatch.setattr(stall_trace, "ThreadWaits", Scripted)
    monkeypatch.setattr(Scripted, "waits_ns", waits_ns)
    monkeypatch.setattr(Scripted, "calls", 0)
    deployment = Clocked()
    trace = StallTrace(cast(Deployment, deployment))
    for _ in waits_ns:
        deployment.now_ms += every_ms
        trace.note()
    return deployment.recorded


def test_stretches_in_which_somebody_waited_are_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert noted(monkeypatch, LEAST_NS - 1, 7 * MS) == [MachineStalled(since_ns=20 * MS, stalled_ns=7 * MS)]


def test_a_wait_may_have_begun_before_its_stretch(monkeypatch: pytest.MonkeyPatch) -> None:
    assert noted(monkeypatch, 0, 0, 45 * MS) == [MachineStalled(since_ns=15 * MS, stalled_ns=45 * MS)]


def test_no_stretch_is_shorter_than_the_shortest(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = noted(monkeypatch, 9 * MS, 9 * MS, 9 * MS, 9 * MS, every_ms=STRETCH_MS / 2)
    assert recorded == [MachineStalled(since_ns=since * MS, stalled_ns=9 * MS) for since in (0, 20)]
