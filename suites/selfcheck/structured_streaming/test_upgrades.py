"""A next version that takes the place of a pipeline on its checkpoint: which go on, and what refutes the others."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from holdfast.faults.upgrade import upgrade
from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec, Plan
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.selfcheck.replaced_runs import assert_passes, counting_run
from holdfast.suites.selfcheck.structured_streaming import pipelines
from holdfast.suites.selfcheck.structured_streaming.test_fault_pairs import PLAN

FOLDER = Path(pipelines.__path__[0]) / "upgrades"
NAMED = re.compile(r'"""Wrong, ([A-Z]+/[a-z-]+):')
WRONG = sorted(path.name for path in FOLDER.glob("*.py") if NAMED.match(path.read_text()))
REPLAYED = upgrade("replay", after_checkpoint=1, at_event="checkpoint_triggered")
STOPPED = upgrade("stop", after_checkpoint=2)
KILLED = upgrade("kill", after_checkpoint=2, at_event="checkpoint_triggered")
ON_BOTH = [pytest.param(tier, marks=pytest.mark.tier(tier.value)) for tier in (Tier.SPARK, Tier.CONTAINERS)]


def team(folder: Path, first: str, following: str) -> Path:
    """A copy of the pipelines, in which one names another as its next version."""
    copy = shutil.copytree(FOLDER, folder / "team", ignore=shutil.ignore_patterns("__pycache__")) / first
    copy.write_text(re.sub(r'(?m)^NEXT = ".*"$', f'NEXT = "{following}"', copy.read_text()))
    return copy


def executed(folder: Path, first: str, following: str, fault: FaultSpec, tier: Tier, plan: Plan = PLAN) -> Run:
    system = f"spark+{team(folder, first, following)}"
    runs = folder / "runs"
    runs.mkdir()
    return counting_run(replace(plan, system=system, faults=(fault,)), registry.system(system), tier, runs)


def clauses(run: Run) -> set[str]:
    return {f"{verdict.oracle}/{each.clause}" for verdict in run.verdicts for each in verdict.anomalies}


@pytest.mark.nightly
@pytest.mark.parametrize("tier", ON_BOTH)
@pytest.mark.parametrize("fault", [REPLAYED, STOPPED, KILLED], ids=["replay", "stop", "kill"])
def test_one_that_keeps_names_and_batch_ids_goes_on(fault: FaultSpec, tier: Tier, tmp_path: Path) -> None:
    assert_passes(executed(tmp_path, "orders.py", "orders_v2.py", fault, tier))


@pytest.mark.nightly
@pytest.mark.parametrize("tier", ON_BOTH)
def test_one_that_keeps_its_state_goes_on(tier: Tier, tmp_path: Path) -> None:
    assert_passes(executed(tmp_path, "spending.py", "spending_v2.py", REPLAYED, tier))


@pytest.mark.nightly
@pytest.mark.parametrize("tier", ON_BOTH)
@pytest.mark.parametrize("following", WRONG)
def test_a_mistake_is_refuted_by_the_rule_in_its_file(following: str, tier: Tier, tmp_path: Path) -> None:
    named = NAMED.match((FOLDER / following).read_text())
    assert named is not None
    first = f"{following.partition('_')[0]}.py"
    run = executed(tmp_path, first, following, REPLAYED, tier)
    assert run.outcome is Outcome.FAIL, run.reason
    assert named[1] in clauses(run)
    if following == "spending_by_region.py":
        said = next(each.message for verdict in run.verdicts for each in verdict.anomalies if verdict.oracle == "LIVE")
        assert "the next version (spending_by_region.py) does not start on this checkpoint: " in said
        assert "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE" in said


@pytest.mark.nightly
@pytest.mark.tier("spark")
def test_a_plan_may_expect_that_the_checkpoint_is_refused(tmp_path: Path) -> None:
    plan = replace(PLAN, expected_end=ExpectedEnd.FAILED)
    assert_passes(executed(tmp_path, "spending.py", "spending_by_region.py", STOPPED, Tier.SPARK, plan))


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
