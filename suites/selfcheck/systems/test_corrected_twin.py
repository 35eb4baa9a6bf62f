"""The proof that the harness knows no system: a stranger's claim is refuted, and that of its corrected twin is not."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import msgspec
import pytest

from holdfast.harness.engine.artefacts.plan_file import read_plan
from holdfast.harness.engine.executor.run import Run
from holdfast.harness.engine.plans.validate import check_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.oracles.output.exact import ExactOracle
from holdfast.harness.oracles.output.noloss import NoLossOracle
from holdfast.suites.selfcheck.replaced_runs import counting_run


def executed(plan_file: str, folder: Path) -> Run:
    """A plan of `fixtures/systems/plans`, run as the command line runs it, and judged by its output."""
    path = resources.files("holdfast.fixtures.systems") / "plans" / plan_file
    plan = read_plan(path.read_bytes(), str(path))
    system = registry.system(plan.system)
    tools = msgspec.structs.replace(registry.toolbox(), oracles=(ExactOracle(), NoLossOracle()))
    check_plan(plan, system, Tier.PROCESS, tools)
    return counting_run(plan, system, Tier.PROCESS, folder, tools=tools)


def test_the_claim_of_the_program_that_acknowledges_first_is_refuted(tmp_path: Path) -> None:
    run = executed("kill.json", tmp_path)
    assert run.outcome is Outcome.FAIL
    named = {anomaly.clause for verdict in run.verdicts for anomaly in verdict.anomalies}
    assert named >= {"row-wrong", "input-missing", "input-lost"}


def test_the_claim_of_the_twin_is_not(tmp_path: Path) -> None:
    run = executed("kill-twin.json", tmp_path)
    assert (run.outcome, run.reason) == (Outcome.PASS, "")
    assert run.history.end.faults_landed == (True, True, True)
    assert all(
        verdict.checked["input-missing" if verdict.oracle == "EXACT" else "input-lost"] for verdict in run.verdicts
    )


def test_both_plans_are_the_same_but_for_the_system() -> None:
    folder = resources.files("holdfast.fixtures.systems") / "plans"
    first, twin = (read_plan((folder / name).read_bytes(), name) for name in ("kill.json", "kill-twin.json"))
    assert (first.system, twin.system) == ("acknowledges-first", "persists-first")
    assert msgspec.structs.replace(first, system=twin.system) == twin


@pytest.mark.parametrize("program", ["acknowledges_first", "persists_first"])
def test_a_program_shares_no_code_with_anybody(program: str) -> None:
    path = resources.files("holdfast.fixtures.systems") / "programs" / f"{program}.py"
    imported = [line for line in path.read_text().splitlines() if line.startswith(("import ", "from "))]
    modules = {line.split()[1].partition(".")[0] for line in imported}
    assert modules <= {"collections", "json", "os", "select", "sys", "time", "typing"}
