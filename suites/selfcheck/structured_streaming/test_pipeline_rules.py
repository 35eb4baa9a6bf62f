"""Each rule of pipelines has a case for each contract, and a wrong pipeline that the case refutes by that rule."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from holdfast.harness.engine.certification.agenda import owed_by
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.rule import Subject
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.conformance.pipelines import CASES, SHAPES
from holdfast.suites.selfcheck.replaced_runs import named_clauses, run_of_case
from holdfast.suites.selfcheck.structured_streaming import pipelines
from holdfast.suites.selfcheck.structured_streaming.test_pairs import team

FOLDER = Path(pipelines.__path__[0])
RULES = [rule.id for rule in registry.rules() if rule.subjects == (Subject.PIPELINE,)]
BY_ID = {case.id: case for case in CASES}


class Wrong(NamedTuple):
    """A wrong pipeline, and the case that refutes it.

    Attributes:
        case: its id.
        name: of a module of this folder, or of a wrong variant of `spark` with a plus before it.
        following: the next version of a module in the folder `upgrades`; empty: none.
    """

    case: str
    name: str
    following: str = ""


WRONG = {
    "PIP-01": Wrong("pipelines/driver-records", "by_batch_id_wrong"),
    "PIP-02": Wrong("pipelines/executor-records", "first_order_wrong"),
    "PIP-03": Wrong("pipelines/replayed-records", "appended_always"),
    "PIP-04": Wrong("pipelines/executor-records", "overwrites_all"),
    "PIP-05": Wrong("pipelines/executor-records", "first_order_wrong"),
    "PIP-06": Wrong("pipelines/python-worker-records", "first_order_wrong"),
    "PIP-07": Wrong("pipelines/driver-records", "by_batch_id_wrong"),
    "PIP-08": Wrong("pipelines/state-sums", "+puts-old-state-back"),
    "PIP-09": Wrong("pipelines/stands-still-records", "skips_behind_a_pause"),
    "PIP-10": Wrong("pipelines/damaged-records", "begins_anew"),
    "PIP-11": Wrong("pipelines/upgraded-records", "orders", "orders_renamed.py"),
    "PIP-12": Wrong("pipelines/driver-records", "misplaced_checkpoint"),
    "PIP-13": Wrong("pipelines/driver-records", "shared_checkpoint"),
    "PIP-14": Wrong("pipelines/between-outputs-records", "two_commits_wrong"),
}


def deciding(case: Case, rule: str) -> set[str]:
    """The clauses, as `ORACLE/clause`, by which a case decides a rule."""
    return {f"{each.oracle}/{clause}" for each in case.decides if each.rule == rule for clause in each.clauses}


def test_each_rule_has_a_wrong_pipeline_and_a_case_for_each_contract() -> None:
    assert list(WRONG) == RULES
    with_state = {shape.name for shape in SHAPES[1:]}
    for rule in RULES:
        found = {case.id.rpartition("-")[2] for case in CASES if deciding(case, rule)}
        assert found == (with_state if rule == "PIP-08" else {shape.name for shape in SHAPES}), rule
    for rule, wrong in WRONG.items():
        assert deciding(BY_ID[wrong.case], rule)


def test_each_contract_decides_a_rule_by_more_than_loss() -> None:
    for shape in SHAPES:
        clauses = {clause for _, group in shape.clauses for clause in group}
        assert len(clauses) > len(shape.clauses[0][1])


def test_a_certificate_of_a_pipeline_runs_the_cases_of_its_rules_and_that_of_an_engine_does_not() -> None:
    cases = registry.cases()
    of_pipelines = {case.id for case in owed_by(Subject.PIPELINE, cases)}
    of_engines = {case.id for case in owed_by(Subject.RUNTIME, cases)}
    assert of_pipelines == set(BY_ID)
    assert of_engines == {case.id for case in cases} - of_pipelines


def system_of(wrong: Wrong, folder: Path) -> str:
    """The wrong system, with its next version beside it."""
    if wrong.name.startswith("+"):
        return f"spark{wrong.name}"
    if not wrong.following:
        return f"spark+{FOLDER / wrong.name}.py"
    return f"spark+{team(folder, f'{wrong.name}.py', wrong.following)}"


@pytest.mark.nightly
@pytest.mark.tier("spark")
@pytest.mark.parametrize("rule", RULES)
def test_a_wrong_pipeline_is_refuted_by_its_rule(rule: str, tmp_path: Path) -> None:
    wrong = WRONG[rule]
    case = replace(BY_ID[wrong.case], tiers=(Tier.SPARK,))
    system = registry.system(system_of(wrong, tmp_path))
    said = []
    for number in range(case.runs):  # Each plan of a case strikes elsewhere, and one of them where it is wrong.
        runs = tmp_path / f"runs-{number}"
        runs.mkdir()
        run = run_of_case(case, replace(case.plan_for(number), system=system.name), system, runs)
        if run.outcome is Outcome.FAIL:
            assert named_clauses(run) & deciding(case, rule)
            return
        said.append(f"{run.outcome}: {run.reason}")
    pytest.fail(f"no plan of {case.id} refutes it: {said}")
