"""The one loop: what it does in which order, how long it waits, and when it comes back."""

from __future__ import annotations

import time

import pytest

from holdfast.harness.adapter.recorder import Recorder
from holdfast.harness.adapter.stand import Stand
from holdfast.harness.model.events import JobStatus, JobSwitched
from holdfast.harness.spi.controls import Controls

RUNNING = JobSwitched(status=JobStatus.RUNNING)
NEVER_MS = 3_600_000.0


class Scripted(Stand):
    """Whose waits take no time but what they are told to."""

    problem = ""
    due_ms = float("inf")
    longest_wait_ms = 20

    def __init__(self, *, started: bool = True) -> None:
        self._recorder = Recorder()
        self.controls = Controls(self._recorder.acting)
        self.done: list[str] = []
        self.waited_s: list[float] = []
        self.happens_after = 3
        if started:
            self._recorder.start_clock()

    def hear(self) -> None:
        self.done.append("hear")

    def tend(self) -> None:
        self.done.append("tend")

    @property
    def next_ms(self) -> float:
        return self.due_ms

    def wait(self, limit_s: float) -> None:
        self.done.append("wait")
        self.waited_s.append(limit_s)
        if len(self.waited_s) == self.happens_after:
            self._recorder.record("coordinator.0", RUNNING)


def test_it_hears_and_tends_and_waits_until_something_happens() -> None:
    stand = Scripted()
    assert stand.advance(NEVER_MS) == [RUNNING]
    assert stand.done == [*["hear", "tend", "wait"] * 3, "hear", "tend"]
    assert stand.waited_s == [0.02] * 3


def test_what_is_due_ends_a_wait() -> None:
    stand = Scripted()
    stand.due_ms = stand.now_ms + 5
    stand.advance(NEVER_MS)
    assert 0 <= min(stand.waited_s) <= max(stand.waited_s) <= 0.005
    stand.waited_s, stand.due_ms = [], 0.0
    stand.advance(NEVER_MS)
    assert stand.waited_s == [0.0] * 3, "it is overdue"


def test_no_wait_goes_beyond_the_time_that_is_asked_for() -> None:
    stand = Scripted()
    assert stand.advance(stand.now_ms) == []
    assert stand.done == ["hear", "tend"]
    stand.advance(stand.now_ms + 10)
    assert max(stand.waited_s) <= 0.01


def test_the_time_is_up_though_the_clock_of_the_run_has_not_begun() -> None:
    stand = Scripted(started=False)
    stand.happens_after = 0
    began_s = time.monotonic()
    assert stand.advance(30) == []
    assert stand.now_ms == 0
    assert time.monotonic() - began_s >= 0.03


def test_a_problem_is_raised_before_anything_is_done() -> None:
    stand = Scripted()
    stand.problem = "it fell silent."
    with pytest.raises(OSError, match=r"^it fell silent\.$"):
        stand.advance(NEVER_MS)
    assert stand.done == ["hear"]
