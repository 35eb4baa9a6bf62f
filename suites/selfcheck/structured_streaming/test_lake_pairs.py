"""Pipelines that write to tables of Delta Lake and Apache Iceberg, judged as their files say."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from holdfast.fixtures.pipelines.output import lake_table
from holdfast.fixtures.pipelines.output.outgoing import DeltaOutput, FilesOutput, IcebergOutput, LakeOutput
from holdfast.fixtures.services.processes.installation import (
    SPARK_CONNECTORS,
    SPARK_TABLES,
    missing,
    wrong_spark_for_tables,
)
from holdfast.fixtures.services.site import KAFKA, OBJECT_STORE
from holdfast.fixtures.systems.structured_streaming import additions
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.selfcheck.marks import unless
from holdfast.suites.selfcheck.structured_streaming import pipelines
from holdfast.suites.selfcheck.structured_streaming.test_output_pairs import PLAN, executed, judged_as_said

DECLARED: tuple[LakeOutput, ...] = (DeltaOutput(), IcebergOutput())
PAIRS = (
    ("delta_appended", "delta_transactions"),
    ("delta_overwritten", "delta_totals"),
    ("iceberg_appended", "iceberg_sink"),
)
ABSENT = wrong_spark_for_tables() or missing(SPARK_TABLES)
NO_SERVICES = ABSENT or missing(KAFKA, OBJECT_STORE, SPARK_CONNECTORS)


@pytest.mark.nightly
@pytest.mark.tier("spark")
@unless(ABSENT)
@pytest.mark.parametrize(("wrong", "right"), PAIRS)
def test_a_pair(wrong: str, right: str, tmp_path: Path) -> None:
    pytest.importorskip("deltalake" if wrong.startswith("delta") else "pyiceberg")
    judged_as_said(wrong, right, Tier.SPARK, tmp_path)


@pytest.mark.nightly
@pytest.mark.tier("containers")
@pytest.mark.parametrize(("wrong", "right"), PAIRS)
def test_a_pair_among_containers(wrong: str, right: str, tmp_path: Path) -> None:
    """The tables are objects, and the image has the jars."""
    pytest.importorskip("deltalake" if wrong.startswith("delta") else "pyiceberg")
    judged_as_said(wrong, right, Tier.CONTAINERS, tmp_path)


@pytest.mark.nightly
@pytest.mark.tier("spark")
@unless(NO_SERVICES)
def test_a_pair_beside_services_that_are_processes(tmp_path: Path) -> None:
    pytest.importorskip("pyiceberg")
    among_services = replace(PLAN, options={**PLAN.options, "source.connector": "kafka"})
    judged_as_said("iceberg_appended", "iceberg_sink", Tier.SPARK, tmp_path, among_services)


def test_a_pipeline_says_where_its_table_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(additions, "wrong_spark_for_tables", lambda: "")
    monkeypatch.setattr(additions, "missing", lambda *names: f"{names[0]} is not installed.")
    system = registry.system(f"spark+{pipelines.__name__}.delta_transactions")
    said = system.objection  # type: ignore[attr-defined]
    assert said(PLAN, Tier.CONTAINERS) == ""
    assert said(PLAN, Tier.SPARK) == "spark-tables is not installed."
    monkeypatch.setattr(additions, "wrong_spark_for_tables", lambda: "PySpark is another.")
    assert said(PLAN, Tier.SPARK) == "PySpark is another."
    assert additions.lacking_additions(FilesOutput(), Tier.SPARK) == ""


def test_a_folder_of_one_machine_is_no_place_among_services(tmp_path: Path) -> None:
    module = tmp_path / "elsewhere.py"
    right = Path(pipelines.__path__[0], "delta_transactions.py").read_text()
    module.write_text(right.replace('"{output}/orders"', '"/data/orders"'))
    said = registry.system(f"spark+{module}").objection(PLAN, Tier.CONTAINERS)  # type: ignore[attr-defined]
    assert "writes to /data/orders, a folder of one machine" in said
    assert said.endswith("begin the path with {output}.")


@pytest.mark.parametrize("declared", DECLARED)
def test_a_package_that_is_not_there_is_named(declared: LakeOutput, monkeypatch: pytest.MonkeyPatch) -> None:
    lake_table.require_package(declared)
    monkeypatch.setattr(lake_table, "find_spec", lambda name: None)
    with pytest.raises(OSError, match=r"'(deltalake|pyiceberg)' is not installed.*holdfast-chaos\[tables\]'\.$"):
        lake_table.require_package(declared)


@pytest.mark.tier("spark")
def test_a_run_without_the_package_is_inconclusive(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(lake_table, "find_spec", lambda name: None)
    run = executed("delta_transactions", Tier.SPARK, tmp_path)
    assert run.outcome is Outcome.INCONCLUSIVE
    assert "package 'deltalake' is not installed" in run.reason
