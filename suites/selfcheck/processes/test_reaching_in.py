"""Whoever finds the ports of a run and connects to them changes nothing in its verdict, and is counted."""

from __future__ import annotations

import os
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

import msgspec
import pytest

from holdfast.faults.network import slow
from holdfast.faults.process import kill
from holdfast.fixtures.reference.drivers.processes.connection import LARGEST_PAYLOAD, FrameKind, header
from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.adapter.process import process_stat
from holdfast.harness.engine.cases.results import run_result
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import ConnectionsRefused
from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import REBALANCE, over_sockets
from holdfast.harness.model.plan import Bounds, Plan, Topology, WorkloadSpec
from holdfast.harness.model.target import Role, Target
from holdfast.suites.selfcheck.replaced_runs import assert_passes, counting_run

pytestmark = pytest.mark.tier("process")
LISTENING = "0A"
POLL_S = 0.02
PATIENCE_S = 0.2
HOLD = 200
OPTIONS = {
    "execution.checkpointing.interval": "100 ms",
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.attempts": "20",
    "restart-strategy.fixed-delay.delay": "20 ms",
}
WORKER = Target(Role.WORKER, 0)
PLAN = Plan(
    job=REBALANCE,
    topology=Topology(2),
    options=OPTIONS,
    workload=WorkloadSpec("synthetic", {"records": 600, "records_per_second": 300, "preloaded_percent": 10}),
    faults=(
        slow(Target(Role.CHANNEL, 0), delay_ms=5),
        kill(WORKER, after_checkpoint=2),
    ),
    bounds=Bounds(safety_ms=5_000, liveness_ms=15_000, settle_ms=100),
)
Knock = Callable[[socket.socket], object]
KNOCKS: dict[str, Knock] = {
    "silent": lambda stream: None,
    "garbage": lambda stream: stream.sendall(os.urandom(4_096)),
    "truncated frame": lambda stream: stream.sendall(header(FrameKind.MESSAGE, 100) + b"x" * 50),
    "huge length": lambda stream: stream.sendall(header(FrameKind.BATCH, LARGEST_PAYLOAD)),
    "request": lambda stream: stream.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 8),
    "reset": lambda stream: stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)),
}


def holders() -> list[Path]:
    """This process, which holds the listening sockets of nodes, and its children: a relay listens itself."""
    processes = (int(path.name) for path in Path("/proc").glob("[0-9]*"))
    stats = {pid: process_stat(pid) for pid in processes}
    children = [pid for pid, stat in stats.items() if stat is not None and stat.parent == os.getpid()]
    return [Path("/proc", str(pid)) for pid in (os.getpid(), *children)]


def listening_ports() -> set[int]:
    """Of these."""
    inodes = set()
    for holder in holders():
        with suppress(OSError):  # It may end meanwhile.
            for descriptor in (holder / "fd").iterdir():
                with suppress(OSError):
                    inodes.add(os.readlink(descriptor).removeprefix("socket:[").removesuffix("]"))
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return {int(row[1].partition(":")[2], 16) for row in rows if row[3] == LISTENING and row[9] in inodes}


class Stranger(threading.Thread):
    """Connects to every port of a run as soon as it is there, in each way and then 200 times more.

    Attributes:
        ports: that it found.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.ports: set[int] = set()
        self.over = threading.Event()
        self._before = listening_ports()

    def run(self) -> None:
        with ExitStack() as held:
            while not self.over.wait(POLL_S):
                for port in listening_ports() - self._before - self.ports:
                    self.ports.add(port)
                    for knock in (*KNOCKS.values(), *[KNOCKS["silent"]] * HOLD):
                        self._knock(port, knock, held)

    def _knock(self, port: int, knock: Knock, held: ExitStack) -> None:
        with suppress(OSError):
            stream = held.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE_S))
            knock(stream)
            if knock is KNOCKS["reset"]:
                stream.close()


@pytest.mark.parametrize("job", [REBALANCE, over_sockets(REBALANCE)], ids=["files", "sockets"])
def test_strangers_change_no_verdict(tmp_path: Path, job: Job) -> None:
    chosen = msgspec.structs.replace(PLAN, job=job)
    stranger = Stranger()
    stranger.start()
    try:
        run = counting_run(chosen, ReferenceSystem(), Tier.PROCESS, tmp_path)
    finally:
        stranger.over.set()
        stranger.join()
    assert_passes(run)
    assert len(stranger.ports) >= 4, "the coordinator's, two workers', the relay's"
    [refused] = run.history.of(ConnectionsRefused)
    assert refused.connections >= len(KNOCKS) + HOLD
    assert run_result(run, "a/case", 0, 0.0).refused_connections == refused.connections


def test_a_run_that_nobody_reaches_into_says_nothing_of_it(tmp_path: Path) -> None:
    run = counting_run(msgspec.structs.replace(PLAN, faults=()), ReferenceSystem(), Tier.PROCESS, tmp_path)
    assert_passes(run)
    assert run.history.of(ConnectionsRefused) == []
