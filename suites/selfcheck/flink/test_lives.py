"""Lives of Flink's processes, and what is heard of them, as the harness records both."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from holdfast.fixtures.systems.flink import hearing
from holdfast.fixtures.systems.flink.cluster import MASTER, Cluster
from holdfast.fixtures.systems.flink.hearing import Hearing
from holdfast.fixtures.systems.flink.lives import Lives
from holdfast.fixtures.systems.flink.log import Line
from holdfast.fixtures.systems.flink.master_log import MasterLog
from holdfast.fixtures.systems.flink.stored import StoredCheckpoints
from holdfast.harness.adapter.recorder import Recorder
from holdfast.harness.model.events import JobSwitched
from holdfast.harness.model.target import COORDINATOR, Role, Target
from holdfast.suites.selfcheck.flink.scripted import ScriptedLog

WORKER = Target(Role.WORKER, 0)
JOB = "0" * 32


class Machine:
    """A process of the operating system, in name."""

    def __init__(self) -> None:
        self.dead = False
        self.paused = False

    def end(self) -> int:
        self.dead = True
        return -9

    def pause(self) -> None:
        assert not self.dead, "its number may be another's"
        self.paused = True

    def resume(self) -> None:
        assert not self.dead, "its number may be another's"
        self.paused = False


def lives(hear: Callable[[Lives], None] = lambda _: None) -> Lives:
    """Of a JobManager and two TaskManagers, the first of which has the worker's subtasks."""
    names = (MASTER, "taskmanager-0", "taskmanager-1")
    processes = {name: SimpleNamespace(name=name, life=Machine(), alive=True) for name in names}
    cluster = cast("Cluster", SimpleNamespace(processes=processes, recovers=True))
    made = Lives(cluster, Recorder(), lambda: hear(made), lambda: None)
    made.deployed(WORKER, "taskmanager-0")
    return made


def test_a_worker_that_moved_before_its_old_host_is_buried_has_the_new_one() -> None:
    made = lives(hear=lambda all_of_them: all_of_them.deployed(WORKER, "taskmanager-1"))
    made.kill(WORKER)
    assert made.host(WORKER).name == "taskmanager-1"
    assert not made.down
    assert made.node(WORKER) == "worker-0.1"


def test_a_worker_whose_host_died_runs_nowhere() -> None:
    made = lives()
    made.kill(WORKER)
    assert made.down
    with pytest.raises(OSError, match="runs nothing"):
        made.host(WORKER)


def test_the_dead_are_not_signalled() -> None:
    made = lives()
    made.kill(COORDINATOR)
    with pytest.raises(OSError, match=r"coordinator\[0\] is dead"):
        made.pause(COORDINATOR)


def test_a_stop_between_two_looks_at_the_clocks_moves_no_event(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of an event is that of its line, however late it is heard."""
    stops_ms = itertools.cycle((50, 0, 50, 0, 0))
    began_ns = 10**17
    late_ns = 0

    def time_ns() -> int:
        nonlocal late_ns
        taken_ns = 10**18 + began_ns + late_ns
        late_ns += next(stops_ms) * 10**6
        return taken_ns

    clocks = SimpleNamespace(time_ns=time_ns, monotonic_ns=lambda: began_ns + late_ns)
    monkeypatch.setattr(hearing, "time", clocks)
    log = ScriptedLog()
    process = SimpleNamespace(name=MASTER, log=log, life=Machine())
    cluster = cast("Cluster", SimpleNamespace(processes={MASTER: process}))
    recorder = Recorder()
    recorder.start_clock()
    logs = Hearing(cluster, recorder, lambda event: None)
    made = Lives(cluster, recorder, logs.hear, lambda: None)
    logs.follow(MasterLog(JOB, StoredCheckpoints(Path("/nowhere"), Path("/savepoints"), JOB)), made)
    restarting = f"Job r1 ({JOB}) switched from state RUNNING to RESTARTING."
    for after_ms in (0, 7):
        log.written.append(Line(t=(10**18 + began_ns) / 1e6 + after_ms, c="o.ExecutionGraph", m=restarting))
        logs.hear()
        late_ns += 10**9
    first, second = (event for event in recorder.nodes["coordinator.0"] if isinstance(event, JobSwitched))
    assert first.time_ns == pytest.approx(recorder.since_start_ns(began_ns), abs=1000)
    assert second.time_ns - first.time_ns == pytest.approx(7 * 10**6, abs=1000)


def test_who_was_paused_goes_on_though_its_subtasks_are_elsewhere_by_now() -> None:
    made = lives()
    paused = made.host(WORKER)
    made.pause(WORKER)
    made.deployed(WORKER, "taskmanager-1")
    made.resume(WORKER)
    made.resume(WORKER)
    assert not paused.life.paused


def test_the_dead_do_not_go_on() -> None:
    made = lives()
    made.pause(WORKER)
    made.kill(WORKER)
    made.resume(WORKER)
