"""By night: cases of Structured Streaming, and pipelines and their upgrades in pairs, of which one is refuted."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from holdfast.faults.upgrade import upgrade
from holdfast.harness.engine.cases.case import is_control
from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Case, Tier, Window
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec, Plan
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.plugin import RunCase, case_parameters
from holdfast.suites.conformance.structured_streaming import CASES
from holdfast.suites.selfcheck.replaced_runs import assert_passes, counting_run, named_clauses
from holdfast.suites.selfcheck.structured_streaming import pipelines
from holdfast.suites.selfcheck.structured_streaming.test_fault_pairs import PLAN

FOLDER = Path(pipelines.__path__[0])
RIGHT = sorted(path.name for path in FOLDER.glob("*_right.py"))


def executed(path: Path, tier: Tier, folder: Path) -> Run:
    """The plan of a case in which a micro-batch runs twice; a run that missed that is replaced."""
    [plan] = [case.plan_for(1) for case in CASES if case.id == "structured-streaming/replayed-files"]
    folder.mkdir(parents=True)
    name = f"spark+{path}"
    return counting_run(replace(plan, system=name), registry.system(name), tier, folder)


def judged_rightly(right: str, tier: Tier, folder: Path) -> None:
    run = executed(FOLDER / right, tier, folder / "right")
    assert_passes(run)
    wrong = FOLDER / right.replace("_right", "_wrong")
    named = re.search(r"([A-Z]+/[a-z-]+)\.", wrong.read_text())
    assert named is not None, f"{wrong.name} names no rule"
    run = executed(wrong, tier, folder / "wrong")
    assert run.outcome is Outcome.FAIL
    assert named[1] in named_clauses(run)


@pytest.mark.nightly
@pytest.mark.tier("spark")
@pytest.mark.parametrize("right", RIGHT, ids=[name.removesuffix("_right.py") for name in RIGHT])
def test_each_of_a_pair_is_judged_rightly(right: str, tmp_path: Path) -> None:
    """In a folder whose name an URI would have to escape."""
    judged_rightly(right, Tier.SPARK, tmp_path / "spark+jobs of 100%25")


@pytest.mark.nightly
@pytest.mark.tier("containers")
@pytest.mark.parametrize("right", RIGHT)
def test_each_of_a_pair_is_judged_rightly_among_containers(right: str, tmp_path: Path) -> None:
    """The image has all that a pipeline imports, and the store is one of objects."""
    judged_rightly(right, Tier.CONTAINERS, tmp_path)


UPGRADES = Path(pipelines.__path__[0]) / "upgrades"
NAMED = re.compile(r'"""Wrong, ([A-Z]+/[a-z-]+):')
WRONG = sorted(path.name for path in UPGRADES.glob("*.py") if NAMED.match(path.read_text()))
REPLAYED = upgrade("replay", after_checkpoint=1, at_event="checkpoint_triggered")
STOPPED = upgrade("stop", after_checkpoint=2)
KILLED = upgrade("kill", after_checkpoint=2, at_event="checkpoint_triggered")
ON_BOTH = [pytest.param(tier, marks=pytest.mark.tier(tier.value)) for tier in (Tier.SPARK, Tier.CONTAINERS)]


def team(folder: Path, first: str, following: str) -> Path:
    """A copy of the pipelines, in which one names another as its next version."""
    copy = shutil.copytree(UPGRADES, folder / "team", ignore=shutil.ignore_patterns("__pycache__")) / first
    copy.write_text(re.sub(r'(?m)^NEXT = ".*"$', f'NEXT = "{following}"', copy.read_text()))
    return copy


def upgraded(folder: Path, first: str, following: str, fault: FaultSpec, tier: Tier, plan: Plan = PLAN) -> Run:
    system = f"spark+{team(folder, first, following)}"
    runs = folder / "runs"
    runs.mkdir()
    return counting_run(replace(plan, system=system, faults=(fault,)), registry.system(system), tier, runs)


@pytest.mark.nightly
@pytest.mark.parametrize("tier", ON_BOTH)
@pytest.mark.parametrize("fault", [REPLAYED, STOPPED, KILLED], ids=["replay", "stop", "kill"])
def test_one_that_keeps_names_and_batch_ids_goes_on(fault: FaultSpec, tier: Tier, tmp_path: Path) -> None:
    assert_passes(upgraded(tmp_path, "orders.py", "orders_v2.py", fault, tier))


@pytest.mark.nightly
@pytest.mark.parametrize("tier", ON_BOTH)
def test_one_that_keeps_its_state_goes_on(tier: Tier, tmp_path: Path) -> None:
    assert_passes(upgraded(tmp_path, "spending.py", "spending_v2.py", REPLAYED, tier))


@pytest.mark.nightly
@pytest.mark.parametrize("tier", ON_BOTH)
@pytest.mark.parametrize("following", WRONG)
def test_a_mistake_is_refuted_by_the_rule_in_its_file(following: str, tier: Tier, tmp_path: Path) -> None:
    named = NAMED.match((UPGRADES / following).read_text())
    assert named is not None
    first = f"{following.partition('_')[0]}.py"
    run = upgraded(tmp_path, first, following, REPLAYED, tier)
    assert run.outcome is Outcome.FAIL, run.reason
    assert named[1] in named_clauses(run)
    if following == "spending_by_region.py":
        said = next(each.message for verdict in run.verdicts for each in verdict.anomalies if verdict.oracle == "LIVE")
        assert "the next version (spending_by_region.py) does not start on this checkpoint: " in said
        assert "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE" in said


@pytest.mark.nightly
@pytest.mark.tier("spark")
def test_a_plan_may_expect_that_the_checkpoint_is_refused(tmp_path: Path) -> None:
    plan = replace(PLAN, expected_end=ExpectedEnd.FAILED)
    assert_passes(upgraded(tmp_path, "spending.py", "spending_by_region.py", STOPPED, Tier.SPARK, plan))


@pytest.mark.nightly
@pytest.mark.tier("spark")
def test_one_with_another_answer_is_not_judged(tmp_path: Path) -> None:
    path = team(tmp_path, "spending.py", "spending_in_euros.py")
    system = registry.system(f"spark+{path}")
    [rehearsal] = system.rehearsals(Tier.SPARK)  # type: ignore[attr-defined]
    run = run_plan(rehearsal, system, registry.toolbox(), Tier.SPARK, tmp_path, rehearsal=True)
    assert run.outcome is Outcome.INCONCLUSIVE
    assert re.match(
        r"the next version '.*spending_in_euros.py' has another answer than the first one .*lacks row", run.lacks
    )


SPARK = "spark"
AREA = "structured-streaming"
TWIN = f"{AREA}/replayed-sums"
WRONG_PIPELINES = tuple(f"{AREA}/{what}-after-restore" for what in ("loses", "forgets", "reorders"))
CASES_HERE = {case.id: case for case in registry.cases() if case.id.startswith(f"{AREA}/")}


def of_the_area(case: Case) -> bool:
    return case.id in CASES_HERE


def test_the_right_twin_must_have_restored_something_under_the_same_plan() -> None:
    twin = CASES_HERE[TWIN]
    assert Window.RESTORED_STATE in twin.windows
    for name in WRONG_PIPELINES:
        assert is_control(CASES_HERE[name])
        plan = CASES_HERE[name].plan_for(0)
        assert replace(plan, system=SPARK, job=twin.plan_for(0).job) == twin.plan_for(0)


@pytest.mark.nightly
@pytest.mark.parametrize(("case", "tier"), case_parameters(SPARK, of_the_area))
def test_case(case: Case, tier: Tier, run_case: RunCase) -> None:
    run_case(SPARK, case, tier)


@pytest.mark.nightly
@pytest.mark.tier("spark")
@pytest.mark.parametrize("name", WRONG_PIPELINES)
def test_without_a_restart_the_wrong_ones_are_right(name: str, tmp_path: Path) -> None:
    plan = replace(CASES_HERE[name].plan_for(0), faults=())
    run = counting_run(plan, registry.system(plan.system), Tier.SPARK, tmp_path)
    assert (run.outcome, run.reason) == (Outcome.PASS, "")
