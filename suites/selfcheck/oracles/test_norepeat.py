"""NOREPEAT lets records be lost, and nothing be repeated."""

from __future__ import annotations

import pytest

from holdfast.harness.model.capability import AT_LEAST_ONCE, EXACTLY_ONCE, Guarantee
from holdfast.harness.model.jobs import REBALANCE
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.oracles.output.norepeat import NoRepeatOracle
from holdfast.suites.selfcheck.oracles.builder import HISTORIES, story

ORACLE = NoRepeatOracle()


def test_what_is_lost_is_told() -> None:
    assert ORACLE.judge(HISTORIES["norepeat/record-repeated/one-is-lost"]()).information == (
        "1 record is lost, and at-least-once was not claimed: offset 1 of partition 0",
    )


@pytest.mark.parametrize("claimed", [EXACTLY_ONCE, AT_LEAST_ONCE])
def test_other_claims_are_judged_elsewhere(claimed: frozenset[Guarantee]) -> None:
    assert not ORACLE.applies(story(job=REBALANCE, claimed=claimed))


def test_without_rows_nothing_is_decided() -> None:
    assert ORACLE.judge(story(job=REBALANCE)).outcome is Outcome.INCONCLUSIVE


def test_sums_are_not_its_business() -> None:
    assert ORACLE.judge(story()).outcome is Outcome.INCONCLUSIVE
