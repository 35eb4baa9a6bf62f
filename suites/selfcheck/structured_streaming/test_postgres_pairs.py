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
from holdfast.harness.engine.executor.run import Run
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import JobStatus, JobSwitched, NodeDied
from holdfast.harness.model.fault_fate import FaultFate
from holdfast.harness.model.plan import FaultSpec, Plan, Schedule
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.spi.service import Site
from holdfast.suites.selfcheck.marks import on
from holdfast.suites.selfcheck.replaced_runs import assert_passes, counting_run, reader_was_slow
from holdfast.suites.selfcheck.structured_streaming import pipelines
from holdfast.suites.selfcheck.structured_streaming.test_output_pairs import PLAN, clauses

ABSENT = missing_database() or missing(DATABASE_DRIVER)
TIERS = [
    on(Tier.SPARK, ABSENT),
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


def executed(name: str, plan: Plan, services: SiteServices, tier: Tier, folder: Path) -> Run:
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
    wrong = executed("postgres_inserted", PLAN, services, tier, tmp_path / "wrong")
    assert (wrong.outcome, set(wrong.history.end.fault_fates)) == (Outcome.FAIL, {FaultFate.LANDED}), wrong.reason
    assert "EXACT/row-repeated" in clauses(wrong)
    right = executed("postgres_upserted", PLAN, services, tier, tmp_path / "right")
    assert_passes(right)
    decided = {verdict.oracle for verdict in right.verdicts if verdict.outcome is Outcome.PASS}
    assert reader_was_slow(right) or decided >= {"EXACT", "STABLE"}


@pytest.mark.nightly
@pytest.mark.parametrize("tier", TIERS)
def test_an_upsert_outlives_the_end_of_its_database(services: SiteServices, tier: Tier, tmp_path: Path) -> None:
    run = executed("postgres_upserted", OUTAGE, services, tier, tmp_path / "run")
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
