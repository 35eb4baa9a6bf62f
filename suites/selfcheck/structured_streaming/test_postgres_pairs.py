"""Pipelines that write to PostgreSQL, judged as their files say, also while it goes down."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from holdfast.fixtures.services.processes.database import missing_database
from holdfast.fixtures.services.processes.installation import DATABASE_DRIVER, missing
from holdfast.fixtures.services.provider import SiteServices
from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import JobStatus, JobSwitched, NodeDied
from holdfast.harness.model.fault_fate import FaultFate
from holdfast.harness.model.plan import FaultSpec, Plan, Schedule
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.spi.service import Site
from holdfast.suites.selfcheck.structured_streaming import pipelines
from holdfast.suites.selfcheck.structured_streaming.test_output_pairs import PLAN, clauses

ABSENT = missing_database() or missing(DATABASE_DRIVER)
needs_database = pytest.mark.skipif(bool(ABSENT), reason=ABSENT or "-")
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


def executed(name: str, plan: Plan, services: SiteServices, folder: Path) -> Run:
    folder.mkdir()
    chosen = system(name)
    chosen.attach(lambda: services)
    assert chosen.objection(plan, Tier.SPARK) == ""
    run = run_plan(replace(plan, system=chosen.name), chosen, registry.toolbox(), Tier.SPARK, folder)
    secrets = services.processes.secrets
    kept = [path for path in folder.rglob("*") if path.is_file()]
    assert not [path for path in kept if any(secret.encode() in path.read_bytes() for secret in secrets)]
    return run


@pytest.mark.nightly
@pytest.mark.tier("spark")
@needs_database
def test_an_insert_doubles_what_is_replayed_and_an_upsert_does_not(services: SiteServices, tmp_path: Path) -> None:
    wrong = executed("postgres_inserted", PLAN, services, tmp_path / "wrong")
    assert (wrong.outcome, set(wrong.history.end.fault_fates)) == (Outcome.FAIL, {FaultFate.LANDED}), wrong.reason
    assert "EXACT/row-repeated" in clauses(wrong)
    right = executed("postgres_upserted", PLAN, services, tmp_path / "right")
    assert (right.outcome, right.reason) == (Outcome.PASS, "")
    assert set(right.history.end.fault_fates) == {FaultFate.LANDED}
    assert {"EXACT", "STABLE"} <= {verdict.oracle for verdict in right.verdicts if verdict.outcome is Outcome.PASS}


@pytest.mark.nightly
@pytest.mark.tier("spark")
@needs_database
def test_an_upsert_outlives_the_end_of_its_database(services: SiteServices, tmp_path: Path) -> None:
    run = executed("postgres_upserted", OUTAGE, services, tmp_path / "run")
    assert (run.outcome, run.reason) == (Outcome.PASS, "")
    assert "sink-system.0" in {event.dead_node for event in run.history.of(NodeDied)}
    ends = [event for event in run.history.of(JobSwitched) if event.status is JobStatus.RESTARTING]
    assert any(re.search("connection", event.reason) for event in ends)


def test_a_pipeline_says_where_its_database_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    from holdfast.fixtures.systems.structured_streaming import additions

    monkeypatch.setattr(additions, "missing_database", lambda: "PostgreSQL is not installed.")
    upserted, elsewhere = system("postgres_upserted"), system("upserted_rows")
    assert upserted.objection(PLAN, Tier.SPARK) == "PostgreSQL is not installed."
    assert "has no database on tier containers" in upserted.objection(PLAN, Tier.CONTAINERS)
    assert "outage of sink-system[0] has nothing to act on" in elsewhere.objection(OUTAGE, Tier.SPARK)
