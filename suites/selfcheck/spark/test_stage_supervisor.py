"""The harness' end of a run on Spark, without a Spark: a cluster that starts nothing."""

from __future__ import annotations

import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import msgspec
import pytest

from holdfast.fixtures.reference.drivers.processes import control
from holdfast.fixtures.reference.drivers.processes.connection import FrameKind, header
from holdfast.fixtures.reference.drivers.processes.life import read_log
from holdfast.fixtures.reference.drivers.spark.cluster import Session
from holdfast.fixtures.reference.drivers.spark.messages import NodeArrived
from holdfast.fixtures.reference.drivers.spark.stage_supervisor import EXECUTOR, PYTHON_WORKER, StageSupervisor
from holdfast.harness.adapter.network.acceptor import TOKEN_BYTES
from holdfast.harness.adapter.network.sockets import LOOPBACK, Address, call
from holdfast.harness.adapter.process import ELSEWHERE, Process
from holdfast.harness.adapter.recorder import HARNESS, log_path
from holdfast.harness.model.events import NodeDied
from holdfast.harness.model.topology import process_of

if TYPE_CHECKING:
    from holdfast.fixtures.reference.drivers.processes.run_context import RunSettings

pytestmark = pytest.mark.tier("process")
LIMIT_S = 30.0


class Nothing:
    """A cluster whose driver program never comes."""

    harness_host = LOOPBACK

    def __init__(self) -> None:
        self.harness: Address | None = None

    def start(self, harness: Address, token: bytes) -> None:
        self.harness = harness

    def ended(self) -> str:
        return "it was never there" if self.harness is None else ""

    def close_program(self) -> None:
        return None

    def process(self, host: str, pid: int) -> Process:
        raise OSError(f"there is no process {pid} on {host}")

    def restart_host(self, host: str) -> None:
        raise OSError(f"{host} is not ours to end")

    def close(self) -> None:
        return None


class Here(Nothing):
    """One whose nodes are processes of this machine; `starts`: of its driver program; `elsewhere`: nobody sees them."""

    starts = 0
    elsewhere = False

    def start(self, harness: Address, token: bytes) -> None:
        super().start(harness, token)
        self.starts += 1

    def process(self, host: str, pid: int) -> Process:
        return Process(pid, ELSEWHERE if self.elsewhere else None)


class Nodes:
    """Those that arrive at a supervisor; each is a process, and so is what it dies with."""

    def __init__(self, folder: Path) -> None:
        self.cluster = Here()
        self.session = Session(self.cluster)
        self.supervisor = StageSupervisor(folder, self.session, {}, no_channel)
        self.supervisor.begin(cast("RunSettings", SimpleNamespace(folder="here")), 0)
        self.processes: list[subprocess.Popen[bytes]] = []
        self.streams: dict[str, socket.socket] = {}

    def arrive(self, node: str) -> list[subprocess.Popen[bytes]]:
        """Its process, and the one that it dies with."""
        assert self.cluster.harness is not None
        both = [subprocess.Popen(["sleep", str(LIMIT_S)]) for _ in range(2)]
        self.processes += both
        self.streams[node] = stream = call(self.cluster.harness, self.session.token, LIMIT_S)
        arrived = NodeArrived("here", node, int(node.rpartition(".")[2]), "", both[0].pid, both[1].pid)
        for message in (arrived, control.Registered()):
            content = msgspec.msgpack.encode(message)
            stream.sendall(header(FrameKind.MESSAGE, len(content)) + content)
        member = self.supervisor.member(process_of(node))
        assert self.supervisor.wait_for(lambda: member.alive and member.node == node, LIMIT_S)
        return both

    def deaths(self) -> list[tuple[str, str]]:
        recorded = read_log(log_path(self.supervisor.events_folder, HARNESS), died=False)
        return [(event.dead_node, event.cause) for event in recorded if isinstance(event, NodeDied)]

    def close(self) -> None:
        self.supervisor.close()
        self.session.close()
        for stream in self.streams.values():
            stream.close()
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[Nodes]:
    made = Nodes(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize(("part", "with_it"), [("", True), (PYTHON_WORKER, False)])
def test_a_node_dies_with_its_executor_and_the_next_one_arrives_by_itself(
    nodes: Nodes, part: str, *, with_it: bool
) -> None:
    node, executor = nodes.arrive("worker-0.1")
    nodes.streams["worker-0.1"].close()
    nodes.supervisor.reborn("worker-0").kill(part)
    assert node.wait(LIMIT_S) == -signal.SIGKILL
    if with_it:
        assert executor.wait(LIMIT_S) == -signal.SIGKILL
    assert executor.poll() is None or with_it
    assert (nodes.deaths(), nodes.supervisor.member("worker-0").alive) == ([("worker-0.1", "kill")], False)
    nodes.arrive("worker-0.3")
    assert (nodes.cluster.starts, nodes.supervisor.problem) == (1, "")


def test_who_stands_still_goes_on_though_it_has_a_successor(nodes: Nodes) -> None:
    nodes.arrive("worker-0.1")
    member = nodes.supervisor.member("worker-0")
    member.pause(EXECUTOR)
    first = member.living()
    nodes.arrive("worker-0.2")
    stood = [first.paused]
    member.resume()
    assert [*stood, first.paused] == [True, False]
    nodes.streams["worker-0.1"].close()
    assert nodes.supervisor.wait_for(lambda: bool(nodes.deaths()), LIMIT_S)
    assert nodes.deaths() == [("worker-0.1", "the end of its stage")]
    assert (member.alive, member.node) == (True, "worker-0.2")


def test_a_node_on_a_machine_of_somebody_else_lives_until_its_connection_ends(nodes: Nodes) -> None:
    nodes.cluster.elsewhere = True
    nodes.arrive("worker-0.1")
    member = nodes.supervisor.member("worker-0")
    for verb in (member.kill, member.pause):
        with pytest.raises(OSError, match="on a machine of somebody else"):
            verb()
    assert (member.alive, nodes.deaths()) == (True, [])
    nodes.streams["worker-0.1"].close()
    assert nodes.supervisor.wait_for(lambda: bool(nodes.deaths()), LIMIT_S)
    assert (member.alive, nodes.deaths()) == (False, [("worker-0.1", "the end of its stage")])


def test_behind_a_killed_coordinator_a_driver_program_is_started(nodes: Nodes) -> None:
    nodes.arrive("coordinator.0")
    nodes.streams["coordinator.0"].close()
    nodes.supervisor.reborn("coordinator").kill()
    assert nodes.supervisor._begin is not None
    assert (nodes.cluster.starts, nodes.supervisor._begin.life, nodes.deaths()) == (2, 1, [("coordinator.0", "kill")])
    nodes.arrive("coordinator.1")
    assert nodes.supervisor.problem == ""


def test_a_coordinator_that_ends_by_itself_ends_the_run(nodes: Nodes) -> None:
    nodes.arrive("coordinator.0")[0].kill()
    nodes.streams["coordinator.0"].close()
    assert nodes.supervisor.wait_for(lambda: bool(nodes.supervisor.problem), LIMIT_S)
    assert nodes.supervisor.problem == "coordinator.0 ended: the driver program gave it up."


def test_a_job_that_has_failed_needs_no_worker(nodes: Nodes) -> None:
    members = [nodes.supervisor.member(process) for process in ("worker-0", "coordinator")]
    assert [each.alive for each in members] == [False, False]
    nodes.supervisor.job_failed = True
    assert [each.alive for each in members] == [True, False]


def no_channel(channel: str, receiver: Address) -> None:
    raise AssertionError(f"{channel} has no relay")


def test_the_end_of_a_run_closes_connections_of_those_who_never_said_who_they_are(tmp_path: Path) -> None:
    session = Session(cluster := Nothing())
    supervisor = StageSupervisor(tmp_path, session, {}, no_channel)
    assert cluster.harness is not None
    with call(cluster.harness, session.token, LIMIT_S) as silent:
        supervisor.turn(LIMIT_S)
        supervisor.close()
        assert silent.recv(1) == b""
    session.close()


def test_who_does_not_say_the_token_of_the_session_is_refused(tmp_path: Path) -> None:
    session = Session(cluster := Nothing())
    supervisor = StageSupervisor(tmp_path, session, {}, no_channel)
    assert cluster.harness is not None
    with call(cluster.harness, bytes(TOKEN_BYTES), LIMIT_S) as stranger:
        supervisor.turn(LIMIT_S)
        assert stranger.recv(1) == b""
    supervisor.close()
    session.close()


@pytest.mark.parametrize("problem", ["", "the relay is silent"])
def test_a_node_is_welcome_when_its_channels_lead_to_it(tmp_path: Path, problem: str) -> None:
    session, receiver = Session(Nothing()), Address(LOOPBACK, 7)
    led: list[tuple[str, Address]] = []
    welcomed: list[int] = []

    def lead(channel: str, to: Address) -> None:
        if problem:
            raise OSError(problem)
        led.append((channel, to))

    supervisor = StageSupervisor(tmp_path, session, {"worker-1": ["a", "b"]}, lead)
    life: Any = SimpleNamespace(
        node="worker-1.0", arrived=SimpleNamespace(listens=receiver), send=lambda message: welcomed.append(len(led))
    )
    supervisor.begin(cast("RunSettings", None), 0)
    supervisor._route(life)
    assert supervisor.problem == problem
    assert (led, welcomed) == (([], []) if problem else ([("a", receiver), ("b", receiver)], [2]))
    supervisor.close()
    session.close()
