"""Faults of the checkpoint folder and of retention: which pipelines bear them, and which claim each of them refutes."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from holdfast.faults.damage import damage
from holdfast.fixtures.services.processes.installation import missing, spark_connectors, wrong_spark
from holdfast.fixtures.services.site import KAFKA
from holdfast.harness.engine.executor.run import Run
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import JobStatus, JobSwitched, RecoveryFailed
from holdfast.harness.model.jobs import FORWARD, KEYED_SUM
from holdfast.harness.model.plan import Bounds, ExpectedEnd, FaultSpec, Gate, Plan, Schedule, WorkloadSpec
from holdfast.harness.model.target import COORDINATOR, SOURCE_SYSTEM
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.selfcheck.marks import on
from holdfast.suites.selfcheck.replaced_runs import assert_passes, counting_run, named_clauses
from holdfast.suites.selfcheck.structured_streaming import pipelines

IN_A_MICRO_BATCH = Schedule(after_checkpoint=1, at_event="checkpoint_triggered")
PLAN = Plan(
    system="spark",
    job=FORWARD,
    workload=WorkloadSpec(
        "synthetic", {"records": 600, "keys": 6, "partitions": 2, "preloaded_percent": 20, "records_per_second": 60}
    ),
    options={"execution.checkpointing.interval": "500 ms"},
    bounds=Bounds(safety_ms=180_000, liveness_ms=180_000, settle_ms=600),
)
TOPIC = {"source.connector": "kafka"}
KILLED = FaultSpec("kill", COORDINATOR, Schedule(after_checkpoint=2))
REMOVED = FaultSpec("truncate", SOURCE_SYSTEM, Schedule(after_checkpoint=2), 500)
"""What the last checkpoint covers."""
REMOVED_UNREAD = FaultSpec("truncate", SOURCE_SYSTEM, Schedule(after_checkpoint=2), 500, {"beyond": 600})
"""Whatever has arrived by then."""
CUT_OFFSETS = damage("metadata", "truncate", 500, after_checkpoint=2)
CHANGED_COMMIT = damage("commit", "flip", 500, after_checkpoint=2)
REMOVED_STATE = damage("state", "remove", 500, after_checkpoint=2)
SUPERSEDED = FaultSpec("supersede", COORDINATOR, IN_A_MICRO_BATCH, 500, {"unfinished": 1})
"""It stops anywhere in a micro-batch. What it writes later depends on where that was."""
SUPERSEDED_BEFORE_COMMIT = replace(
    SUPERSEDED, schedule=Schedule(after_checkpoint=1, gate=Gate("write-commit", COORDINATOR))
)
"""Its output is written, and a second driver does that micro-batch again."""

ON_BOTH = [on(tier) for tier in (Tier.SPARK, Tier.CONTAINERS)]
ABSENT = wrong_spark() or missing(KAFKA, spark_connectors())
FROM_A_TOPIC = [
    on(Tier.SPARK, ABSENT),
    ON_BOTH[1],
]

pytestmark = pytest.mark.nightly


def executed(name: str, folder: Path, *faults: FaultSpec, plan: Plan = PLAN, tier: Tier = Tier.SPARK) -> Run:
    system = f"spark+{pipelines.__name__}.{name}" if name else "spark"
    plan = replace(plan, system=system, faults=faults)
    return counting_run(plan, registry.system(system), tier, folder)


def from_a_topic(tier: Tier) -> Plan:
    """Containers have topics by themselves."""
    return PLAN if tier is Tier.CONTAINERS else replace(PLAN, options=PLAN.options | TOPIC)


def assert_bears_a_second_driver(run: Run) -> None:
    assert_passes(run)
    former = [event for event in run.history.of(JobSwitched) if event.node == "coordinator.0"]
    assert former[-1].status in (JobStatus.FAILED, JobStatus.CANCELED)


@pytest.mark.parametrize("tier", ON_BOTH)
@pytest.mark.parametrize("name", ["", "overwritten_batches"], ids=["file-sink", "overwritten-batches"])
def test_a_second_driver_leaves_output_right_that_has_a_fence_or_is_overwritten(
    name: str, tier: Tier, tmp_path: Path
) -> None:
    assert_bears_a_second_driver(executed(name, tmp_path, SUPERSEDED, tier=tier))


@pytest.mark.parametrize("tier", FROM_A_TOPIC)
@pytest.mark.parametrize("name", ["", "overwritten_batches"], ids=["file-sink", "overwritten-batches"])
def test_a_second_driver_may_write_again_what_has_a_fence_or_is_overwritten(
    name: str, tier: Tier, tmp_path: Path
) -> None:
    run = executed(name, tmp_path, SUPERSEDED_BEFORE_COMMIT, plan=from_a_topic(tier), tier=tier)
    assert_bears_a_second_driver(run)


@pytest.mark.parametrize("tier", FROM_A_TOPIC)
def test_a_second_driver_repeats_what_is_appended(tier: Tier, tmp_path: Path) -> None:
    run = executed("appended_always", tmp_path, SUPERSEDED_BEFORE_COMMIT, plan=from_a_topic(tier), tier=tier)
    assert all(run.history.end.faults_landed), run.history.end.fault_troubles or run.reason
    assert run.outcome is Outcome.FAIL
    assert named_clauses(run) == {"EXACT/row-repeated"}


@pytest.mark.parametrize("tier", FROM_A_TOPIC)
def test_records_that_were_read_may_be_removed(tier: Tier, tmp_path: Path) -> None:
    plan = from_a_topic(tier)
    assert_passes(executed("stops_where_records_are_gone", tmp_path, REMOVED, KILLED, plan=plan, tier=tier))


@pytest.mark.parametrize("tier", FROM_A_TOPIC)
@pytest.mark.parametrize("name", ["stops_where_records_are_gone", "reads_past_what_is_gone"])
def test_a_query_stops_where_records_are_gone_that_it_has_not_read(name: str, tier: Tier, tmp_path: Path) -> None:
    plan = replace(from_a_topic(tier), expected_end=ExpectedEnd.FAILED)
    run = executed(name, tmp_path, REMOVED_UNREAD, KILLED, plan=plan, tier=tier)
    if name == "stops_where_records_are_gone":
        assert_passes(run)
        failed = [event for event in run.history.of(JobSwitched) if event.status is JobStatus.FAILED]
        assert "data may have been lost" in failed[-1].reason
    else:
        assert named_clauses(run) == {"LIVE/end-not-reached"}


@pytest.mark.parametrize("tier", ON_BOTH)
@pytest.mark.parametrize("damaged", [CUT_OFFSETS, CHANGED_COMMIT], ids=["offsets", "commit"])
def test_a_query_does_not_go_on_from_a_log_that_it_cannot_read(damaged: FaultSpec, tier: Tier, tmp_path: Path) -> None:
    run = executed("", tmp_path, damaged, KILLED, tier=tier)
    assert_passes(run)
    assert run.history.of(RecoveryFailed)


@pytest.mark.parametrize("tier", ON_BOTH)
def test_a_query_does_not_go_on_without_its_state(tier: Tier, tmp_path: Path) -> None:
    run = executed("", tmp_path, REMOVED_STATE, KILLED, plan=replace(PLAN, job=KEYED_SUM), tier=tier)
    assert_passes(run)
    assert run.history.of(RecoveryFailed)


@pytest.mark.tier("spark")
def test_one_that_begins_anew_loses_records(tmp_path: Path) -> None:
    run = executed("begins_anew", tmp_path, CUT_OFFSETS, KILLED)
    assert run.outcome is Outcome.FAIL
    assert "EXACT/input-missing" in named_clauses(run)
