"""Plans from `holdfast campaign` on which the reference runtime, or an oracle, once was wrong: no run of them fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.harness.engine.artefacts.plan_file import read_plan_file
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.verdict import Outcome

PLANS = sorted((Path(__file__).parent / "alarms").glob("*.json"))


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_it_raises_no_alarm(path: Path) -> None:
    run = run_plan(read_plan_file(path), registry.system("reference"), registry.toolbox())
    assert run.outcome is not Outcome.FAIL, [verdict.anomalies for verdict in run.verdicts]


def test_there_are_some() -> None:
    assert PLANS
