"""Faults of wall clocks: how they show, and what proves them."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.fixtures.reference.drivers.controls.newest import WrongClocks
from holdfast.fixtures.reference.drivers.controls.targets import Targets
from holdfast.fixtures.reference.drivers.processes.shared_pages import Clocks
from holdfast.fixtures.reference.drivers.wall_clock import WallClock
from holdfast.harness.model.events import NodeStarted
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.spi.controls import NOBODY, Acting
from holdfast.harness.spi.controls.clock import ClockError
from holdfast.suites.conformance.plans import plan
from holdfast.suites.selfcheck.faults.scene import WORKER, at, emitted, landed

HOUR_MS = 3_600_000
AHEAD, FAST = ClockError(ahead_ms=HOUR_MS), ClockError(percent=1_000)


@pytest.mark.parametrize("kind", ["jump-clock", "skew-clock"])
@pytest.mark.parametrize(
    ("time_ms", "node", "expected"),
    [
        (150, "worker-1.0", True),
        (150, "worker-1.3", True),
        (99, "worker-1.0", False),
        (201, "worker-1.0", False),
        (150, "worker-0.0", False),
        (150, "coordinator.0", False),
    ],
)
def test_a_life_of_the_process_does_something_meanwhile(kind: str, time_ms: float, node: str, expected: bool) -> None:
    assert landed(FaultSpec(kind, WORKER), [emitted(time_ms, node)]) is expected


def test_the_coordinator_has_a_clock_too() -> None:
    assert landed(FaultSpec("jump-clock", COORDINATOR), [at(150, "coordinator.1", NodeStarted())])


@pytest.mark.parametrize(
    ("clock", "shows_ms"),
    [
        (WallClock(), 500),
        (WallClock(300, -200), 300),
        (WallClock(300, percent=1_000), 2_300),
        (WallClock(300, percent=0), 300),
    ],
)
def test_a_clock_shows_what_is_wrong_with_it(clock: WallClock, shows_ms: float) -> None:
    assert clock.reading_ms(500) == pytest.approx(shows_ms)


def test_other_processes_see_what_the_newest_error_makes_of_a_clock(tmp_path: Path) -> None:
    processes, acting, times_ms = ["coordinator", "worker-0", "worker-1"], Acting(), iter((100.0, 200.0, 300.0))
    ours, theirs, chosen = Clocks(tmp_path, processes), Clocks(tmp_path, processes), plan()
    targets = Targets(chosen.job, chosen.topology, 2)
    clocks = WrongClocks(targets, acting, lambda: next(times_ms), ours.set_clock)
    acting.fault = 4
    clocks.mislead(WORKER, AHEAD)
    assert (theirs.of("worker-1"), theirs.by("worker-1")) == (WallClock(100, HOUR_MS), 4)
    acting.fault = 5
    clocks.mislead(WORKER, FAST)
    assert (theirs.of("worker-1"), theirs.by("worker-1")) == (WallClock(200, percent=1_000), 5)
    clocks.correct(WORKER, FAST)
    assert (theirs.of("worker-1"), theirs.by("worker-1")) == (WallClock(300, HOUR_MS), 4)
    acting.fault = 4
    clocks.correct(WORKER, AHEAD)
    assert theirs.of("worker-1") == theirs.of("coordinator") == WallClock()
    assert theirs.by("worker-1") == NOBODY
    assert clocks.right(WORKER, AHEAD)
