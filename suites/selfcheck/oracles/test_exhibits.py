"""The bad histories of each clause violate it alone, and its near misses pass."""

from __future__ import annotations

import pytest

from holdfast.harness.model.verdict import Outcome
from holdfast.suites.selfcheck.oracles.builder import EXHIBITS
from holdfast.suites.selfcheck.oracles.judging import BY_NAME
from holdfast.suites.selfcheck.oracles.output_builder import columnar

OPEN = {("NOLOSS", "excess-unexplained"), ("STABLE", "reader-too-slow")}
"""Clauses that leave a verdict open and fail none; the tests of their oracles show that."""
OF_OUTPUT = ("EXACT", "FEEDBACK", "NOLOSS", "NOREPEAT")


@pytest.mark.parametrize("name", EXHIBITS)
def test_its_own_oracle_judges_it_rightly(name: str) -> None:
    exhibit = EXHIBITS[name]
    oracle, history = BY_NAME[exhibit.oracle], exhibit.history()
    assert oracle.applies(history)
    verdict = oracle.judge(history)
    assert {anomaly.clause for anomaly in verdict.anomalies} == ({exhibit.clause} if exhibit.bad else set()), verdict
    assert verdict.outcome is (Outcome.FAIL if exhibit.bad else Outcome.PASS), verdict
    assert verdict.checked.get(exhibit.clause, 0) > 0, verdict


@pytest.mark.parametrize("name", [name for name, exhibit in EXHIBITS.items() if exhibit.oracle in OF_OUTPUT])
def test_the_verdict_is_the_same_whichever_form_the_rows_have(name: str) -> None:
    exhibit = EXHIBITS[name]
    oracle, history = BY_NAME[exhibit.oracle], exhibit.history()
    assert oracle.judge(columnar(history)) == oracle.judge(history)


@pytest.mark.parametrize("oracle", BY_NAME)
def test_every_clause_has_an_exhibit_of_either_kind(oracle: str) -> None:
    shown = {(exhibit.clause, exhibit.bad) for exhibit in EXHIBITS.values() if exhibit.oracle == oracle}
    kinds = {(clause, bad) for clause in BY_NAME[oracle].clauses for bad in (True, False)}
    assert shown == {(clause, bad) for clause, bad in kinds if not (bad and (oracle, clause) in OPEN)}
