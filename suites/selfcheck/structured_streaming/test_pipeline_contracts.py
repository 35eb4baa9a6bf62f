"""Rules of pipelines under each contract of a module: a wrong pipeline is refuted by the rule, and the right one is
given what the rule is decided by."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from holdfast.harness.engine.cases.case_status import case_result
from holdfast.harness.engine.cases.results import run_result
from holdfast.harness.engine.cases.tally import Tally
from holdfast.harness.engine.executor.run import Run
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.answers import evidence_of
from holdfast.harness.model.case import Case, Tier, Window
from holdfast.harness.model.journal import Status
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.conformance.pipelines import CASES
from holdfast.suites.selfcheck.replaced_runs import assert_passes, run_of_case
from holdfast.suites.selfcheck.structured_streaming import pipelines

FOLDER = Path(pipelines.__path__[0])
RULE = "PIP-03"
REPLAYED: Case = next(case for case in CASES if case.id == "pipelines/replayed-records")
CONTRACTS = {
    "at-most-once": ("drawn_once_right", "drawn_once_wrong", "NOREPEAT/record-repeated"),
    "values": ("upserted_totals", "added_totals", "EXACT/value-wrong"),
    "invariants-alone": ("sample_right", "sample_wrong", "INVARIANT/broken"),
}
"""By contract, a right pipeline, a wrong one, and the clause that decides."""
CHOSEN = [pytest.param(*row, id=name) for name, row in CONTRACTS.items()]


def ruled(run: Run) -> Status:
    """What the rule comes to by one run."""
    case = replace(REPLAYED, tiers=(Tier.SPARK,))
    tally = Tally()
    tally.add(run_result(run, case.id, 0, 1.0, (Window.RESTORED_STATE,)))
    evidence = evidence_of(registry.system("spark"))
    return case_result(case, Tier.SPARK, 1, tally, registry.toolbox().oracles, evidence).rules[RULE]


def put_to(name: str, folder: Path) -> Run:
    """A run of the case on a pipeline."""
    folder.mkdir()
    system = registry.system(f"spark+{FOLDER / name}.py")
    case = replace(REPLAYED, tiers=(Tier.SPARK,))
    return run_of_case(case, replace(case.plan_for(1), system=system.name), system, folder)


@pytest.mark.parametrize(("right", "wrong", "clause"), CHOSEN)
def test_each_contract_has_a_clause_that_decides_every_rule_of_a_fault(right: str, wrong: str, clause: str) -> None:
    deciding = {f"{each.oracle}/{name}" for each in REPLAYED.decides if each.rule == RULE for name in each.clauses}
    assert clause in deciding
    assert (FOLDER / f"{right}.py").is_file()
    assert clause in (FOLDER / f"{wrong}.py").read_text().splitlines()[0]


@pytest.mark.nightly
@pytest.mark.tier("spark")
@pytest.mark.parametrize(("right", "wrong", "clause"), CHOSEN)
def test_a_rule_is_decided_under_each_contract(right: str, wrong: str, clause: str, tmp_path: Path) -> None:
    run = put_to(right, tmp_path / "right")
    assert_passes(run)
    assert ruled(run) is Status.PASS
    run = put_to(wrong, tmp_path / "wrong")
    assert run.outcome is Outcome.FAIL
    assert ruled(run) is Status.FAIL
