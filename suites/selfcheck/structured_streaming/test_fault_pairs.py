"""Faults of the checkpoint folder and of retention: which pipelines bear them, and which claim each of them refutes."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from holdfast.harness.engine.executor.run import Run
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import JobStatus, JobSwitched
from holdfast.harness.model.jobs import FORWARD
from holdfast.harness.model.plan import Bounds, FaultSpec, Plan, Schedule, WorkloadSpec
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.selfcheck.replaced_runs import assert_passes, counting_run
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
SUPERSEDED = FaultSpec("supersede", COORDINATOR, IN_A_MICRO_BATCH, 500, {"unfinished": 1})

pytestmark = [pytest.mark.nightly, pytest.mark.tier("spark")]


def executed(name: str, fault: FaultSpec, folder: Path) -> Run:
    system = f"spark+{pipelines.__name__}.{name}" if name else "spark"
    plan = replace(PLAN, system=system, faults=(fault,))
    return counting_run(plan, registry.system(system), Tier.SPARK, folder)


def clauses(run: Run) -> set[str]:
    return {f"{verdict.oracle}/{each.clause}" for verdict in run.verdicts for each in verdict.anomalies}


@pytest.mark.parametrize("name", ["", "overwritten_batches"], ids=["file-sink", "overwritten-batches"])
def test_a_second_driver_leaves_output_right_that_has_a_fence_or_is_overwritten(name: str, tmp_path: Path) -> None:
    run = executed(name, SUPERSEDED, tmp_path)
    assert_passes(run)
    former = [event for event in run.history.of(JobSwitched) if event.node == "coordinator.0"]
    assert former[-1].status in (JobStatus.FAILED, JobStatus.CANCELED)


def test_a_second_driver_repeats_what_is_appended(tmp_path: Path) -> None:
    run = executed("appended_always", SUPERSEDED, tmp_path)
    assert run.outcome is Outcome.FAIL
    assert clauses(run) == {"EXACT/row-repeated"}
