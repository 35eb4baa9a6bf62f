"""The cases of Structured Streaming on this machine, by night: its guarantees, and the pipelines that must be refuted.
By day, test_own_pipelines.py and test_rehearsals.py judge pipelines on the same session."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from holdfast.harness.engine.cases.case import is_control
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.model.window import Window
from holdfast.harness.plugin import RunCase, case_parameters
from holdfast.suites.selfcheck.replaced_runs import counting_run

SPARK = "spark"
AREA = "structured-streaming"
TWIN = f"{AREA}/replayed-sums"
WRONG = tuple(f"{AREA}/{what}-after-restore" for what in ("loses", "forgets", "reorders"))
CASES = {case.id: case for case in registry.cases() if case.id.startswith(f"{AREA}/")}


def of_the_area(case: Case) -> bool:
    return case.id in CASES


def test_the_right_twin_must_have_restored_something_under_the_same_plan() -> None:
    twin = CASES[TWIN]
    assert Window.RESTORED_STATE in twin.windows
    for name in WRONG:
        assert is_control(CASES[name])
        plan = CASES[name].plan_for(0)
        assert replace(plan, system=SPARK, job=twin.plan_for(0).job) == twin.plan_for(0)


@pytest.mark.nightly
@pytest.mark.parametrize(("case", "tier"), case_parameters(SPARK, of_the_area))
def test_case(case: Case, tier: Tier, run_case: RunCase) -> None:
    run_case(SPARK, case, tier)


@pytest.mark.nightly
@pytest.mark.tier("spark")
@pytest.mark.parametrize("name", WRONG)
def test_without_a_restart_the_wrong_ones_are_right(name: str, tmp_path: Path) -> None:
    plan = replace(CASES[name].plan_for(0), faults=())
    run = counting_run(plan, registry.system(plan.system), Tier.SPARK, tmp_path)
    assert (run.outcome, run.reason) == (Outcome.PASS, "")
