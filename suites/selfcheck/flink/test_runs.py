"""A slice of what real Flink is held against: a right job that is killed passes, a wrong one is refuted.

`.ci/nightly` puts all questions, as `holdfast certify flink` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.fixtures.systems.flink.cluster import end_warm_cluster
from holdfast.fixtures.systems.flink.system import Flink
from holdfast.harness.engine.cases.case_run import run_case
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.journal import Status
from holdfast.suites.conformance.flink import CASES

SLICE = ("flink/killed", "flink/keeps-in-field-control")
pytestmark = [pytest.mark.timeout(600), pytest.mark.xdist_group("flink")]


@pytest.fixture(scope="module", autouse=True)
def _cluster(pytestconfig: pytest.Config) -> Iterator[None]:
    """The warm one ends with the tests. Where the tier is required, nothing that it needs may be missing."""
    if reason := Flink().lacking():
        if Tier.PROCESS in pytestconfig.getoption("--require-tier"):
            pytest.fail(f"tier {Tier.PROCESS} is required, but {reason}", pytrace=False)
        pytest.skip(reason)
    yield
    end_warm_cluster()


@pytest.mark.parametrize("case", [case for case in CASES if case.id in SLICE], ids=lambda case: case.id)
def test_flink_keeps_its_rules_and_a_wrong_job_is_found_out(case: Case, tmp_path: Path) -> None:
    result = run_case("flink", case, Tier.PROCESS, folder=tmp_path)
    assert result.status is Status.PASS, result.reason
    assert set(result.rules.values()) <= {Status.PASS}, result.rule_reasons
