"""Every registered case on every tier that this machine has: the cases themselves say what is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.harness.engine import registry
from holdfast.harness.engine.campaign import Question, ask_until
from holdfast.harness.engine.cases import is_control
from holdfast.harness.engine.machine import lacking
from holdfast.harness.engine.standing import case_result
from holdfast.harness.engine.tally import Tally
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.journal import Status

ASKED = [pytest.param(case, tier, id=f"{case.id}-{tier}") for case in registry.cases() for tier in case.tiers]


@pytest.mark.parametrize(("case", "tier"), ASKED)
def test_case(case: Case, tier: Tier, tmp_path: Path) -> None:
    if reason := lacking(tier):
        pytest.skip(f"tier {tier} {reason}")
    tools = registry.toolbox()
    system = registry.system(case.plan_for(1).system if is_control(case) else "reference")
    tally = Tally()
    for answer in ask_until(Question(case, system, tier, tools, folder=tmp_path), case.runs):
        tally.add(answer.result)
    result = case_result(case, tier, case.runs, tally, tools.oracles, system.evidence())
    assert (result.status, result.reason, result.rule_reasons) == (Status.PASS, "", {})
