"""Spark Structured Streaming on this machine, between a broker and an object store that are plain processes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from holdfast.fixtures.services.processes.installation import missing, spark_connectors, wrong_spark
from holdfast.fixtures.services.provider import SiteServices
from holdfast.fixtures.services.site import KAFKA, OBJECT_STORE
from holdfast.fixtures.systems.structured_streaming.system import StructuredStreaming
from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.plans.validate import check_options, check_plan
from holdfast.harness.engine.site.registry import toolbox
from holdfast.harness.model.case import Tier
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.chaos.structured_streaming import CASES, CLAIMS_TOO_MUCH
from holdfast.suites.selfcheck.marks import unless
from holdfast.suites.selfcheck.replaced_runs import named_clauses

ABSENT = wrong_spark() or missing(KAFKA, OBJECT_STORE, spark_connectors())
pytestmark = [
    pytest.mark.tier("spark"),
    pytest.mark.nightly,
    pytest.mark.timeout(900),
    unless(ABSENT),
    pytest.mark.xdist_group("spark-beside-services"),
]
PLANS: Mapping[str, Plan] = {case.id: case.plan for case in CASES if isinstance(case.plan, Plan)}


def run(services: SiteServices, case: str, variant: str, folder: Path) -> Run:
    """A case of the containers, on this machine."""
    from msgspec.structs import replace

    system = StructuredStreaming(variant)
    system.attach(lambda: services)
    plan = replace(PLANS[case], options={**PLANS[case].options, "source.connector": "kafka"})
    check_plan(plan, system, Tier.SPARK, toolbox())
    check_options(plan, system)
    return run_plan(plan, system, toolbox(), Tier.SPARK, folder)


def test_from_kafka_to_kafka_nothing_is_lost(services: SiteServices, tmp_path: Path) -> None:
    judged = run(services, "chaos/spark-kafka-sink", "", tmp_path)
    assert (judged.outcome, judged.reason) == (Outcome.PASS, "")
    assert judged.history.output.units
    secrets = services.processes.object_store.keys.secrets
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in kept if any(secret.encode() in path.read_bytes() for secret in secrets)]


def test_exactly_once_is_refuted_for_its_sink(services: SiteServices, tmp_path: Path) -> None:
    judged = run(services, "chaos/spark-kafka-sink-control", CLAIMS_TOO_MUCH, tmp_path)
    clauses = named_clauses(judged)
    assert judged.outcome is Outcome.FAIL
    assert "EXACT/row-repeated" in clauses


def test_files_in_an_object_store_outlive_a_cut(services: SiteServices, tmp_path: Path) -> None:
    judged = run(services, "chaos/spark-file-sink", "", tmp_path)
    assert (judged.outcome, judged.reason) == (Outcome.PASS, "")
