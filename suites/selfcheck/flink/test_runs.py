"""Real Flink, by night: each rule that it is held against, and wrong jobs that are refuted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.fixtures.services.processes.installation import FLINK, missing
from holdfast.fixtures.systems.flink.cluster import end_warm_cluster
from holdfast.harness.engine.cases.case_run import run_case
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.journal import Status
from holdfast.suites.conformance.flink import CASES

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(600), pytest.mark.xdist_group("flink")]


@pytest.fixture(scope="module", autouse=True)
def _cluster() -> Iterator[None]:
    if reason := missing(FLINK):
        pytest.skip(reason)
    yield
    end_warm_cluster()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_flink_keeps_its_rules_and_wrong_jobs_are_found_out(case: Case, tmp_path: Path) -> None:
    result = run_case("flink", case, Tier.PROCESS, folder=tmp_path)
    assert result.status is Status.PASS, result.reason
    assert set(result.rules.values()) <= {Status.PASS}, result.rule_reasons
