"""Pipelines as teams write them, in pairs: nothing refutes the right one, and the rule in its file the wrong one. Each
pair takes a minute, so that all of them are left to the night."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from holdfast.harness.engine.executor.run import Run
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.conformance.structured_streaming import CASES
from holdfast.suites.selfcheck.replaced_runs import assert_passes, counting_run
from holdfast.suites.selfcheck.structured_streaming import pipelines

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
    assert named[1] in {f"{verdict.oracle}/{each.clause}" for verdict in run.verdicts for each in verdict.anomalies}


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
