"""An at-least-once sink loses nothing and repeats what a restore reads again, wherever it runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.engine.executor.run import Run
from holdfast.harness.model.capability import AT_LEAST_ONCE, EXACTLY_ONCE
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import TransactionPrecommitted
from holdfast.harness.model.history import History
from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import FORWARD, KEYED_SUM
from holdfast.harness.model.plan import FaultSpec, Gate, Schedule
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.oracles.output.exact import ExactOracle
from holdfast.suites.conformance.plans import plan
from holdfast.suites.selfcheck.replaced_runs import assert_passes, counting_run

WORKER = Target(Role.WORKER, 1)
FLUSHED = FaultSpec(
    "kill",
    WORKER,
    Schedule(after_checkpoint=1, after_rows=1, gate=Gate("acknowledge", WORKER, vertex="sink")),
    parameters={"unread": 1},
)
"""The rows of a checkpoint are visible, and it will never complete."""


def run(delivery: str, job: Job, tier: Tier, folder: Path) -> Run:
    checkpointing = "execution.checkpointing"
    options = {
        "sink.delivery-guarantee": delivery,
        f"{checkpointing}.interval": "150 ms",
        f"{checkpointing}.min-pause": "150 ms",  # A checkpoint that follows a late one at once covers no rows.
    }
    killed = plan(FLUSHED, job=job, options=options, records={"records": 600})
    return counting_run(killed, ReferenceSystem(), tier, folder)


def exactly_once_clauses(history: History) -> set[str]:
    """What EXACT would object to if the output were claimed to be exactly-once."""
    claims = replace(history.claims, output=EXACTLY_ONCE)
    claimed = History(history.plan, claims, history.inputs, history.output, history.events, history.end)
    return {anomaly.clause for anomaly in ExactOracle().judge(claimed).anomalies}


@pytest.mark.parametrize("tier", [Tier.SIM, Tier.PROCESS])
@pytest.mark.parametrize("job", [FORWARD, KEYED_SUM], ids=lambda job: job.name)
def test_at_least_once_repeats_and_loses_nothing(job: Job, tier: Tier, tmp_path: Path) -> None:
    judged = run("at-least-once", job, tier, tmp_path)
    history = judged.history
    assert (history.claims.state, history.claims.output) == (EXACTLY_ONCE, AT_LEAST_ONCE)
    assert_passes(judged)
    assert {verdict.oracle: verdict.outcome for verdict in judged.verdicts}["NOLOSS"] is Outcome.PASS
    assert not history.of(TransactionPrecommitted)
    assert exactly_once_clauses(history) & {"row-repeated", "counts-stepped-back"}


@pytest.mark.parametrize("tier", [Tier.SIM, Tier.PROCESS])
def test_exactly_once_is_the_default_and_repeats_nothing(tier: Tier, tmp_path: Path) -> None:
    judged = run("exactly-once", FORWARD, tier, tmp_path)
    assert judged.history.claims.output == EXACTLY_ONCE
    assert_passes(judged)


def test_another_guarantee_is_refused_in_one_sentence() -> None:
    with pytest.raises(ValueError, match=r"^option sink\.delivery-guarantee = 'none' cannot be read: .*$"):
        ReferenceSystem().account(plan(options={"sink.delivery-guarantee": "none"}))
