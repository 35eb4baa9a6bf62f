"""The reference runtime on real processes, between a real broker and a real object store, judged by the oracles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from holdfast.faults.storage import slow_storage
from holdfast.fixtures.reference.drivers.processes.deployment import ProcessDeployment
from holdfast.fixtures.reference.drivers.processes.surroundings import RunServices
from holdfast.fixtures.systems.reference import ReferenceSystem, variant_named
from holdfast.harness.engine.executor.run import Run
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import (
    AttemptStarted,
    CheckpointCompleted,
    CommitFailed,
    Event,
    StorageFailed,
    StorageObserved,
)
from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import COMMON_JOBS, FORWARD, KEYED_SUM
from holdfast.harness.model.plan import Bounds, FaultSpec, Gate, Plan, Schedule, Topology, WorkloadSpec
from holdfast.harness.model.records import InputLog
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.spi.system import Deployment, GateReached
from holdfast.suites.selfcheck.connectors.conftest import connectors_of
from holdfast.suites.selfcheck.connectors.test_delivery_guarantee import exactly_once_clauses
from holdfast.suites.selfcheck.replaced_runs import assert_passes, counting_run, named_clauses

if TYPE_CHECKING:
    from holdfast.fixtures.services.stack import Stack

pytestmark = pytest.mark.tier("containers")
COORDINATOR, WORKER, OTHER_WORKER = Target(Role.COORDINATOR), Target(Role.WORKER, 0), Target(Role.WORKER, 1)
OPTIONS = {
    "execution.checkpointing.interval": "400 ms",
    "execution.checkpointing.min-pause": "400 ms",
    "execution.checkpointing.timeout": "2 s",
    "execution.checkpointing.data-inline-threshold": "100 b",
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.attempts": "50",
    "restart-strategy.fixed-delay.delay": "50 ms",
    "source.max-batch-records": "50",
}
"""A checkpoint that follows a late one at once covers no rows: a kill in front of its acknowledgement shows nothing."""
UNREAD_RECORDS = 5_000
"""They arrive for nine seconds: a busy machine reaches a gate within a commit seconds after the second checkpoint."""
Act = Callable[[], None]


def plan(*faults: FaultSpec, job: Job = KEYED_SUM, records: int = 2_500, options: Mapping[str, str] = {}) -> Plan:
    """Records arrive at 500 a second."""
    return Plan(
        job=job,
        topology=Topology(2),
        options={**OPTIONS, **options},
        workload=WorkloadSpec(
            "synthetic", {"records": records, "records_per_second": 250, "partitions": 2, "preloaded_percent": 10}
        ),
        faults=faults,
        bounds=Bounds(safety_ms=15_000, liveness_ms=40_000, settle_ms=700),
    )


def kill(target: Target, after: int, effect: str = "", vertex: str = "") -> FaultSpec:
    """While rows are visible and input is unread."""
    gate = Gate(effect, target, vertex=vertex) if effect else None
    schedule = Schedule(after_checkpoint=after, after_rows=1, gate=gate)
    return FaultSpec("kill", target, schedule, parameters={"unread": 1})


FLUSHED = kill(OTHER_WORKER, 1, "acknowledge", "sink")
"""The rows of a checkpoint are with the sink system, and it will never complete."""


class Interrupted(ProcessDeployment):
    """Acts once a number of checkpoints has completed, and undoes it after a while."""

    after = 2
    for_ms = 4_000
    """Longer than a request may take."""
    act: Act
    undo: Act
    _seen = 0
    _until_ms = 0.0

    def advance(self, until_ms: float) -> Sequence[Event | GateReached]:
        happened = super().advance(min(until_ms, self._until_ms) if self._until_ms else until_ms)
        self._seen += sum(isinstance(each, CheckpointCompleted) for each in happened)
        if self._seen >= self.after and not self._until_ms:
            self.act()
            self._until_ms = self.now_ms + self.for_ms
        if self._until_ms and self.now_ms >= self._until_ms:
            self.undo()
            self._until_ms = float("inf")
        return happened


class Connected(ReferenceSystem):
    """The reference runtime with connectors. `interruption`: what to do to a service in the middle, and its undo."""

    def __init__(self, stack: Stack, variant: str = "", interruption: tuple[Act, Act] | None = None) -> None:
        super().__init__(variant)
        self.stack = stack
        self.interruption = interruption

    def deploy(self, plan: Plan, inputs: InputLog, tier: Tier, folder: Path | None) -> Deployment:
        assert folder is not None
        connectors = replace(connectors_of(self.stack), input_partitions=len(inputs.partitions))
        services = RunServices(connectors=connectors, inner_connectors=connectors)
        kind: type[ProcessDeployment] = ProcessDeployment
        if self.interruption is not None:
            act, undo = self.interruption
            kind = type("Kind", (Interrupted,), {"act": staticmethod(act), "undo": staticmethod(undo)})
        configuration = self.parts.configure(plan)
        return kind(plan, inputs, variant_named(self.parts.name), configuration, folder, services=services)


def run(system: Connected, plan: Plan, folder: Path) -> Run:
    """The first run that counts: one that missed its window says nothing."""
    judged = counting_run(plan, system, Tier.PROCESS, folder)
    assert judged.history.output.units
    return judged


def refuted(judged: Run) -> set[str]:
    return {verdict.oracle for verdict in judged.verdicts if verdict.outcome is Outcome.FAIL}


@pytest.mark.parametrize("job", COMMON_JOBS.values(), ids=COMMON_JOBS)
def test_an_undisturbed_run_passes_and_leaves_nothing(stack: Stack, job: Job, tmp_path: Path) -> None:
    from confluent_kafka.admin import AdminClient

    judged = run(Connected(stack), plan(job=job), tmp_path)
    assert_passes(judged)
    assert judged.history.of(StorageObserved)
    topics = AdminClient({"bootstrap.servers": stack.kafka.external}).list_topics(timeout=10).topics
    assert not [topic for topic in topics if topic.startswith("holdfast-")]
    assert not list(stack.object_store.client().list_objects("holdfast", recursive=True))
    keys = stack.object_store.keys
    for file in (path for path in tmp_path.rglob("*") if path.is_file()):
        content = file.read_bytes()
        assert keys.secret_key.encode() not in content
        assert keys.access_key.encode() not in content


@pytest.mark.parametrize(
    "faults",
    [
        pytest.param((kill(WORKER, 2),), marks=pytest.mark.nightly),
        pytest.param((kill(COORDINATOR, 2),), marks=pytest.mark.nightly),
        pytest.param((kill(OTHER_WORKER, 2, "commit"),), marks=pytest.mark.nightly),
        (kill(OTHER_WORKER, 2, "during-commit"),),
        pytest.param((kill(COORDINATOR, 2, "notify"),), marks=pytest.mark.nightly),
        (FLUSHED,),
        (kill(WORKER, 1), kill(COORDINATOR, 2), kill(OTHER_WORKER, 3)),
    ],
    ids=["worker", "coordinator", "commit", "during-commit", "notify", "flushed", "all"],
)
def test_it_is_exactly_once_whoever_dies(stack: Stack, faults: tuple[FaultSpec, ...], tmp_path: Path) -> None:
    judged = run(Connected(stack), plan(*faults, records=UNREAD_RECORDS), tmp_path)
    assert_passes(judged)
    assert len(judged.history.of(AttemptStarted)) > 1


@pytest.mark.parametrize(
    ("variant", "faults", "clause"),
    [
        ("names-unwritten", (), "REACH/named-not-stored"),
        pytest.param("completes-unpublished", (), "COORD/published-not-stored", marks=pytest.mark.nightly),
        pytest.param("reports-deletions", (), "RETAIN/deleted-still-stored", marks=pytest.mark.nightly),
        pytest.param("precommits-in-part", (kill(WORKER, 1),), "TXN/rows-differ", marks=pytest.mark.nightly),
        pytest.param(
            "reports-recovered",
            (kill(OTHER_WORKER, 2, "commit"),),
            "TXN/committed-not-visible",
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_statements_about_store_and_broker_are_compared_with_them(
    stack: Stack, variant: str, faults: tuple[FaultSpec, ...], clause: str, tmp_path: Path
) -> None:
    judged = run(Connected(stack, variant), plan(*faults), tmp_path)
    named = named_clauses(judged)
    assert clause in named


@pytest.mark.nightly
def test_it_outlives_the_broker(stack: Stack, tmp_path: Path) -> None:
    broker = (stack.kafka.down, stack.kafka.up)  # type: ignore[union-attr]
    judged = run(Connected(stack, interruption=broker), plan(records=2_500), tmp_path)
    assert_passes(judged)


def test_it_outlives_a_store_that_is_silent(stack: Stack, tmp_path: Path) -> None:
    """Checkpoints and recoveries fail meanwhile."""
    store = (stack.object_store.pause, stack.object_store.resume)  # type: ignore[union-attr]
    system = Connected(stack, interruption=store)
    judged = run(system, plan(records=3_000), tmp_path)
    assert_passes(judged)
    failed = judged.history.of(StorageFailed)
    assert failed
    assert not any(failure.injected for failure in failed)


def test_at_least_once_loses_nothing_and_is_not_exactly_once(stack: Stack, tmp_path: Path) -> None:
    chosen = plan(FLUSHED, job=FORWARD, options={"sink.delivery-guarantee": "at-least-once"})
    judged = run(Connected(stack), chosen, tmp_path)
    assert_passes(judged)
    assert "row-repeated" in exactly_once_clauses(judged.history)


def test_a_refused_commit_is_taken_up_by_the_next_attempt(stack: Stack, tmp_path: Path) -> None:
    parameters: dict[str, int | str] = {"operation": "commit", "occurrences": 1, "after_effect": 1}
    fault = FaultSpec("storage-error", Target(Role.STORAGE), Schedule(after_checkpoint=2), 5_000, parameters)
    judged = run(Connected(stack), plan(fault), tmp_path)
    assert_passes(judged)
    assert judged.history.of(CommitFailed)


# --- negative controls ------------------------------------------------------------------------------------------------


LEFT_UNCOVERED = (
    slow_storage("publish-metadata", 1_500, 10_000),
    FaultSpec("kill", COORDINATOR, Schedule(at_event="transaction_committed"), parameters={"unread": 1}),
)
"""Rows are committed while the metadata of the first checkpoint are on their way, and then they never arrive."""
FULL = {"jobmanager.execution.failover-strategy": "full"}
"""So that whoever lives goes back to the last checkpoint, too."""


def test_commits_on_the_barrier_are_caught(stack: Stack, tmp_path: Path) -> None:
    judged = run(Connected(stack, "commits-on-barrier"), plan(*LEFT_UNCOVERED, job=FORWARD), tmp_path)
    assert {"EXACT", "TXN"} <= refuted(judged)


def test_following_group_offsets_is_caught(stack: Stack, tmp_path: Path) -> None:
    """E2E-07. Killed in front of its ack, the source has read what no completed checkpoint covers."""
    judged = run(Connected(stack, "source-follows-group-offsets"), plan(FLUSHED, job=FORWARD, options=FULL), tmp_path)
    assert {"EXACT", "NOLOSS"} <= refuted(judged)


@pytest.mark.parametrize("variant", ["commits-on-barrier", "source-follows-group-offsets"])
def test_without_faults_both_are_right(stack: Stack, variant: str, tmp_path: Path) -> None:
    judged = run(Connected(stack, variant), plan(job=FORWARD), tmp_path)
    assert not refuted(judged) & {"EXACT", "NOLOSS"}
