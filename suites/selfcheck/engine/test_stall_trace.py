"""How long the processes of a run waited for a processor is measured, and written down stretch by stretch."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from typing import cast

import pytest

from holdfast.harness.engine.executor import stall_trace
from holdfast.harness.engine.executor.stall_trace import LEAST_NS, STRETCH_MS, StallTrace
from holdfast.harness.engine.site.run_delay import RunDelay
from holdfast.harness.model.events import Event, MachineStalled
from holdfast.harness.spi.system import Deployment

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
    delay = RunDelay()
    command = [sys.executable, "-c", BUSY.format(processor=processor)]
    both = [subprocess.Popen(command), subprocess.Popen(command)]
    waited_ns = now_ns = 0
    while any(each.poll() is None for each in both):
        with suppress(subprocess.TimeoutExpired):
            both[0].wait(0.02)
        now_ns += 20 * MS
        waited_ns += delay.grown_ns(now_ns)
    delay.close()
    assert waited_ns >= 100 * MS


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

    def grown_ns(self, now_ns: int) -> int:
        Scripted.calls += 1
        return self.waits_ns[Scripted.calls - 1]


def noted(monkeypatch: pytest.MonkeyPatch, *waits_ns: int, every_ms: float = STRETCH_MS) -> list[Event]:
    monkeypatch.setattr(stall_trace, "RunDelay", Scripted)
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
