"""Kafka Streams: with `exactly_once_v2` it passes what engines are asked; wrong topologies are refuted."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.fixtures.systems.kafka_streams.system import VARIANTS, KafkaStreams
from holdfast.harness.engine.cases.case_run import run_case
from holdfast.harness.engine.site.services import services
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.journal import Status
from holdfast.suites.conformance.programs import ENGINE_CASES, KILLED_ENGINES

pytestmark = [pytest.mark.tier("process"), pytest.mark.nightly, pytest.mark.timeout(2_400)]


@pytest.fixture(autouse=True)
def _with_kafka_streams() -> None:
    system = KafkaStreams()
    system.attach(services)
    if reason := system.objection(KILLED_ENGINES, Tier.PROCESS):
        pytest.skip(reason)


@pytest.mark.parametrize("case", ENGINE_CASES, ids=lambda case: case.id)
def test_it_passes(case: Case, tmp_path: Path) -> None:
    found = run_case("kafka-streams", case, Tier.PROCESS, folder=tmp_path)
    assert found.status is Status.PASS, found.reason


@pytest.mark.parametrize("variant", [each for each in VARIANTS if each])
def test_a_wrong_topology_is_refuted(variant: str, tmp_path: Path) -> None:
    found = run_case(f"kafka-streams+{variant}", ENGINE_CASES[0], Tier.PROCESS, folder=tmp_path)
    assert found.status is Status.FAIL, found.reason
    assert found.rules["E2E-02"] is Status.FAIL
