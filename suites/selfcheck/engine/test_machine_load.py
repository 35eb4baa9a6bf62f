"""How long processes waited for a processor or a disk, the bounds that this extends, and what a certification used."""

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
from holdfast.harness.engine.executor.phases import MOST_TIMES, Patience
from holdfast.harness.engine.executor.stall_trace import LEAST_NS, STRETCH_MS, NoStalls, StallTrace, ThreadWaits
from holdfast.harness.engine.site import machine, usage
from holdfast.harness.engine.site.usage import UsageMeter
from holdfast.harness.model.events import Event, MachineStalled
from holdfast.harness.spi.system import Deployment
from holdfast.suites.selfcheck.services.listener import becomes
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


def test_on_a_machine_that_is_free_the_bound_is_the_bound() -> None:
    assert Patience(10.5, 100, NoStalls().stalled_ms).until_ms == 111


def test_what_was_stalled_before_the_wait_is_not_granted() -> None:
    assert Patience(0, 100, lambda: 5_000.0).until_ms == 100


def test_what_is_stalled_meanwhile_is_granted_up_to_a_limit() -> None:
    stalled = [5_000.0]
    patience = Patience(0, 100, lambda: stalled[0])
    stalled[0] += 30
    assert patience.until_ms == 130
    stalled[0] += 1_000_000
    assert patience.until_ms == MOST_TIMES * 100


@pytest.mark.parametrize(
    ("content", "stalled_ms"),
    [
        ("some avg10=98.54 avg60=90.05 avg300=93.19 total=17630\nfull avg10=0.00 total=0\n", 17.63),
        ("", 0.0),
        ("full avg10=0.00 avg60=0.00 avg300=0.00 total=9\n", 0.0),
    ],
)
@pytest.mark.parametrize("resource", ["cpu", "io"])
def test_pressure_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, resource: str, content: str, stalled_ms: float
) -> None:
    (tmp_path / resource).write_text(content)
    monkeypatch.setattr(machine, "_PRESSURE", tmp_path)
    assert machine.stalled_ms() == stalled_ms


def test_a_slow_disk_is_granted_on_top_of_a_busy_processor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for resource, total_us in (("cpu", 2_000), ("io", 3_000)):
        (tmp_path / resource).write_text(f"some avg10=0.00 avg60=0.00 avg300=0.00 total={total_us}\n")
    monkeypatch.setattr(machine, "_PRESSURE", tmp_path)
    assert machine.stalled_ms() == 5.0


def test_a_machine_that_does_not_tell_its_pressure_is_taken_for_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "_PRESSURE", tmp_path / "nothing")
    assert machine.stalled_ms() == 0.0


GREEDY = """
import sys
from pathlib import Path

import pytest
held = bytearray(200 << 20)
held[::4096] = b"x" * len(held[::4096])
total = sum(range(3_000_000))
print("ready", flush=True)
sys.stdin.read()
"""

STARTS_ANOTHER = r"""
import subprocess, sys
burns = "import sys, time\nwhile time.process_time() < 0.5: pass\nsys.stdin.read()"
subprocess.run([sys.executable, "-c", burns])
"""


def test_the_memory_and_the_processor_time_of_a_child_count() -> None:
    with Started.python(GREEDY) as child:
        assert child.read_line() == "ready"
        with UsageMeter() as beside:
            pass  # One look at least.
        child.communicate()
    with UsageMeter() as without:
        pass
    assert beside.usage.peak_memory_mb - without.usage.peak_memory_mb > 150
    assert beside.usage.processor_s > without.usage.processor_s
    assert without.usage.peak_memory_mb > 5


def test_the_processor_time_of_what_nobody_waits_for_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "EVERY_S", 0.05)
    own_s = sum(os.times()[:2])

    def of_others_s() -> float:
        return meter.usage.processor_s - (sum(os.times()[:2]) - own_s)

    with UsageMeter() as meter, Started.python(STARTS_ANOTHER):
        assert becomes(lambda: of_others_s() > 0.4, 60)
    assert of_others_s() > 0.4


def test_where_linux_does_not_say_it_no_memory_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "_PROC", tmp_path)
    with UsageMeter() as meter:
        pass
    assert meter.usage.peak_memory_mb == 0.0
