"""What the tests of all oracles ask: the bad histories of a clause name it alone, its near misses pass."""

from __future__ import annotations

from collections.abc import Set

from holdfast.harness.model.verdict import Outcome
from holdfast.harness.oracles import ORACLES
from holdfast.suites.selfcheck.oracles.builder import EXHIBITS
from holdfast.suites.selfcheck.oracles.output_builder import columnar

BY_NAME = {oracle.name: oracle for oracle in ORACLES}


def names(oracle: str) -> list[str]:
    """The exhibits of one oracle."""
    return [name for name, exhibit in EXHIBITS.items() if exhibit.oracle == oracle]


def check_exhibit(name: str) -> None:
    """Judge an exhibit by its own oracle."""
    exhibit = EXHIBITS[name]
    oracle, history = BY_NAME[exhibit.oracle], exhibit.history()
    assert oracle.applies(history)
    verdict = oracle.judge(history)
    assert {anomaly.clause for anomaly in verdict.anomalies} == ({exhibit.clause} if exhibit.bad else set()), verdict
    assert verdict.outcome is (Outcome.FAIL if exhibit.bad else Outcome.PASS), verdict
    assert verdict.checked.get(exhibit.clause, 0) > 0, verdict


def check_output_exhibit(name: str) -> None:
    """As `check_exhibit`, and the verdict is the same whichever form the rows come in."""
    check_exhibit(name)
    exhibit = EXHIBITS[name]
    oracle, history = BY_NAME[exhibit.oracle], exhibit.history()
    assert oracle.judge(columnar(history)) == oracle.judge(history)


def check_complete(oracle: str, inconclusive: Set[str] = frozenset()) -> None:
    """Every clause has an exhibit of either kind, but for those that only ever leave something open."""
    shown = {(exhibit.clause, exhibit.bad) for exhibit in EXHIBITS.values() if exhibit.oracle == oracle}
    kinds = {(clause, bad) for clause in BY_NAME[oracle].clauses for bad in (True, False)}
    assert shown == kinds - {(clause, True) for clause in inconclusive}
