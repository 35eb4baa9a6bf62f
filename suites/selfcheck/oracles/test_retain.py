"""RETAIN: exhibits, and what it leaves undecided."""

from __future__ import annotations

import pytest

from holdfast.harness.oracles.retain import RetainOracle
from holdfast.suites.selfcheck.oracles.histories.retain import store_fails_by_itself
from holdfast.suites.selfcheck.oracles.judging import check_complete, check_exhibit, names


@pytest.mark.parametrize("name", names("RETAIN"))
def test_exhibit(name: str) -> None:
    check_exhibit(name)


def test_every_clause_is_shown_broken_and_kept() -> None:
    check_complete("RETAIN")


def test_a_store_that_fails_by_itself_may_fail_everything() -> None:
    verdict = RetainOracle().judge(store_fails_by_itself())
    assert not verdict.anomalies
    assert "failed-deletion-fails" not in verdict.checked
