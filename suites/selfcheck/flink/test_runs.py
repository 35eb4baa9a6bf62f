"""Real Flink: a right job outlives a SIGKILL, and two wrong ones are refuted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.fixtures.services.processes.installation import FLINK, missing
from holdfast.fixtures.systems.flink.cluster import end_standing
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model import profile
from holdfast.harness.model.case import Tier
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Bounds, FaultSpec, Plan, Schedule, WorkloadSpec
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.verdict import Outcome

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(600), pytest.mark.xdist_group("flink")]
SYSTEM = "flink"
OPTIONS = {
    profile.INTERVAL: "200 ms",
    profile.STORAGE: "filesystem",
    profile.DIRECTORY: "file:///checkpoints",
}
RECORDS = {"records": 6_000, "partitions": 2, "records_per_second": 200}


@pytest.fixture(scope="module", autouse=True)
def _cluster() -> Iterator[None]:
    if reason := missing(FLINK):
        pytest.skip(reason)
    yield
    end_standing()


def killed(system: str, folder: Path) -> dict[str, Outcome]:
    """By oracle, what becomes of a job whose worker dies."""
    plan = Plan(
        system=system,
        job=KEYED_SUM,
        options=OPTIONS,
        workload=WorkloadSpec("synthetic", dict(RECORDS)),
        faults=(FaultSpec("kill", Target(Role.WORKER, 0), Schedule(after_checkpoint=3)),),
        bounds=Bounds(safety_ms=60_000, liveness_ms=120_000, settle_ms=500),
    )
    run = run_plan(plan, registry.system(system), registry.toolbox(), Tier.PROCESS, folder)
    assert not run.reason, run.reason
    return {verdict.oracle: verdict.outcome for verdict in run.verdicts}


def test_a_right_job_outlives_a_sigkill(tmp_path: Path) -> None:
    outcomes = killed(SYSTEM, tmp_path)
    assert Outcome.FAIL not in outcomes.values()
    assert {outcomes[name] for name in ("EXACT", "NOLOSS", "LIVE", "RESTORE")} == {Outcome.PASS}


@pytest.mark.parametrize("variant", ["keeps-in-field", "writes-at-once"])
def test_a_wrong_job_is_refuted(variant: str, tmp_path: Path) -> None:
    assert killed(f"{SYSTEM}+{variant}", tmp_path)["EXACT"] is Outcome.FAIL
