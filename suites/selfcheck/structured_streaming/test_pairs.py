"""Pipelines as teams write them, in pairs: nothing refutes the right one, and the rule in its file the wrong one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.conformance.structured_streaming import CASES
from holdfast.suites.selfcheck.structured_streaming import pipelines

FOLDER = Path(pipelines.__path__[0])
RIGHT = sorted(path.name for path in FOLDER.glob("*_right.py"))
IN_EACH_CHANGE = "deduplication_right.py"
PAIRS = [
    pytest.param(name, marks=() if name == IN_EACH_CHANGE else pytest.mark.nightly, id=name.removesuffix("_right.py"))
    for name in RIGHT
]
"""The others take a minute each."""


def executed(path: Path, folder: Path) -> Run:
    """The plan of a case in which a micro-batch runs twice."""
    [plan] = [case.plan_for(1) for case in CASES if case.id == "structured-streaming/replayed-files"]
    # Else the last batch may be one without input, which only moves the watermark on: to replay that shows nothing.
    plan = replace(plan, options={**plan.options, "spark.sql.streaming.noDataMicroBatches.enabled": "false"})
    folder.mkdir()
    name = f"spark+{path}"
    return run_plan(replace(plan, system=name), registry.system(name), registry.toolbox(), Tier.SPARK, folder)


@pytest.mark.tier("spark")
@pytest.mark.parametrize("right", PAIRS)
def test_each_of_a_pair_is_judged_rightly(right: str, tmp_path: Path) -> None:
    run = executed(FOLDER / right, tmp_path / "right")
    assert (run.outcome, run.reason) == (Outcome.PASS, "")
    wrong = FOLDER / right.replace("_right", "_wrong")
    named = re.search(r"([A-Z]+/[a-z-]+)\.", wrong.read_text())
    assert named is not None, f"{wrong.name} names no rule"
    run = executed(wrong, tmp_path / "wrong")
    assert run.outcome is Outcome.FAIL
    assert named[1] in {f"{verdict.oracle}/{each.clause}" for verdict in run.verdicts for each in verdict.anomalies}
