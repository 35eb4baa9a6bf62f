"""A slice of what real Flink is held against: a right job that is killed passes, a wrong one is refuted.

`.ci/nightly` puts all questions to the newest version, as `holdfast certify flink` does, and some to an older one.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.fixtures.systems.flink.cluster import end_warm_cluster
from holdfast.fixtures.systems.flink.connectors import AT_ONCE
from holdfast.fixtures.systems.flink.system import Flink
from holdfast.harness.engine.cases.case_run import run_case
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.journal import CaseResult, Status
from holdfast.suites.conformance.flink import CASES

SLICE = ("flink/killed", "flink/keeps-in-field-control")
OVERTAKES = "flink/unaligned-around-the-threshold"
"""Flink 1.20.1 and 2.0.0 let no barrier overtake in front of a sink with a committer, whatever the options are
(FLINK-37870)."""
RESCALED = "flink/rescaling-in-flight-beside-forward"
"""They do not restore at another width where a source has an output of either kind (FLINK-38267). Only behind other
sinks does it show: in front of those with a committer nothing is in flight (see above)."""
OLDER = (*SLICE, OVERTAKES, "flink/savepoints-moved", "flink/state-backends-rocksdb-widths", "flink/recovery-missing")
pytestmark = [pytest.mark.timeout(600), pytest.mark.xdist_group("flink")]


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """The warm one ends with the tests."""
    yield
    end_warm_cluster()


def of(*ids: str) -> list[Case]:
    return [case for case in CASES if case.id in ids]


def outcome(version: str, case: Case, folder: Path, config: pytest.Config) -> CaseResult:
    """Of a case on a version. Where the tier is required, nothing that it needs may be missing."""
    if reason := Flink(version).lacking():
        if Tier.PROCESS in config.getoption("--holdfast-require-tier"):
            pytest.fail(f"tier {Tier.PROCESS} is required, but {reason}", pytrace=False)
        pytest.skip(reason)
    return run_case(Flink(version).name, case, Tier.PROCESS, folder=folder)


def passes(result: CaseResult) -> None:
    assert result.status is Status.PASS, result.reason
    assert set(result.rules.values()) <= {Status.PASS}, result.rule_reasons


@pytest.mark.nightly
@pytest.mark.parametrize("case", of(*SLICE), ids=lambda case: case.id)
@pytest.mark.usefixtures("cluster")
def test_flink_keeps_its_rules_and_a_wrong_job_is_found_out(
    case: Case, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    passes(outcome("", case, tmp_path, pytestconfig))


@pytest.mark.nightly
@pytest.mark.parametrize("case", of(*OLDER), ids=lambda case: case.id)
@pytest.mark.usefixtures("cluster")
def test_so_does_an_older_one(case: Case, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    passes(outcome("1.20", case, tmp_path, pytestconfig))


@pytest.mark.nightly
@pytest.mark.parametrize(("wrong", "mended"), [("1.20.1", "1.20.3"), ("2.0.0", "2.3.0")])
@pytest.mark.parametrize(
    ("bug", "variant", "clause"),
    [(OVERTAKES, "", "CUT/begins-aligned"), (RESCALED, f"+{AT_ONCE}", "LIVE/end-not-reached")],
)
@pytest.mark.usefixtures("cluster")
def test_a_bug_of_an_older_version_is_found_and_its_successor_has_it_no_more(
    bug: str, variant: str, clause: str, wrong: str, mended: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    [case] = of(bug)
    refuted = outcome(f"{wrong}{variant}", case, tmp_path / wrong, pytestconfig)
    assert refuted.status is Status.FAIL
    assert clause in refuted.reason
    passes(outcome(mended, case, tmp_path / mended, pytestconfig))


WITHOUT_FLINK = (__file__, "-m", "nightly", "-k", "keeps_its_rules")


@pytest.mark.parametrize(
    ("required", "code", "outcome"), [((), 0, "2 skipped"), (("--holdfast-require-tier=process",), 1, "2 failed")]
)
def test_a_slice_without_flink(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, required: tuple[str, ...], code: int, outcome: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs", *required, *WITHOUT_FLINK]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout
    assert outcome in done.stdout
    assert "flink is not installed on this machine: run holdfast" in " ".join(done.stdout.split())
