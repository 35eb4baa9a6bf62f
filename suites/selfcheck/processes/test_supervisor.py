"""The zygote forks and reports every death, the supervisor keeps processes alive, and nothing is left behind."""

from __future__ import annotations

import os
import select
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.fixtures.reference.drivers.gates import ArmGate
from holdfast.fixtures.reference.drivers.processes import supervisor as module
from holdfast.fixtures.reference.drivers.processes.control import ForgeMessage, OpenGate
from holdfast.fixtures.reference.drivers.processes.life import Program, read_log
from holdfast.fixtures.reference.drivers.processes.spawner import Spawner, open_zygote
from holdfast.fixtures.reference.drivers.processes.supervisor import Supervisor
from holdfast.fixtures.reference.drivers.processes.zygote import Ended
from holdfast.harness.adapter.process import Process, descendants, process_stat, stands_still
from holdfast.harness.adapter.recorder import log_path
from holdfast.harness.model.events import CheckpointTriggered, Event, FaultInjected, NodeDied, NodeStarted, TriggerSent
from holdfast.harness.spi.system import GateReached
from holdfast.suites.selfcheck.processes import children
from holdfast.suites.selfcheck.processes.conftest import PRELOAD
from holdfast.suites.selfcheck.soon import ends_within
from holdfast.suites.selfcheck.started import Started

LIMIT_S = 30.0
WORKER = "worker-0"


def counting(supervisor: Supervisor) -> Program:
    return Program(f"{children.PACKAGE}:count", lambda node: f"{supervisor.events_folder}|{node}".encode())


def launch(supervisor: Supervisor, process: str = WORKER) -> None:
    supervisor.launch(process, counting(supervisor))
    take(supervisor, NodeStarted)


def eventually(supervisor: Supervisor, condition: Callable[[], bool]) -> bool:
    """Wait for what a log will show: nothing wakes the supervisor when it does."""
    deadline = time.monotonic() + LIMIT_S
    while not condition() and time.monotonic() < deadline:
        supervisor.turn(0.005)
    return condition()


def take(supervisor: Supervisor, kind: type[Event] | type[GateReached]) -> Event | GateReached:
    """The next happening of a kind; what came before it is dropped."""
    while True:
        assert supervisor.wait_for(lambda: bool(supervisor.happened), LIMIT_S), f"no {kind.__name__}"
        happening = supervisor.happened.popleft()
        if isinstance(happening, kind):
            return happening


def recorded(supervisor: Supervisor, node: str, *, died: bool = False) -> list[Event]:
    return read_log(log_path(supervisor.events_folder, node), died=died)


def counted(supervisor: Supervisor, node: str) -> list[int]:
    return [event.checkpoint for event in recorded(supervisor, node, died=True) if isinstance(event, TriggerSent)]


def test_a_killed_process_gets_another_life(supervisor: Supervisor) -> None:
    launch(supervisor)
    with ends_within(1):
        supervisor.reborn(WORKER).kill()
        assert not supervisor.member(WORKER).alive
        died = take(supervisor, NodeDied)
        assert isinstance(died, NodeDied)
        assert (died.node, died.dead_node, died.cause) == ("harness", "worker-0.0", "kill")
        reborn = take(supervisor, NodeStarted)
    assert isinstance(reborn, NodeStarted)
    assert reborn.node == "worker-0.1"
    assert supervisor.member(WORKER).alive
    assert supervisor.problem == ""


def test_a_process_between_two_lives_is_hit_in_the_next(supervisor: Supervisor) -> None:
    launch(supervisor)
    supervisor.reborn(WORKER).kill()
    supervisor.reborn(WORKER).kill()
    assert supervisor.member(WORKER).node == "worker-0.1"
    supervisor.reborn(WORKER).pause()
    assert supervisor.member(WORKER).node == "worker-0.2"


def test_what_is_dead_for_good_cannot_be_killed(supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Supervisor, "rebirth_limit_s", 0.02)
    supervisor.launch(WORKER, Program(f"{children.PACKAGE}:leave", lambda node: b"", respawns=False))
    assert supervisor.wait_for(lambda: bool(supervisor.problem), LIMIT_S)
    with pytest.raises(OSError, match="worker-0 is dead already"):
        supervisor.reborn(WORKER).kill()
    supervisor.member(WORKER).resume()


def test_a_paused_process_says_nothing_and_goes_on(supervisor: Supervisor) -> None:
    launch(supervisor)
    supervisor.reborn(WORKER).pause()
    assert not supervisor.member(WORKER).alive
    before = counted(supervisor, "worker-0.0")
    supervisor.turn(0.02)
    assert counted(supervisor, "worker-0.0") == before
    supervisor.member(WORKER).resume()
    assert supervisor.member(WORKER).alive
    assert eventually(supervisor, lambda: len(counted(supervisor, "worker-0.0")) > len(before))


def test_a_paused_process_can_be_killed(supervisor: Supervisor) -> None:
    launch(supervisor)
    supervisor.reborn(WORKER).pause()
    supervisor.reborn(WORKER).kill()
    assert isinstance(take(supervisor, NodeDied), NodeDied)


def test_a_gate_holds_in_front_of_the_effect_until_it_is_opened(supervisor: Supervisor) -> None:
    launch(supervisor)
    supervisor.order(WORKER, ArmGate(1, "send-trigger", subtask="", vertex="source", occurrence=3))
    reached = take(supervisor, GateReached)
    assert reached == GateReached(1, "worker-0.0")
    held_at = counted(supervisor, "worker-0.0")
    supervisor.turn(0.02)
    assert counted(supervisor, "worker-0.0") == held_at
    supervisor.send(WORKER, OpenGate(1))
    assert eventually(supervisor, lambda: counted(supervisor, "worker-0.0") > held_at)


def test_a_gate_lets_other_effects_and_subtasks_pass(supervisor: Supervisor) -> None:
    launch(supervisor)
    for order in (
        ArmGate(1, "commit", subtask="", vertex="", occurrence=1),
        ArmGate(2, "send-trigger", subtask="source[1]", vertex="", occurrence=1),
        ArmGate(3, "send-trigger", subtask="", vertex="sink", occurrence=1),
    ):
        supervisor.order(WORKER, order)
    before = counted(supervisor, "worker-0.0")
    assert eventually(supervisor, lambda: len(counted(supervisor, "worker-0.0")) > len(before) + 5)
    assert not any(isinstance(happening, GateReached) for happening in supervisor.happened)


def test_a_process_killed_at_a_gate_has_not_executed_the_effect(supervisor: Supervisor) -> None:
    launch(supervisor)
    supervisor.order(WORKER, ArmGate(1, "send-trigger", subtask="source[0]", vertex="", occurrence=1))
    take(supervisor, GateReached)
    held_at = counted(supervisor, "worker-0.0")
    supervisor.reborn(WORKER).kill()
    take(supervisor, NodeDied)
    assert counted(supervisor, "worker-0.0") == held_at
    take(supervisor, NodeStarted)


def test_a_message_can_be_forged(supervisor: Supervisor) -> None:
    launch(supervisor)
    assert supervisor.order(WORKER, ForgeMessage(1, "acknowledge", {})) == {"forged": "acknowledge"}
    assert eventually(supervisor, lambda: 0 in counted(supervisor, "worker-0.0"))


def test_a_message_is_forged_at_a_gate_and_other_orders_wait(
    supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    launch(supervisor)
    supervisor.order(WORKER, ArmGate(1, "send-trigger", "", "", 1))
    take(supervisor, GateReached)
    assert supervisor.order(WORKER, ForgeMessage(2, "decline", {})) == {"forged": "decline"}
    monkeypatch.setattr(module, "ORDER_LIMIT_S", 0.05)
    with pytest.raises(OSError, match="worker-0 did not answer"):
        supervisor.order(WORKER, ForgeMessage(3, "checkpoint", {}))
    monkeypatch.undo()
    supervisor.send(WORKER, OpenGate(1))
    assert supervisor.order(WORKER, ForgeMessage(4, "checkpoint", {})) == {"forged": "checkpoint"}


def test_a_refused_order_says_why_and_one_to_a_paused_process_fails(
    supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    launch(supervisor)
    with pytest.raises(OSError, match="nonsense cannot be forged"):
        supervisor.order(WORKER, ForgeMessage(1, "nonsense", {}))
    monkeypatch.setattr(module, "ORDER_LIMIT_S", 0.05)
    supervisor.reborn(WORKER).pause()
    with pytest.raises(OSError, match="worker-0 did not answer"):
        supervisor.order(WORKER, ForgeMessage(2, "acknowledge", {}))


def test_stopping_closes_the_logs_whole(supervisor: Supervisor) -> None:
    launch(supervisor, "worker-0")
    launch(supervisor, "worker-1")
    supervisor.stop(["worker-0", "worker-1"])
    assert supervisor.problem == ""
    assert len(recorded(supervisor, "worker-0.0")) >= 1
    assert len(recorded(supervisor, "worker-1.0")) >= 1
    assert not any(isinstance(event, NodeDied) for event in recorded(supervisor, "harness"))


def test_a_process_that_does_not_stop_is_killed_and_said_so(
    supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STOP_LIMIT_S", 0.05)
    launch(supervisor)
    supervisor.reborn(WORKER).pause()
    supervisor.stop([WORKER])
    assert supervisor.problem.startswith("worker-0 did not stop within")
    assert [type(event) for event in recorded(supervisor, "harness")] == [NodeDied]


def test_what_the_harness_did_is_recorded_under_its_own_node(supervisor: Supervisor) -> None:
    supervisor.record([FaultInjected(fault=0, fault_kind="kill", target="worker[0]")])
    (event,) = recorded(supervisor, "harness")
    assert event.node == "harness"
    assert not any(isinstance(happening, CheckpointTriggered) for happening in supervisor.happened)


def test_a_process_that_dies_before_it_registers_is_a_problem(supervisor: Supervisor) -> None:
    supervisor.launch(WORKER, Program(f"{children.PACKAGE}:fail", lambda node: b""))
    assert supervisor.wait_for(lambda: bool(supervisor.problem), LIMIT_S)
    assert supervisor.problem == "worker-0.0 ended before it registered: exit code 1 (RuntimeError: out of luck)."


def test_a_process_that_never_answers_is_a_problem(supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REGISTRATION_LIMIT_S", 0.05)
    supervisor.launch(WORKER, Program(f"{children.PACKAGE}:be_silent", lambda node: b""))
    assert supervisor.wait_for(lambda: bool(supervisor.problem), LIMIT_S)
    assert supervisor.problem.startswith("worker-0.0 did not register within")


def test_a_lost_zygote_is_a_problem(supervisor: Supervisor) -> None:
    launch(supervisor)
    supervisor._zygote.signal(signal.SIGKILL)
    assert supervisor.wait_for(lambda: bool(supervisor.problem), LIMIT_S)
    assert supervisor.problem == "The zygote ended unexpectedly, and every node with it."


def test_closing_ends_everything_paused_and_held_processes_included(tmp_path: Path) -> None:
    supervisor = Supervisor(tmp_path, PRELOAD)
    for process in ("worker-0", "worker-1", "worker-2"):
        launch(supervisor, process)
    supervisor.reborn("worker-1").pause()
    supervisor.order("worker-2", ArmGate(1, "send-trigger", "", "", 1))
    take(supervisor, GateReached)
    pids = [life.pid for life in supervisor._held] + [supervisor._zygote.pid]
    ends = [Process(pid) for pid in pids]
    supervisor.close()
    supervisor.close()
    assert all(end.wait_end(LIMIT_S) for end in ends)


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
from holdfast.harness.adapter.process import process_stat
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


ODD_NAME = "x) Z 1 (y"
RENAMED = f"open('/proc/self/comm', 'w').write({ODD_NAME!r}); print('named', flush=True); input()"


def test_a_name_with_brackets_and_spaces_hides_nothing() -> None:
    with Started.python(RENAMED) as child, closing(Process(child.pid)) as held:
        assert child.read_line() == "named"
        stat = process_stat(child.pid)
        assert stat is not None
        assert (stat.parent, stat.stands_still, held.dead) == (os.getpid(), False, False)
        held.signal(signal.SIGKILL)
        assert held.wait_end(LIMIT_S)
        dead = process_stat(child.pid)  # not reaped yet
        assert dead is not None
        assert (dead.state, dead.start_time, stands_still(child.pid)) == ("Z", stat.start_time, True)
    assert process_stat(child.pid) is None
    assert stands_still(child.pid)
    assert not held.signal(signal.SIGKILL)


def test_descendants_are_children_of_children_too() -> None:
    parent = (
        "import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE)"
    )
    with Started.python(f"{parent}; print(child.pid, flush=True); input(); child.communicate(b'.')") as child:
        grandchild = int(child.read_line())
        below, found = descendants(child.pid), descendants(os.getpid())
        child.communicate("\n", LIMIT_S)
    assert below == [grandchild]
    assert {child.pid, grandchild} <= set(found)
