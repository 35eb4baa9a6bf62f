"""A pipeline of somebody else is run once without a fault: what it lacks is said, and only a contract that it violates
is refuted."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from holdfast.harness.engine.cases.case_run import run_case
from holdfast.harness.engine.cases.rehearsal_case import rehearsals
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.journal import CaseResult, Status
from holdfast.suites.selfcheck.structured_streaming import pipelines

FAILED = "without a fault, the job failed: StreamingQueryException: ValueError: there is no exchange rate for EUR$"


def rehearsed(name: str, folder: Path, tier: Tier = Tier.SPARK) -> CaseResult:
    """Of a pipeline beside these tests, or of a file."""
    system = f"spark+{name}" if name.endswith(".py") else f"spark+{pipelines.__name__}.{name}"
    [case] = rehearsals(registry.system(system), tier)
    result = run_case(system, case, tier, folder=folder)
    assert result.runs_passed + result.runs_failed + result.runs_inconclusive >= 1
    return result


def said(result: CaseResult, status: Status, reason: str) -> None:
    assert result.status is status, result.reason
    assert re.match(reason, result.reason), result.reason
    assert (result.runs_failed, result.runs_inconclusive) == ((1, 0) if status is Status.FAIL else (0, 1))


def test_only_pipelines_of_others_are_rehearsed() -> None:
    for name in ("spark", "spark+appends-in-foreach-batch"):
        assert rehearsals(registry.system(name), Tier.SPARK) == ()


@pytest.mark.tier("spark")
@pytest.mark.nightly
def test_output_that_is_never_written_is_missing(tmp_path: Path) -> None:
    said(
        rehearsed("never_written", tmp_path),
        Status.INCONCLUSIVE,
        r"no output was seen, though the query committed \d+ micro-batches with input: folder \S+/output was looked at",
    )


@pytest.mark.tier("spark")
def test_a_contract_that_is_not_met_is_refuted(tmp_path: Path) -> None:
    said(
        rehearsed("unmet_contract", tmp_path),
        Status.FAIL,
        "the contract is violated without a fault: EXACT/input-missing",
    )


@pytest.mark.nightly
@pytest.mark.tier("spark")
def test_a_query_that_fails_by_itself_is_not_refuted(tmp_path: Path) -> None:
    said(rehearsed("failing", tmp_path), Status.INCONCLUSIVE, FAILED)


@pytest.mark.nightly
@pytest.mark.tier("spark")
def test_a_checkpoint_elsewhere_is_missing_behind_the_first_micro_batch(tmp_path: Path) -> None:
    """What it does not commit where it belongs is followed by no more input, so there is no second one."""
    said(
        rehearsed("misplaced_checkpoint", tmp_path),
        Status.INCONCLUSIVE,
        r"no checkpoint was written in file:\S+, and the query has finished a micro-batch: it keeps its checkpoint "
        "elsewhere; ",
    )


@pytest.mark.nightly
@pytest.mark.tier("spark")
@pytest.mark.parametrize("name", ["local_checkpoint", "sessions_right", "nested_right", "inserted_rows"])
def test_a_right_one_goes_on(name: str, tmp_path: Path) -> None:
    result = rehearsed(name, tmp_path)
    assert result.runs_passed or "reader-too-slow" in result.reason, result.reason


@pytest.mark.nightly
@pytest.mark.tier("containers")
def test_a_checkpoint_on_a_local_disk_is_missing_among_containers(tmp_path: Path) -> None:
    said(
        rehearsed("local_checkpoint", tmp_path, Tier.CONTAINERS),
        Status.INCONCLUSIVE,
        r"no checkpoint was written in s3a://\S+, and the query cannot write one where it wants to .*: it keeps its "
        "checkpoint elsewhere; ",
    )
    [log] = tmp_path.rglob("driver.log")  # Though the driver program lives on, for the next run
    assert "Spark" in log.read_text()


@pytest.mark.nightly
@pytest.mark.tier("containers")
def test_what_the_image_lacks_is_named(tmp_path: Path) -> None:
    """The machine of the tests has it."""
    path = tmp_path / "orders.py"
    text = Path(import_module(f"{pipelines.__name__}.sessions_right").__file__ or "").read_text()
    path.write_text(text.replace("def build(spark, endpoints):\n", "def build(spark, endpoints):\n    import rich\n"))
    said(
        rehearsed(str(path), tmp_path, Tier.CONTAINERS),
        Status.INCONCLUSIVE,
        "the environment lacks something: package 'rich' is not installed where the pipeline runs",
    )
