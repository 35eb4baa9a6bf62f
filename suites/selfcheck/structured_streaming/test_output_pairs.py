"""Pipelines as teams write them, judged as their files say: the right one of a pair passes, its wrong twin is refuted
by the clause that its file names, and output where nobody looks is no loss."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from holdfast.fixtures.pipelines.output import lake_table
from holdfast.fixtures.pipelines.output.outgoing import DeltaOutput, FilesOutput, IcebergOutput, LakeOutput
from holdfast.fixtures.services.processes.database import missing_database
from holdfast.fixtures.services.processes.installation import (
    DATABASE_DRIVER,
    missing,
    spark_connectors,
    spark_tables,
    wrong_spark_for_tables,
)
from holdfast.fixtures.services.provider import SiteServices
from holdfast.fixtures.services.site import KAFKA, OBJECT_STORE
from holdfast.fixtures.systems.structured_streaming import additions
from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.consequence import FaultFate
from holdfast.harness.model.events import JobStatus, JobSwitched, NodeDied
from holdfast.harness.model.jobs import FORWARD
from holdfast.harness.model.plan import Bounds, FaultSpec, Plan, Schedule, WorkloadSpec
from holdfast.harness.model.target import COORDINATOR, Role, Target
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.spi.service import Site
from holdfast.suites.selfcheck.marks import on, unless
from holdfast.suites.selfcheck.replaced_runs import assert_passes, counting_run, named_clauses, reader_was_slow
from holdfast.suites.selfcheck.structured_streaming import pipelines

PLAN = Plan(
    system="spark",
    job=FORWARD,
    workload=WorkloadSpec(
        "synthetic", {"records": 400, "keys": 6, "partitions": 2, "preloaded_percent": 20, "records_per_second": 60}
    ),
    options={"execution.checkpointing.interval": "500 ms"},
    # In the second micro-batch: nothing arrives until the query runs again, so there is input in what is repeated.
    faults=(FaultSpec("replay", COORDINATOR, Schedule(after_checkpoint=1, at_event="checkpoint_triggered")),),
    bounds=Bounds(safety_ms=120_000, liveness_ms=120_000, settle_ms=600),
)
ON_SPARK = (
    ("inserted_rows", "upserted_rows"),
    ("appended_always", "appended_once"),
    ("overwritten_partitions", "overwritten_batches"),
    ("added_totals", "upserted_totals"),
)
AMONG_CONTAINERS = (
    ("appended_always", "appended_once"),
    ("overwritten_partitions", "overwritten_batches"),
    ("published_under_a_claim", "published"),
    ("transactions_without_batch", "transactions"),
)


def executed(name: str, tier: Tier, folder: Path) -> Run:
    system = registry.system(f"spark+{pipelines.__name__}.{name}")
    return run_plan(PLAN, system, registry.toolbox(), tier, folder)


def judged_as_said(wrong: str, right: str, tier: Tier, folder: Path, plan: Plan = PLAN, version: str = "") -> None:
    for name in (wrong, right):
        (folder / name).mkdir()
        system = f"spark+{version}{pipelines.__name__}.{name}"
        run = counting_run(msgspec.structs.replace(plan, system=system), registry.system(system), tier, folder / name)
        said = import_module(f"{pipelines.__name__}.{name}").__doc__ or ""
        named = re.match(r"Wrong, (\S+):", said)
        assert bool(named) is (name == wrong)
        if named:
            # The clause shows what the fault did. Whether that counts as landed hangs on when the reader saw rows.
            fates = set(run.history.end.fault_fates)
            assert run.outcome is Outcome.FAIL, run.reason
            assert fates <= {FaultFate.LANDED, FaultFate.WITHOUT_EFFECT}, run.reason
            assert named[1] in named_clauses(run)
        else:
            assert_passes(run)
            decided = {verdict.oracle for verdict in run.verdicts if verdict.outcome is Outcome.PASS}
            assert reader_was_slow(run) or decided & {"EXACT", "NOLOSS"}
            assert reader_was_slow(run) or "STABLE" in decided


@pytest.mark.nightly
@pytest.mark.tier("spark")
@pytest.mark.parametrize(("wrong", "right"), ON_SPARK)
def test_a_pair(wrong: str, right: str, tmp_path: Path) -> None:
    judged_as_said(wrong, right, Tier.SPARK, tmp_path)


@pytest.mark.nightly
@pytest.mark.tier("containers")
@pytest.mark.parametrize(("wrong", "right"), AMONG_CONTAINERS)
def test_a_pair_among_containers(wrong: str, right: str, tmp_path: Path) -> None:
    judged_as_said(wrong, right, Tier.CONTAINERS, tmp_path)


@pytest.mark.nightly
@pytest.mark.tier("spark")
def test_output_that_nobody_looked_at_is_not_lost(tmp_path: Path) -> None:
    run = executed("elsewhere", Tier.SPARK, tmp_path)
    assert run.outcome is Outcome.INCONCLUSIVE
    assert re.match(r"no output was seen, though the query committed \d+ micro-batches with input: folder", run.reason)
    assert "was looked at for parquet files, committed by automatic; it has" in run.reason
    assert ".json" in run.reason
    assert "Declare in OUTPUT what the pipeline writes to" in run.reason


def test_a_pipeline_says_where_it_cannot_run() -> None:
    topic = registry.system(f"spark+{pipelines.__name__}.published")
    table = registry.system(f"spark+{pipelines.__name__}.upserted_rows")
    kafka = msgspec.structs.replace(PLAN, options={**PLAN.options, "sink.connector": "kafka"})
    assert "has no broker on tier spark: use containers" in topic.objection(PLAN, Tier.SPARK)  # type: ignore[attr-defined]
    assert "a file that only its driver program would see" in table.objection(PLAN, Tier.CONTAINERS)  # type: ignore[attr-defined]
    assert "has no pipeline of contract records into kafka" in table.objection(kafka, Tier.SPARK)  # type: ignore[attr-defined]


DECLARED: tuple[LakeOutput, ...] = (DeltaOutput(), IcebergOutput())
PAIRS = (
    ("delta_appended", "delta_transactions"),
    ("delta_overwritten", "delta_totals"),
    ("iceberg_appended", "iceberg_sink"),
)
ABSENT_LAKE = wrong_spark_for_tables() or missing(spark_tables())
NO_SERVICES = ABSENT_LAKE or missing(KAFKA, OBJECT_STORE, spark_connectors())


@pytest.mark.nightly
@pytest.mark.tier("spark")
@unless(ABSENT_LAKE)
@pytest.mark.parametrize(("wrong", "right"), PAIRS)
def test_a_pair_of_lake_tables(wrong: str, right: str, tmp_path: Path) -> None:
    pytest.importorskip("deltalake" if wrong.startswith("delta") else "pyiceberg")
    judged_as_said(wrong, right, Tier.SPARK, tmp_path)


@pytest.mark.nightly
@pytest.mark.tier("containers")
@pytest.mark.parametrize(("wrong", "right"), PAIRS)
def test_a_pair_of_lake_tables_among_containers(wrong: str, right: str, tmp_path: Path) -> None:
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
    monkeypatch.setattr(additions, "wrong_spark_for_tables", lambda version: "")
    monkeypatch.setattr(additions, "missing", lambda *names: f"{names[0]} is not installed.")
    system = registry.system(f"spark+{pipelines.__name__}.delta_transactions")
    said = system.objection  # type: ignore[attr-defined]
    assert said(PLAN, Tier.CONTAINERS) == ""
    assert said(PLAN, Tier.SPARK) == "spark-tables is not installed."
    monkeypatch.setattr(additions, "wrong_spark_for_tables", lambda version: "PySpark is another.")
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


ABSENT_POSTGRES = missing_database() or missing(DATABASE_DRIVER)
TIERS = [
    on(Tier.SPARK, ABSENT_POSTGRES),
    on(Tier.CONTAINERS, name="among_containers"),
]
"""Our images have all that is needed."""
SINK = Target(Role.SINK_SYSTEM)
OUTAGE = replace(
    PLAN, faults=(FaultSpec("outage", SINK, Schedule(after_checkpoint=1, at_event="checkpoint_triggered"), 3_000),)
)


@pytest.fixture(scope="module")
def services() -> Iterator[SiteServices]:
    with closing(SiteServices(Site())) as opened:
        yield opened


def system(name: str) -> Any:
    return registry.system(f"spark+{pipelines.__name__}.{name}")


def executed_beside_postgres(name: str, plan: Plan, services: SiteServices, tier: Tier, folder: Path) -> Run:
    folder.mkdir()
    chosen = system(name)
    chosen.attach(lambda: services)
    assert chosen.objection(plan, tier) == ""
    run = counting_run(replace(plan, system=chosen.name), chosen, tier, folder)
    secrets = (services.containers if tier is Tier.CONTAINERS else services.processes).secrets
    assert secrets
    kept = [path for path in folder.rglob("*") if path.is_file()]
    assert not [path for path in kept if any(secret.encode() in path.read_bytes() for secret in secrets)]
    return run


@pytest.mark.nightly
@pytest.mark.parametrize("tier", TIERS)
def test_an_insert_doubles_what_is_replayed_and_an_upsert_does_not(
    services: SiteServices, tier: Tier, tmp_path: Path
) -> None:
    wrong = executed_beside_postgres("postgres_inserted", PLAN, services, tier, tmp_path / "wrong")
    assert (wrong.outcome, set(wrong.history.end.fault_fates)) == (Outcome.FAIL, {FaultFate.LANDED}), wrong.reason
    assert "EXACT/row-repeated" in named_clauses(wrong)
    right = executed_beside_postgres("postgres_upserted", PLAN, services, tier, tmp_path / "right")
    assert_passes(right)
    decided = {verdict.oracle for verdict in right.verdicts if verdict.outcome is Outcome.PASS}
    assert reader_was_slow(right) or decided >= {"EXACT", "STABLE"}


@pytest.mark.nightly
@pytest.mark.parametrize("tier", TIERS)
def test_an_upsert_outlives_the_end_of_its_database(services: SiteServices, tier: Tier, tmp_path: Path) -> None:
    run = executed_beside_postgres("postgres_upserted", OUTAGE, services, tier, tmp_path / "run")
    assert_passes(run)
    assert "sink-system.0" in {event.dead_node for event in run.history.of(NodeDied)}
    ends = [event for event in run.history.of(JobSwitched) if event.status is JobStatus.RESTARTING]
    assert any(re.search("connection", event.reason) for event in ends)


def test_a_pipeline_says_where_its_database_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    from holdfast.fixtures.systems.structured_streaming import additions

    monkeypatch.setattr(additions, "missing_database", lambda: "PostgreSQL is not installed.")
    monkeypatch.setattr(additions, "missing_client", lambda: "psycopg is not installed.")
    upserted, elsewhere = system("postgres_upserted"), system("upserted_rows")
    assert upserted.objection(PLAN, Tier.SPARK) == "PostgreSQL is not installed."
    assert upserted.objection(PLAN, Tier.CONTAINERS) == "psycopg is not installed."
    assert "outage of sink-system[0] has nothing to act on" in elsewhere.objection(OUTAGE, Tier.SPARK)
