"""Gates in front of writes of checkpoints: a relay between the link of the store and the store holds the request."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from holdfast.fixtures.services.provider import SiteServices
from holdfast.fixtures.services.site import OBJECT_STORE
from holdfast.fixtures.systems.structured_streaming.controls import StreamingSuccession
from holdfast.fixtures.systems.structured_streaming.gates import Gates
from holdfast.fixtures.systems.structured_streaming.system import StructuredStreaming
from holdfast.harness.adapter.links import Links
from holdfast.harness.adapter.network.sockets import LOOPBACK
from holdfast.harness.adapter.relay_process import RelayProcess
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.case import Tier
from holdfast.harness.model.jobs import FORWARD
from holdfast.harness.model.plan import FaultSpec, Gate, Plan, Schedule, WorkloadSpec
from holdfast.harness.model.target import COORDINATOR, STORAGE
from holdfast.harness.spi.service import Site
from holdfast.suites.selfcheck.services.listener import becomes

pytestmark = pytest.mark.tier("process")
LIMIT_S = 30.0
COMMIT, OFFSETS = "/bucket/run/checkpoint/commits/", "/bucket/run/checkpoint/offsets/"
DRIVER = "coordinator.0"


class Store(BaseHTTPRequestHandler):
    """Keeps the paths of what was put."""

    protocol_version = "HTTP/1.1"
    paths: list[str] = []

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.paths.append(self.path)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Any]:
    """A store, with a link in front of it."""
    Store.paths = []
    with ExitStack() as ending, ThreadingHTTPServer((LOOPBACK, 0), Store) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        ending.callback(server.shutdown)
        address = f"{LOOPBACK}:{server.server_port}"
        relay = RelayProcess({OBJECT_STORE: address}, tmp_path, tmp_path / "links.log")
        ending.callback(relay.kill)
        store = SimpleNamespace(external=f"http://{address}")
        yield SimpleNamespace(object_store=store, gateway=LOOPBACK, links=Links(relay), relay=relay)


@pytest.fixture
def gates(stack: Any, tmp_path: Path) -> Iterator[Gates]:
    gates = Gates(stack, "/bucket/run/checkpoint", tmp_path)
    yield gates
    gates.close()


def put(stack: Any, path: str) -> HTTPConnection:
    """A request through the link; its answer is not waited for."""
    connection = HTTPConnection(LOOPBACK, stack.relay.listening[OBJECT_STORE].port, timeout=LIMIT_S)
    connection.request("PUT", path, body=b"content")
    return connection


def answered(connection: HTTPConnection) -> int:
    try:
        return connection.getresponse().status
    finally:
        connection.close()


def reached(gates: Gates) -> list[int]:
    """The gates that are reached next."""
    found: list[int] = []

    def reported() -> bool:
        found.extend(each.gate for each in gates.reached(DRIVER))
        return bool(found)

    assert becomes(reported)
    return found


def test_the_write_that_is_meant_is_held_and_released(gates: Gates, stack: Any) -> None:
    assert gates.arm(Gate("write-commit", COORDINATOR, occurrence=2)) == 0
    assert answered(put(stack, f"{COMMIT}0")) == 200
    held = put(stack, f"{COMMIT}1")
    assert reached(gates) == [0]
    assert answered(put(stack, f"{OFFSETS}2")) == 200
    gates.release(0)
    assert answered(held) == 200
    assert Store.paths == [f"{COMMIT}0", f"{OFFSETS}2", f"{COMMIT}1"]


def test_what_a_dead_driver_has_sent_never_arrives_and_the_next_one_meets_the_other_gate(
    gates: Gates, stack: Any
) -> None:
    assert [gates.arm(Gate(effect, COORDINATOR)) for effect in ("write-commit", "write-offsets")] == [0, 1]
    held = put(stack, f"{COMMIT}0")
    assert reached(gates) == [0]
    gates.drop()
    with pytest.raises((OSError, HTTPException)):
        answered(held)
    assert answered(put(stack, f"{COMMIT}0")) == 200
    again = put(stack, f"{OFFSETS}1")
    assert reached(gates) == [1]
    gates.release(1)
    assert answered(again) == 200
    assert Store.paths == [f"{COMMIT}0", f"{OFFSETS}1"]


def test_a_driver_with_a_successor_loses_a_commit_and_nothing_else(gates: Gates, stack: Any) -> None:
    superseded: list[bool] = []
    query: Any = SimpleNamespace(supersede=lambda: superseded.append(True))
    succession = StreamingSuccession(query, gates)
    for number, effect in enumerate(("write-offsets", "write-commit")):
        gates.arm(Gate(effect, COORDINATOR))
        held = put(stack, f"{(OFFSETS, COMMIT)[number]}1")
        assert reached(gates) == [number]
        succession.supersede()
        gates.release(number)
        if effect == "write-offsets":
            assert answered(held) == 200
        else:
            with pytest.raises((OSError, HTTPException)):
                answered(held)
    assert answered(put(stack, f"{COMMIT}1")) == 200, "it cannot send it once more"
    assert superseded == [True, True]
    assert Store.paths == [f"{OFFSETS}1", f"{COMMIT}1"]


def test_only_a_driver_on_topics_is_held() -> None:
    system = StructuredStreaming()
    system.attach(lambda: SiteServices(Site()))
    held = FaultSpec("supersede", COORDINATOR, Schedule(gate=Gate("write-commit", COORDINATOR)))
    plan = Plan(system="spark", job=FORWARD, workload=WorkloadSpec("synthetic"), faults=(held,))
    in_files = "waits at gate write-commit, and checkpoints are in files, which hold no write back"
    assert in_files in system.objection(plan, Tier.SPARK)
    for tier, options in ((Tier.SPARK, {"source.connector": "kafka"}), (Tier.CONTAINERS, {})):
        assert in_files not in system.objection(replace(plan, options=options), tier)
        assert Capability.GATES in system.capabilities[tier]


def test_a_gate_that_is_released_before_it_is_reached_is_forgotten(gates: Gates, stack: Any) -> None:
    gates.release(gates.arm(Gate("write-commit", COORDINATOR)))
    assert answered(put(stack, f"{COMMIT}0")) == 200
    assert gates.reached(DRIVER) == []


def test_the_link_leads_to_the_store_again_behind_the_end(gates: Gates, stack: Any) -> None:
    gates.arm(Gate("write-commit", COORDINATOR))
    gates.close()
    gates.close()
    assert answered(put(stack, f"{COMMIT}0")) == 200


def test_a_gate_that_is_unknown_is_refused(gates: Gates) -> None:
    for unknown in (Gate("commit", COORDINATOR), Gate("write-commit", STORAGE)):
        with pytest.raises(ValueError, match="the coordinator has write-offsets, write-commit"):
            gates.arm(unknown)
