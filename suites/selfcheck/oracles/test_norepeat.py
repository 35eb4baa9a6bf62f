"""NOREPEAT lets records be lost, and nothing be repeated."""

from __future__ import annotations

import pytest

from holdfast.harness.model.capability import AT_LEAST_ONCE, EXACTLY_ONCE, Guarantee
from holdfast.harness.model.job import REBALANCE
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.oracles.norepeat import NoRepeatOracle
from holdfast.suites.selfcheck.oracles.builder import story
from holdfast.suites.selfcheck.oracles.histories.norepeat import one_is_lost
from holdfast.suites.selfcheck.oracles.output_builder import columnar, exhibits_of

ORACLE = NoRepeatOracle()
EXHIBITS = exhibits_of("NOREPEAT")


@pytest.mark.parametrize("name", EXHIBITS)
def test_exhibit(name: str) -> None:
    exhibit = EXHIBITS[name]
    history = exhibit.history()
    assert ORACLE.applies(history)
    verdict = ORACLE.judge(history)
    assert {anomaly.clause for anomaly in verdict.anomalies} == ({exhibit.clause} if exhibit.bad else set())
    assert verdict.outcome is (Outcome.FAIL if exhibit.bad else Outcome.PASS)
    assert verdict.checked[exhibit.clause] > 0
    assert ORACLE.judge(columnar(history)) == verdict


def test_every_clause_has_an_exhibit_of_either_kind() -> None:
    kinds = {(exhibit.clause, exhibit.bad) for exhibit in EXHIBITS.values()}
    assert kinds == {(clause, bad) for clause in ORACLE.clauses for bad in (True, False)}


def test_what_is_lost_is_told() -> None:
    assert ORACLE.judge(one_is_lost()).information == (
        "1 records are lost, and at-least-once was not claimed: offset 1 of partition 0",
    )


@pytest.mark.parametrize("claimed", [EXACTLY_ONCE, AT_LEAST_ONCE])
def test_other_claims_are_judged_elsewhere(claimed: frozenset[Guarantee]) -> None:
    assert not ORACLE.applies(story(job=REBALANCE, claimed=claimed))


def test_without_rows_nothing_is_decided() -> None:
    assert ORACLE.judge(story(job=REBALANCE)).outcome is Outcome.INCONCLUSIVE


def test_sums_are_not_its_business() -> None:
    assert ORACLE.judge(story()).outcome is Outcome.INCONCLUSIVE
