"""PostgreSQL as the table of a sink: judged by the kit, and written by the reference runtime under faults."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from holdfast.fixtures.services.processes.database import missing_database
from holdfast.fixtures.tables.run_database import RunDatabase
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.status import Status
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.spi.sink import SinkContext
from holdfast.suites.certify.connector_kit import Connected
from holdfast.suites.certify.sink import CHECKS, certify, loaded
from holdfast.suites.conformance.plans import CHECKPOINTING
from holdfast.suites.conformance.transactions import COMMITTED_AGAIN, REPEATED
from holdfast.suites.selfcheck.marks import unless

ABSENT = missing_database()
pytestmark = [pytest.mark.tier("process"), pytest.mark.nightly, unless(ABSENT)]
SINKS = ("holdfast.fixtures.sinks.postgres:PostgresSink", "holdfast.fixtures.sinks.postgres:PostgresUpsertSink")
POSTGRESQL = {"sink.database": "postgresql", f"{CHECKPOINTING}.interval": "200 ms"}
"""A look takes some milliseconds."""


@pytest.fixture(scope="module")
def database() -> Iterator[RunDatabase]:
    from holdfast.fixtures.services.processes.stack import ProcessStack

    with closing(ProcessStack()) as stack:
        made = RunDatabase(stack)
        yield made
        made.release()


def test_a_uri_that_is_no_database_is_one_sentence_without_a_password() -> None:
    with pytest.raises(ValueError, match="is not postgresql://USER") as raised:
        loaded(SINKS[0])(SinkContext(uri="file:///s3cret", job="job", operator="sink", attempt=1))
    assert "s3cret" not in str(raised.value)


@pytest.mark.parametrize("factory", SINKS)
def test_the_kit_refutes_nothing(factory: str, database: RunDatabase) -> None:
    verdicts = list(certify(factory, connected=Connected(f"{database.direct_url}")))
    assert len(verdicts) == len(CHECKS)
    assert {each.status for each in verdicts} <= {Status.PASS, Status.NOT_APPLICABLE}, verdicts


@pytest.mark.parametrize("plan", [COMMITTED_AGAIN[0], COMMITTED_AGAIN[4], REPEATED[0], REPEATED[1]], ids=range(4))
def test_a_table_under_faults_is_exact(plan: Plan, tmp_path: Path) -> None:
    placed = replace(plan, options={**plan.options, **POSTGRESQL})
    system: Any = registry.system("reference")
    assert system.objection(placed, Tier.PROCESS) == ""
    run = run_plan(placed, system, registry.toolbox(), tier=Tier.PROCESS, folder=tmp_path)
    failed = [verdict for verdict in run.verdicts if verdict.outcome is Outcome.FAIL]
    assert not failed
    assert next(each.outcome for each in run.verdicts if each.oracle == "EXACT") is Outcome.PASS
