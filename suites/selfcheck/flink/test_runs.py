"""A slice of what real Flink is held against: a right job that is killed passes, a wrong one is refuted.

`.ci/nightly` puts all questions to the newest version, as `holdfast certify flink` does, and some to an older one.
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
OLDER = (*SLICE, "flink/savepoints-moved", "flink/state-backends-rocksdb-widths", "flink/recovery-missing")
pytestmark = [pytest.mark.timeout(600), pytest.mark.xdist_group("flink")]


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """The warm one ends with the tests."""
    yield
    end_warm_cluster()


def of(*ids: str) -> list[Case]:
    return [case for case in CASES if case.id in ids]


def passes(version: str, case: Case, folder: Path, config: pytest.Config) -> None:
    """Run a case on a version. Where the tier is required, nothing that it needs may be missing."""
    if reason := Flink(version).lacking():
        if Tier.PROCESS in config.getoption("--require-tier"):
            pytest.fail(f"tier {Tier.PROCESS} is required, but {reason}", pytrace=False)
        pytest.skip(reason)
    result = run_case(Flink(version).name, case, Tier.PROCESS, folder=folder)
    assert result.status is Status.PASS, result.reason
    assert set(result.rules.values()) <= {Status.PASS}, result.rule_reasons


@pytest.mark.parametrize("case", of(*SLICE), ids=lambda case: case.id)
@pytest.mark.usefixtures("cluster")
def test_flink_keeps_its_rules_and_a_wrong_job_is_found_out(
    case: Case, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    passes("", case, tmp_path, pytestconfig)


@pytest.mark.nightly
@pytest.mark.parametrize("case", of(*OLDER), ids=lambda case: case.id)
@pytest.mark.usefixtures("cluster")
def test_so_does_an_older_one(case: Case, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    passes("1.20", case, tmp_path, pytestconfig)
