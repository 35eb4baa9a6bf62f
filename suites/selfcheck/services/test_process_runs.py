"""The reference from Kafka to Kafka with checkpoints in an object store, without Docker, judged by the oracles."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from holdfast.fixtures.services.processes.installation import missing
from holdfast.fixtures.services.provider import SiteServices
from holdfast.fixtures.services.site import KAFKA, OBJECT_STORE
from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.plans.validate import check_options, check_plan
from holdfast.harness.engine.site.registry import toolbox
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import AttemptStarted, NodeDied, NodeStarted
from holdfast.harness.model.jobs import FORWARD
from holdfast.harness.model.plan import FaultSpec, Gate, Plan, Schedule
from holdfast.harness.model.target import COORDINATOR, STORAGE, Role, Target
from holdfast.suites.conformance.plans import TOLERANT
from holdfast.suites.selfcheck.connectors.test_runs import LEFT_UNCOVERED, WORKER, kill, plan, refuted
from holdfast.suites.selfcheck.marks import unless
from holdfast.suites.selfcheck.replaced_runs import assert_passes

ABSENT = missing(KAFKA, OBJECT_STORE)
pytestmark = [
    pytest.mark.tier("process"),
    pytest.mark.nightly,
    pytest.mark.timeout(900),
    unless(ABSENT),
]
CONNECTED = {
    "source.connector": "kafka",
    "sink.connector": "kafka",
    "execution.checkpointing.timeout": "5 s",
    **TOLERANT,
}
BROKER = Target(Role.BROKER)
DRAWS = 4


def run(services: SiteServices, chosen: Plan, folder: Path, variant: str = "") -> Run:
    """The first run whose faults landed: one that missed its window says nothing."""
    system = ReferenceSystem(variant)
    system.attach(lambda: services)
    chosen = replace(chosen, system=system.name)
    check_plan(chosen, system, Tier.PROCESS, toolbox())
    check_options(chosen, system)
    for draw in range(DRAWS):
        (folder / str(draw)).mkdir()
        judged = run_plan(chosen, system, toolbox(), Tier.PROCESS, folder / str(draw))
        if all(judged.history.end.faults_landed) or refuted(judged):
            return judged
    pytest.fail(f"no fault landed in {DRAWS} runs: {judged.reason}")


def test_it_is_exactly_once_when_a_worker_and_the_broker_die(services: SiteServices, tmp_path: Path) -> None:
    outage = FaultSpec("outage", BROKER, Schedule(after_checkpoint=4), 1_500)
    chosen = plan(kill(WORKER, 2), outage, records=4_000, options=CONNECTED)
    judged = run(services, chosen, tmp_path)
    assert_passes(judged)
    assert len(judged.history.of(AttemptStarted)) > 1
    assert "broker.0" in {event.dead_node for event in judged.history.of(NodeDied)}
    assert "broker.1" in {event.node for event in judged.history.of(NodeStarted)}
    stack = services.processes
    secrets = stack.object_store.keys.secrets
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(path.name == "kafka.log" for path in kept)
    assert not [path for path in kept if any(secret.encode() in path.read_bytes() for secret in secrets)]
    assert not list(stack.object_store.client().list_objects("holdfast", recursive=True))


@pytest.mark.parametrize("gate", [None, Gate("publish-metadata", COORDINATOR)], ids=["next id", "metadata"])
def test_it_outlives_a_store_that_is_cut_off_and_a_slow_broker(
    gate: Gate | None, services: SiteServices, tmp_path: Path
) -> None:
    """Without a gate, the first thing that it asks of the store is to keep the id of its next checkpoint."""
    cut = FaultSpec("cut", STORAGE, Schedule(after_checkpoint=2, gate=gate), 2_000)
    slow = FaultSpec("slow", BROKER, Schedule(after_checkpoint=4), 1_500, {"delay_ms": 100})
    judged = run(services, plan(cut, slow, records=4_000, options=CONNECTED), tmp_path)
    assert_passes(judged)


def test_commits_on_the_barrier_are_caught(services: SiteServices, tmp_path: Path) -> None:
    chosen = plan(*LEFT_UNCOVERED, job=FORWARD, options={**CONNECTED, "execution.checkpointing.timeout": "2 s"})
    judged = run(services, chosen, tmp_path, "commits-on-barrier")
    assert {"EXACT", "TXN"} <= refuted(judged)
