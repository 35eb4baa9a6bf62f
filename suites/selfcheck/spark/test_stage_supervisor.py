"""The harness' end of a run on Spark, without a Spark: a cluster that starts nothing."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from holdfast.fixtures.reference.drivers.spark.session import Session
from holdfast.fixtures.reference.drivers.spark.stage_supervisor import StageSupervisor
from holdfast.harness.adapter.network.acceptor import TOKEN_BYTES
from holdfast.harness.adapter.network.sockets import LOOPBACK, Address, call
from holdfast.harness.adapter.process import Process

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
    begun: Any = SimpleNamespace(started_ns=0)
    connection = SimpleNamespace(send=lambda kind, payload: welcomed.append(len(led)))
    life: Any = SimpleNamespace(node="worker-1.0", arrived=SimpleNamespace(listens=receiver), connection=connection)
    supervisor._begin = begun
    supervisor._route(life)
    assert supervisor.problem == problem
    assert (led, welcomed) == (([], []) if problem else ([("a", receiver), ("b", receiver)], [2]))
    supervisor.close()
    session.close()
