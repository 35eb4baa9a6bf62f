"""Clauses and variants that were renamed are still known by their former names, and by no other."""

from __future__ import annotations

import msgspec
import pytest

from holdfast.fixtures.mutants.named import FORMER_NAMES, parts_of
from holdfast.fixtures.mutants.variants import VARIANTS
from holdfast.harness.model.case import Case, Decision
from holdfast.harness.model.finding import Violation
from holdfast.harness.model.former_names import CLAUSES, current_clause
from holdfast.harness.model.verdict import Anomaly, Outcome, Verdict
from holdfast.harness.oracles import ORACLES
from holdfast.suites.conformance.plans import plan

KNOWN = {f"{oracle.name}/{clause}" for oracle in ORACLES for clause in oracle.clauses}


def test_each_former_name_leads_to_a_clause_and_is_none_itself() -> None:
    assert CLAUSES
    assert set(CLAUSES.values()) <= KNOWN
    assert not KNOWN & set(CLAUSES)


def test_a_clause_of_another_oracle_keeps_its_name() -> None:
    assert current_clause("TXN", "abort-not-told") == "abort-not-told"


@pytest.mark.parametrize(("former", "current"), CLAUSES.items())
def test_stored_verdicts_are_read_under_the_current_name(former: str, current: str) -> None:
    (oracle, old), (_, new) = former.split("/"), current.split("/")
    stored = {"oracle": oracle, "outcome": "fail", "anomalies": [{"clause": old, "message": "m"}], "checked": {old: 2}}
    read = msgspec.json.decode(msgspec.json.encode(stored), type=Verdict)
    assert read == Verdict(oracle, Outcome.FAIL, (Anomaly(new, "m"),), {new: 2})
    assert read.rests_on({current})
    violation = msgspec.convert({"oracle": oracle, "clause": old, "meaning": "", "message": "m"}, Violation)
    assert violation.name == current


@pytest.mark.parametrize(("former", "current"), CLAUSES.items())
def test_a_case_of_another_package_decides_by_the_current_name(former: str, current: str) -> None:
    oracle, old = former.split("/")
    decision = Decision("CRD-01", oracle, (old,), "completes-without-ack")
    assert f"{oracle}/{decision.clauses[0]}" == current
    control = Case(id="a/b", purpose="", method="", passes="", decides=(), plan=plan(), refutes=frozenset({former}))
    assert control.refutes == {current}


@pytest.mark.parametrize(("former", "current"), FORMER_NAMES.items())
def test_a_stored_plan_may_hold_the_former_name_of_a_variant(former: str, current: str) -> None:
    assert former not in VARIANTS
    assert parts_of(former) is VARIANTS[current]
