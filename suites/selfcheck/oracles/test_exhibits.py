"""The bad histories of each clause violate it alone, and its near misses pass."""

from __future__ import annotations

import pytest

from holdfast.harness.model.verdict import Outcome, Verdict
from holdfast.suites.selfcheck.oracles.builder import BY_NAME, EXHIBITS, Exhibit
from holdfast.suites.selfcheck.oracles.output_builder import columnar

OPEN = {("NOLOSS", "excess-unexplained"), ("STABLE", "reader-too-slow")}
"""Clauses that leave a verdict open and fail none; the tests of their oracles show that."""
OF_OUTPUT = ("EXACT", "FEEDBACK", "NOLOSS", "NOREPEAT")


def judged_wrongly(exhibit: Exhibit) -> Verdict | str:
    """What the oracle of an exhibit makes of it where that is wrong; empty if it is right."""
    oracle, history = BY_NAME[exhibit.oracle], exhibit.history()
    if not oracle.applies(history):
        return "it does not apply"
    verdict = oracle.judge(history)
    named = {anomaly.clause for anomaly in verdict.anomalies}
    right = (
        named == ({exhibit.clause} if exhibit.bad else set())
        and verdict.outcome is (Outcome.FAIL if exhibit.bad else Outcome.PASS)
        and verdict.checked.get(exhibit.clause, 0) > 0
    )
    return "" if right else verdict


@pytest.mark.parametrize("oracle", BY_NAME)
def test_its_own_oracle_judges_it_rightly(oracle: str) -> None:
    wrong = {name: judged_wrongly(exhibit) for name, exhibit in EXHIBITS.items() if exhibit.oracle == oracle}
    assert wrong
    assert not {name: found for name, found in wrong.items() if found}


@pytest.mark.parametrize(("clause", "bad"), [("channel-order", False), ("channel-order", True)])
def test_one_that_is_judged_wrongly_is_found(clause: str, bad: bool) -> None:
    exhibit = next(each for each in EXHIBITS.values() if (each.oracle, each.clause, each.bad) == ("CUT", clause, bad))
    assert not judged_wrongly(exhibit)
    assert judged_wrongly(exhibit._replace(bad=not bad))
    assert judged_wrongly(exhibit._replace(clause="of-another"))


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
