"""Every pair of a case and a rule on trial: the clause that decides it names the wrong step of its mutant, and clauses
that do not follow from that step stay silent. That the runtime itself passes is what suites/conformance shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from holdfast.fixtures.mutants.compose import LOST
from holdfast.fixtures.mutants.variants import VARIANTS, WRITTEN
from holdfast.harness.engine.cases.case import is_control
from holdfast.harness.engine.executor.judge import judge
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Case, Decision, Tier, plan_for
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.spi.system import declared
from holdfast.suites.selfcheck.oracles.builder import HISTORIES
from holdfast.suites.selfcheck.replaced_runs import run_of_case

HISTORY = "history:"
SYSTEM = "system:"


def _marks(case: Case, decision: Decision) -> list[pytest.MarkDecorator]:
    """A wrong system runs where the case does, those of Spark by night; mutants run on the simulator."""
    if not decision.mutant.startswith(SYSTEM):
        return []
    tier = case.tiers[0]
    return [pytest.mark.tier(tier.value), *([pytest.mark.nightly] if tier is Tier.SPARK else [])]


TRIALS = [
    pytest.param(case, decision, id=f"{case.id}-{decision.rule}-{decision.mutant}", marks=_marks(case, decision))
    for case in registry.cases()
    for decision in case.decides
]
DECIDED = """
    BAR-01 BAR-02 BAR-03 BAR-04 BAR-05 BAR-06 BAR-07 BAR-08 BAR-09 CRD-01 CRD-02 CRD-03 CRD-04
    REC-01 REC-02 REC-03 REC-04 REC-05 RST-01 RST-03 RST-04 RST-05 E2E-02 E2E-03 E2E-04
    TPC-01 TPC-02 TPC-03 TPC-04 STO-01 CFG-01 CFG-02 CFG-03 CFG-04 CFG-05 CFG-06 CFG-07 CFG-08 CFG-09 RST-07 E2E-01
"""


def test_the_first_wave_of_rules_is_decided() -> None:
    assert {decision.rule for case in registry.cases() for decision in case.decides} >= set(DECIDED.split())


def test_a_negative_control_decides_nothing_and_says_what_it_is_refuted_by() -> None:
    clauses = {f"{oracle.name}/{clause}" for oracle in registry.toolbox().oracles for clause in oracle.clauses}
    for case in registry.cases():
        assert bool(case.refutes) is is_control(case), case.id
        assert case.refutes <= clauses, case.id
        assert not (is_control(case) and case.decides), case.id


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in registry.cases() if case.decides])
def test_each_pair_is_complete(case: Case) -> None:
    clauses = {oracle.name: oracle.clauses for oracle in registry.toolbox().oracles}
    rules = {rule.id for rule in registry.rules()}
    for decision in case.decides:
        assert decision.rule in rules, decision
        assert decision.clauses, decision
        assert set(decision.clauses) <= set(clauses[decision.oracle]), decision
        if decision.mutant.startswith(SYSTEM):
            assert declared(registry.system(decision.mutant.removeprefix(SYSTEM))) >= case.needs, decision
        else:
            assert decision.mutant in VARIANTS or decision.mutant.removeprefix(HISTORY) in HISTORIES, decision


@pytest.mark.parametrize(("case", "decision"), TRIALS)
@pytest.mark.share(24)
def test_the_mutant_is_named_by_the_clause_and_nothing_else_is(case: Case, decision: Decision, tmp_path: Path) -> None:
    named = _named(case, decision.mutant, tmp_path)
    deciding = {f"{decision.oracle}/{clause}" for clause in decision.clauses}
    assert named & deciding
    assert named <= deciding.union(FOLLOWS.get(decision.mutant, ()))


_found: dict[tuple[str, str], set[str]] = {}
"""By case and mutant, the clauses that name it: rules that are decided by the same runs share them."""


def _named(case: Case, mutant: str, folder: Path) -> set[str]:
    control = _control(case, mutant)
    if control is not None:
        return set(control.refutes)
    if (case.id, mutant) not in _found:
        _found[case.id, mutant] = {
            f"{verdict.oracle}/{anomaly.clause}"
            for verdicts in _trials(case, mutant, folder)
            for verdict in verdicts
            for anomaly in verdict.anomalies
        }
    return _found[case.id, mutant]


def _control(case: Case, mutant: str) -> Case | None:
    """The negative control that puts the same plan to the same wrong system: it is run where all cases are."""
    if not mutant.startswith(SYSTEM):
        return None
    plan = replace(_plan_against(case), system=mutant.removeprefix(SYSTEM))
    return next((each for each in registry.cases() if is_control(each) and each.plan == plan), None)


def _plan_against(case: Case) -> Plan:
    made = case.mutant_plan
    return made if isinstance(made, Plan) else case.plan_for(0)


def _trials(case: Case, mutant: str, folder: Path) -> Iterator[tuple[Verdict, ...]]:
    """The verdicts on the mutant, on every plan of the case or on the one that is made for it."""
    tools = registry.toolbox()
    if mutant.startswith(HISTORY):
        yield judge(HISTORIES[mutant.removeprefix(HISTORY)](), tools.oracles)
        return
    if mutant.startswith(SYSTEM):
        wrong = registry.system(mutant.removeprefix(SYSTEM))
        yield run_of_case(case, _plan_against(case), wrong, folder).verdicts
        return
    system = registry.system(f"reference+{mutant}")
    chosen = case.mutant_plan or case.plan
    for number in range(case.runs):
        yield run_plan(plan_for(chosen, number), system, tools).verdicts
        if isinstance(chosen, Plan):
            return


FOLLOWS: Mapping[str, tuple[str, ...]] = {
    **{name: row.follows for name, row in WRITTEN.items()},
    "history:exact/input-missing/last-records-missing": ("NOLOSS/input-lost",),
    "history:resume/position-behind/ready-before-the-checkpoint": ("EXACT/input-missing", "NOLOSS/input-lost"),
    "history:place/folder-shared/two-queries-of-one-folder": LOST,
    "history:place/written-elsewhere/a-folder-beside-it": LOST,
    "history:local/moved/two-subtasks-change-places": ("PROGRESS/task-not-started", *LOST),
    "history:exact/value-wrong/appended-total-too-high": ("NOLOSS/value-wrong",),
    "history:invariant/broken/a-sum-that-is-not-preserved-for-a-while": LOST,
    "history:place/not-written/nothing-behind-a-micro-batch": LOST,
    "system:acknowledges-first": LOST,
    "system:json-lines+restores-older-checkpoint": ("RESUME/position-behind",),
    "system:holdfast.suites.certify.scaffolds.system.wrong:WrongEngine": (
        *LOST,
        "EXACT/counts-stepped-back",
        "EXACT/row-repeated",
    ),
    "system:spark+puts-old-state-back": (
        "STATE/state-extra",
        "WINDOW/window-wrong",
        "WINDOW/window-repeated",
        "WINDOW/window-missing",
    ),
}
