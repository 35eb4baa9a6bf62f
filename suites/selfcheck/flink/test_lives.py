"""Lives of Flink's processes, as the harness records them, and faults of the channels between them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from holdfast.fixtures.systems.flink import running_job
from holdfast.fixtures.systems.flink.cluster import MASTER, Cluster
from holdfast.fixtures.systems.flink.links import MovingLinks, objection_to_target
from holdfast.fixtures.systems.flink.log import Line
from holdfast.fixtures.systems.flink.master_log import MasterLog
from holdfast.fixtures.systems.flink.running_job import Hearing, Lives
from holdfast.fixtures.systems.flink.stored import StoredCheckpoints
from holdfast.harness.adapter.controls import MemberProcesses
from holdfast.harness.adapter.links import LinksOfTargets
from holdfast.harness.adapter.recorder import HARNESS, Recorder
from holdfast.harness.model.events import JobSwitched, NodeDied
from holdfast.harness.model.target import COORDINATOR, Role, Target
from holdfast.suites.conformance.flink.links import BETWEEN
from holdfast.suites.conformance.flink.twins import flink
from holdfast.suites.conformance.plans import WORKERS
from holdfast.suites.selfcheck.adapter.test_member import Clocked
from holdfast.suites.selfcheck.flink.scripted import ScriptedLog, ScriptedProcess

WORKER = Target(Role.WORKER, 0)
JOB = "0" * 32


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
    monkeypatch.setattr(running_job, "time", clocks)
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


class Scripted:
    """harness.adapter.links.Links, for which any order is a line."""

    def __init__(self) -> None:
        self.orders: list[tuple[Any, ...]] = []

    def __getattr__(self, verb: str) -> Any:
        return lambda *words: self.orders.append((verb, *words))


def moving(relay: Any, host: Callable[[Target], int]) -> tuple[MovingLinks, LinksOfTargets]:
    """Links that move, and how faults reach them."""
    links = MovingLinks(relay, str, flink(), host)
    return links, LinksOfTargets(lambda target: (links, str(target)))


def test_it_is_undone_where_it_was_done_though_the_sender_runs_elsewhere_now() -> None:
    relay, hosts = Scripted(), [2]
    links, faults = moving(relay, lambda worker: hosts[0] + worker.index)
    faults.cut(BETWEEN, "forward")
    faults.slow(COORDINATOR, 20)
    hosts[0] = 1
    assert not faults.whole(BETWEEN, "cut", "forward")
    faults.restore(BETWEEN, "cut", "forward")
    assert faults.whole(BETWEEN, "cut", "forward")
    links.heal()
    third, coordinator = str(Target(Role.WORKER, 2)), str(COORDINATOR)
    assert relay.orders == [
        ("act", third, "cut", "backward"),
        ("act", coordinator, "slow", 20),
        ("restore", third, "cut", "backward"),
        ("restore", coordinator, "slow", 20),
    ]


def test_equal_faults_that_overlap_are_undone_one_by_one() -> None:
    relay, hosts = Scripted(), [2]
    _, faults = moving(relay, lambda worker: hosts[0] + worker.index)
    faults.cut(BETWEEN)
    hosts[0] = 1
    faults.cut(BETWEEN)
    faults.restore(BETWEEN, "cut", "both")
    assert not faults.whole(BETWEEN, "cut", "both")
    faults.restore(BETWEEN, "cut", "both")
    assert faults.whole(BETWEEN, "cut", "both")
    places = [str(Target(Role.WORKER, index)) for index in (2, 1)]
    acts = [("act", place, "cut", "both") for place in places]
    assert relay.orders == [*acts, *(("restore", place, "cut", "both") for place in places)]


def test_all_faults_are_undone_for_the_next_run() -> None:
    relay = Scripted()
    links, faults = moving(relay, lambda worker: worker.index)
    faults.black_hole(BETWEEN)
    faults.black_hole(BETWEEN)
    links.heal()
    assert [order[0] for order in relay.orders] == ["act", "act", "restore", "restore"]
    assert faults.whole(BETWEEN, "black-hole")


def test_of_equal_faults_that_which_acts_is_undone_before_that_which_waits() -> None:
    relay, hosts = Scripted(), {0: 1, 1: 2}

    def host(worker: Target) -> int:
        if worker.index not in hosts:
            raise OSError(f"{worker} runs nothing at the moment.")
        return hosts[worker.index]

    _, faults = moving(relay, host)
    faults.slow(BETWEEN, 20)
    hosts.clear()
    faults.slow(BETWEEN, 20)
    faults.restore(BETWEEN, "slow", 20)
    assert [order[0] for order in relay.orders] == ["act", "restore"]
    assert not faults.whole(BETWEEN, "slow", 20)


def test_equal_faults_that_wait_are_forgotten_one_by_one() -> None:
    def nobody(worker: Target) -> int:
        raise OSError(f"{worker} runs nothing at the moment.")

    _, faults = moving(Scripted(), nobody)
    faults.cut(BETWEEN)
    faults.cut(BETWEEN)
    faults.restore(BETWEEN, "cut", "both")
    assert not faults.whole(BETWEEN, "cut", "both")
    faults.restore(BETWEEN, "cut", "both")
    assert faults.whole(BETWEEN, "cut", "both")


def test_it_waits_while_nobody_runs_the_sender_and_is_forgotten_when_it_is_undone_before() -> None:
    relay, hosts = Scripted(), dict[int, int]()

    def host(worker: Target) -> int:
        try:
            return hosts[worker.index]
        except KeyError:
            raise OSError(f"{worker} runs nothing at the moment.") from None

    links, faults = moving(relay, host)
    faults.slow(BETWEEN, 20)
    faults.slow(BETWEEN, 30)
    assert not faults.whole(BETWEEN, "slow", 20)
    faults.restore(BETWEEN, "slow", 30)
    assert relay.orders == []
    hosts[0] = hosts[1] = 2
    links.tend()
    links.tend()
    assert relay.orders == [("act", str(Target(Role.WORKER, 2)), "slow", 20)]
    assert faults.whole(BETWEEN, "slow", 30)


@pytest.mark.parametrize(("channel", "problem"), [(0, "within one"), (1, ""), (2, ""), (3, "within one")])
def test_only_what_leaves_a_task_manager_is_relayed(channel: int, problem: str) -> None:
    found = objection_to_target(flink(), Target(Role.CHANNEL, channel))
    assert problem in found
    assert bool(found) is bool(problem)
    assert not objection_to_target(flink(), WORKERS[0])
