"""What the tests of all oracles ask: the bad histories of a clause name it alone, its near misses pass."""

from __future__ import annotations

from holdfast.harness.model.verdict import Outcome
from holdfast.harness.oracles import ORACLES
from holdfast.suites.selfcheck.oracles.builder import EXHIBITS

BY_NAME = {oracle.name: oracle for oracle in ORACLES}


def names(oracle: str) -> list[str]:
    """The exhibits of one oracle."""
    return [name for name, exhibit in EXHIBITS.items() if exhibit.oracle == oracle]


def check_exhibit(name: str) -> None:
    """Judge an exhibit by its own oracle."""
    exhibit = EXHIBITS[name]
    verdict = BY_NAME[exhibit.oracle].judge(exhibit.history())
    assert {anomaly.clause for anomaly in verdict.anomalies} == ({exhibit.clause} if exhibit.bad else set()), verdict
    assert verdict.outcome is (Outcome.FAIL if exhibit.bad else Outcome.PASS), verdict
    assert verdict.checked.get(exhibit.clause, 0) > 0, verdict


def check_complete(oracle: str) -> None:
    """Every clause has an exhibit of either kind."""
    shown = {(exhibit.clause, exhibit.bad) for exhibit in EXHIBITS.values() if exhibit.oracle == oracle}
    assert shown == {(clause, bad) for clause in BY_NAME[oracle].clauses for bad in (True, False)}
