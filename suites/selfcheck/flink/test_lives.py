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
from holdfast.fixtures.systems.flink.hearing import Hearing, Lives
from holdfast.fixtures.systems.flink.log import Line
from holdfast.fixtures.systems.flink.master_log import MasterLog
from holdfast.fixtures.systems.flink.stored import StoredCheckpoints
from holdfast.harness.adapter.controls import MemberProcesses
from holdfast.harness.adapter.recorder import HARNESS, Recorder
from holdfast.harness.model.events import JobSwitched, NodeDied
from holdfast.harness.model.target import COORDINATOR, Role, Target
from holdfast.suites.selfcheck.flink.scripted import ScriptedLog, ScriptedProcess

WORKER = Target(Role.WORKER, 0)
JOB = "0" * 32


class Clocked(Recorder):
    """With a clock that is set by hand."""

    now_ms = 50.0


def lives(hear: Callable[[Lives], None] = lambda _: None, *, recovers: bool = True) -> Lives:
    """Of a JobManager and two TaskManagers, the first of which has the worker's subtasks."""
    processes = {name: ScriptedProcess(name) for name in (MASTER, "taskmanager-0", "taskmanager-1")}
    cluster = cast("Cluster", SimpleNamespace(processes=processes, recovers=recovers))
    made = Lives(cluster, Clocked(), lambda: hear(made), lambda: None)
    made.deployed(WORKER, "taskmanager-0")
    return made


def control(made: Lives) -> MemberProcesses:
    return MemberProcesses(made.host)


def test_a_worker_that_moved_before_its_old_host_is_buried_has_the_new_one() -> None:
    made = lives(hear=lambda all_of_them: all_of_them.deployed(WORKER, "taskmanager-1"))
    control(made).kill(WORKER)
    assert made.host(WORKER).process == "taskmanager-1"
    assert not made.down
    assert made.node(WORKER) == "worker-0.1"


def test_a_worker_whose_host_died_runs_nowhere() -> None:
    made = lives()
    control(made).kill(WORKER)
    assert made.down
    with pytest.raises(OSError, match="runs nothing"):
        made.host(WORKER)


def test_the_dead_are_not_signalled() -> None:
    made = lives()
    control(made).kill(COORDINATOR)
    with pytest.raises(OSError, match="jobmanager is dead already"):
        control(made).pause(COORDINATOR)


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
    cluster = cast("Cluster", SimpleNamespace(processes={MASTER: ScriptedProcess(MASTER, log)}, recovers=False))
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
    processes = control(made)
    processes.pause(WORKER)
    made.deployed(WORKER, "taskmanager-1")
    processes.resume(WORKER)
    processes.resume(WORKER)
    assert paused.alive


def test_the_dead_do_not_go_on() -> None:
    made = lives()
    processes = control(made)
    processes.pause(WORKER)
    processes.kill(WORKER)
    processes.resume(WORKER)


def test_who_died_by_itself_begins_anew_as_the_same_process() -> None:
    made, recorder = lives(), Clocked
    assert (made.node(COORDINATOR), made.node(WORKER)) == ("coordinator.0", "worker-0.0")
    for target in (COORDINATOR, WORKER):
        host = made.host(target)
        host.life.end()
        made.tend()
        assert (host.present, host.next_ms, made.problem) == (None, recorder.now_ms + 100, "")
    made.recorder.now_ms = 150.0  # type: ignore[misc]
    made.tend()
    died = [event for event in made.recorder.nodes[HARNESS] if isinstance(event, NodeDied)]
    assert [(each.dead_node, each.cause, each.by_error) for each in died] == [
        ("coordinator.0", "exit code -9", True),
        ("worker-0.0", "exit code -9", True),
    ]
    assert "coordinator.1" in made.recorder.nodes
    assert "worker-0.1" not in made.recorder.nodes, "its subtasks are deployed first"


@pytest.mark.parametrize("recovers", [True, False])
def test_a_run_ends_with_a_job_manager_that_nobody_takes_over_from(*, recovers: bool) -> None:
    made = lives(recovers=recovers)
    made.host(COORDINATOR).life.end()
    made.tend()
    assert made.problem == ("" if recovers else "Flink's jobmanager ended: That was it.")


def test_a_job_that_is_over_needs_all_processes_and_no_worker() -> None:
    made = lives()
    processes = MemberProcesses(made.host, lambda: made.idle)
    processes.kill(WORKER)
    made.over = True
    assert not processes.alive(WORKER)
    made.recorder.now_ms = 150.0  # type: ignore[misc]
    made.tend()
    assert processes.alive(WORKER)
