"""The lanes of a timeline: who lived when, in an order that reads well."""

from __future__ import annotations

import pytest

from holdfast.harness.engine.views.timeline import timeline
from holdfast.harness.model.capability import Claims
from holdfast.harness.model.events import Event, FaultInjected, NodeDied, NodeStarted
from holdfast.harness.model.history import History, RunEnd
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import FaultSpec, Plan, WorkloadSpec
from holdfast.harness.model.records import InputLog, Output
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.selfcheck.faults.scene import BY_KIND, history_of

MS = 1_000_000
Lanes = list[tuple[str, tuple[tuple[float, float], ...]]]


def lanes(*events: Event) -> Lanes:
    plan = Plan(job=KEYED_SUM, workload=WorkloadSpec("synthetic"))
    end = RunEnd(reached=True, ended_ns=1_000 * MS)
    history = History(plan, Claims(), InputLog((), ()), Output(), events, end)
    return [(lane.name, lane.lives) for lane in timeline(history, {}, {}).lanes]


def started(time_ms: int, node: str) -> Event:
    return NodeStarted(node=node, time_ns=time_ms * MS)


def died(time_ms: int, node: str) -> Event:
    return NodeDied(node="harness.0", time_ns=time_ms * MS, dead_node=node, cause="kill")


def test_coordinator_then_workers_then_services() -> None:
    names = ["storage.0", "worker-10.0", "broker.0", "worker-2.0", "coordinator.0", "reader.0", "source.0"]
    found = lanes(*(started(0, name) for name in names))
    assert [name for name, _ in found] == ["coordinator", "worker 2", "worker 10", "broker", "storage"]


def test_a_service_that_was_killed_and_started_again_has_two_lives() -> None:
    found = lanes(started(0, "broker.0"), died(300, "broker.0"), started(450, "broker.1"))
    assert found == [("broker", ((0.0, 300.0), (450.0, 1_000.0)))]


def test_a_service_may_have_stood_before_the_run() -> None:
    found = lanes(started(0, "coordinator.0"), died(300, "storage.0"), started(450, "storage.1"))
    assert found[1:] == [("storage", ((0.0, 300.0), (450.0, 1_000.0)))]


def test_a_worker_that_was_never_seen_has_no_lane() -> None:
    assert lanes(started(0, "coordinator.0"), died(300, "worker-1.0")) == [("coordinator", ((0.0, 1_000.0),))]


@pytest.mark.parametrize(("stamped", "precision"), [(True, "boundary"), (False, "by-time")])
def test_a_fault_whose_effects_do_not_name_it_says_so(*, stamped: bool, precision: str) -> None:
    injected = FaultInjected(fault=0, fault_kind="kill", target="coordinator[0]", stamped=stamped)
    history = history_of(FaultSpec("kill", COORDINATOR), [injected])
    history.end = RunEnd(reached=True, faults_acted=(True,), faults_landed=(True,))
    [band] = timeline(history, BY_KIND, {}).faults
    assert band.precision == precision
