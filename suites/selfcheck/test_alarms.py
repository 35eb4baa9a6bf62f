"""Plans from `holdfast campaign` on which the reference runtime, or an oracle, once was wrong: no run of them fails,
and no oracle breaks."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.harness.engine.artefacts.plan_file import read_plan_file
from holdfast.harness.engine.cases.results import run_result
from holdfast.harness.engine.cases.swarm_case import SWARM_ID
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.exploration.drawn_chunk import alarm_of
from holdfast.harness.engine.site import registry

PLANS = sorted((Path(__file__).parent / "alarms").glob("*.json"))


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_it_raises_no_alarm(path: Path) -> None:
    run = run_plan(read_plan_file(path), registry.system("reference"), registry.toolbox())
    assert not alarm_of(run_result(run, SWARM_ID, 0, 0.0))


def test_there_are_some() -> None:
    assert PLANS
