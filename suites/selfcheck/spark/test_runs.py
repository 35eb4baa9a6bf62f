"""The reference runtime in the tasks of a barrier stage: judged by the oracles, broken on purpose."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.engine.errors import NotApplicable
from holdfast.harness.engine.plans.validate import check_plan
from holdfast.harness.engine.site.registry import toolbox
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import (
    AttemptStarted,
    FailureCounted,
    NodeDied,
    NodeStarted,
    RestartScheduled,
    RowsVisible,
    StorageListed,
    StorageObserved,
    SubtaskAudited,
)
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec, Gate, Plan, Topology
from holdfast.harness.model.target import COORDINATOR, STORAGE, Role, Target
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.selfcheck.replaced_runs import assert_passes, named_clauses
from holdfast.suites.selfcheck.spark.plans import OTHER_WORKER, WORKER, after, plan, run

pytestmark = pytest.mark.tier("spark")
EXECUTOR: dict[str, int | str] = {"part": "executor"}
STORAGE_ERROR: dict[str, int | str] = {"operation": "publish-metadata", "occurrences": 1, "after_effect": 1}
LATE_WORKER = {"heartbeat.interval": "100 ms", "heartbeat.timeout": "600 ms"}


@pytest.mark.nightly
def test_one_run_after_the_other_begins_afresh_in_the_same_driver_program(tmp_path: Path) -> None:
    for number in range(2):
        judged = run(plan(), tmp_path / str(number))
        assert_passes(judged)
        history = judged.history
        assert [event.name for event in history.of(RowsVisible)] == [unit.name for unit in history.output.units]
        assert history.output.units
        assert len(history.of(AttemptStarted)) == 1
        started = {event.node for event in history.of(NodeStarted)}
        assert started == {"coordinator.0", "worker-0.0", "worker-1.0", "reader.0"}
        assert not history.of(NodeDied)
        assert history.of(SubtaskAudited)
        assert history.of(StorageListed)
        assert history.of(StorageObserved)


@pytest.mark.parametrize(
    "fault",
    [
        FaultSpec("pause", WORKER, after(2), duration_ms=300),
        FaultSpec("pause", COORDINATOR, after(2), duration_ms=300),
        FaultSpec("cut", Target(Role.CHANNEL, 1), after(2), duration_ms=400),
        FaultSpec("reset", Target(Role.CHANNEL, 2), after(2)),
        FaultSpec("storage-error", STORAGE, after(2), duration_ms=2_000, parameters=STORAGE_ERROR),
        FaultSpec("forge", Target(Role.TASK), after(2), parameters={"message": "acknowledge", "subtask": "sum[0]"}),
        FaultSpec("kill", OTHER_WORKER, after(1, Gate("acknowledge", OTHER_WORKER, vertex="sink"))),
        FaultSpec("kill", WORKER, after(1, Gate("during-pre-commit", WORKER))),
    ],
    ids=lambda fault: f"{fault.kind}-{fault.target}-{fault.schedule.gate.effect if fault.schedule.gate else ''}",
)
@pytest.mark.nightly
def test_it_survives_faults_of_other_kinds(tmp_path: Path, fault: FaultSpec) -> None:
    """Beside those of suites/conformance/spark.py: dead Python workers, a dead driver program, a slow channel."""
    assert_passes(run(plan(fault), tmp_path))


def test_a_lost_task_ends_its_stage_and_the_next_stage_has_a_higher_epoch(tmp_path: Path) -> None:
    killed = FaultSpec("kill", WORKER, after(2), parameters=EXECUTOR)
    judged = run(plan(killed), tmp_path)
    assert_passes(judged)
    history = judged.history
    died = {event.dead_node: event.cause for event in history.of(NodeDied)}
    assert died == {"worker-0.0": "kill", "worker-1.0": "the end of its stage"}
    assert {"worker-0.1", "worker-1.1"} <= {event.node for event in history.of(NodeStarted)}
    assert len(history.of(FailureCounted)) == 1, "the loss of one stage is one failure"
    (scheduled,) = history.of(RestartScheduled)
    assert scheduled.delay_ms == 50
    arrivals = [event.time_ns for event in history.of(NodeStarted) if event.node.endswith("-0.1")]
    assert all(arrival >= scheduled.time_ns + 50e6 for arrival in arrivals), "resubmitted before the delay was over"


@pytest.mark.nightly
def test_another_life_of_the_driver_program_goes_on_with_a_higher_epoch(tmp_path: Path) -> None:
    killed = FaultSpec("kill", COORDINATOR, after(1, Gate("during-publish-metadata", COORDINATOR)))
    judged = run(plan(killed), tmp_path)
    assert_passes(judged)
    started = {event.node for event in judged.history.of(NodeStarted)}
    assert {"coordinator.0", "coordinator.1", "worker-0.0", "worker-0.1"} <= started


@pytest.mark.nightly
def test_a_job_that_failed_is_never_submitted_again(tmp_path: Path) -> None:
    killed = FaultSpec("kill", WORKER, after(1), parameters=EXECUTOR)
    none = {"restart-strategy.type": "none"}
    judged = run(plan(killed, options=none, expected_end=ExpectedEnd.FAILED), tmp_path)
    assert_passes(judged)
    workers = {event.node for event in judged.history.of(NodeStarted) if event.node.startswith("worker")}
    assert workers == {"worker-0.0", "worker-1.0"}


@pytest.mark.nightly
def test_a_worker_that_was_given_up_while_it_stood_still_harms_nobody(tmp_path: Path) -> None:
    paused = FaultSpec("pause", WORKER, after(2), duration_ms=2_000)
    judged = run(plan(paused, options=LATE_WORKER), tmp_path)
    assert_passes(judged)
    assert "no heartbeat for 600 ms" in judged.history.of(FailureCounted)[0].cause
    assert "worker-0.0" in {event.dead_node for event in judged.history.of(NodeDied)}


@pytest.mark.parametrize(
    ("variant", "fault"),
    [
        pytest.param(
            "G1",
            FaultSpec("kill", COORDINATOR, after(2, Gate("during-publish-metadata", COORDINATOR))),
            marks=pytest.mark.nightly,
        ),
        ("source-repeats-one", FaultSpec("kill", WORKER, after(2), parameters=EXECUTOR)),
    ],
)
def test_mutants_are_refuted_on_spark_too(tmp_path: Path, variant: str, fault: FaultSpec) -> None:
    """G1 writes metadata in place: killed in the middle, it takes the torn piece for a checkpoint."""
    assert run(plan(fault), tmp_path, variant).outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("variant", "clause"),
    [
        ("completes-unpublished", "COORD/published-not-stored"),
        ("names-unwritten", "REACH/named-not-stored"),
        ("reports-deletions", "RETAIN/deleted-still-stored"),
    ],
)
@pytest.mark.share(2)
def test_statements_about_the_storage_are_compared_with_it(tmp_path: Path, variant: str, clause: str) -> None:
    judged = run(plan(), tmp_path, variant)
    named = named_clauses(judged)
    assert clause in named


@pytest.mark.parametrize(
    ("chosen", "sentence"),
    [
        (plan(topology=Topology(3)), "it wants 3 workers, and Spark has executors for 2"),
        (plan(FaultSpec("kill", WORKER, after(1), parameters={"part": "container"})), "it aims at a container"),
    ],
    ids=["wide", "container"],
)
def test_what_local_spark_cannot_do_is_not_applicable(chosen: Plan, sentence: str) -> None:
    with pytest.raises(NotApplicable, match=sentence):
        check_plan(chosen, ReferenceSystem(), Tier.SPARK, toolbox())


LIMIT_S = 600


@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S)
def test_a_certification_on_spark_leaves_no_temporary_file(tmp_path: Path) -> None:
    """Libraries that Java unpacks were left, ten for each certificate."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    present = os.environ
    environment = {
        **present, "TMPDIR": str(temporary), "JAVA_TOOL_OPTIONS": f"-Djava.io.tmpdir={temporary} -XX:-UsePerfData"
    }  # fmt: skip
    command = [sys.executable, "-m", "holdfast.harness.cli", "certify", "reference", "--tier", "spark", "--area", "REC"]
    done = subprocess.run(
        [*command, "--out", str(tmp_path / "out")], env=environment, capture_output=True, text=True, timeout=LIMIT_S
    )
    assert "PARTIAL on spark  reference" in done.stdout, done.stdout[-4000:] + done.stderr[-4000:]
    assert [path.name for path in temporary.iterdir()] == []
