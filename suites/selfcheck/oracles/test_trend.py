"""TREND, beyond its exhibits."""

from __future__ import annotations

import pytest

from holdfast.harness.oracles.coordinator.trend import TrendOracle, excess
from holdfast.suites.selfcheck.oracles.builder import HISTORIES


def test_few_checkpoints_say_nothing() -> None:
    assert not TrendOracle().applies(HISTORIES["trend/undecided/few"]())
    assert not TrendOracle().judge(HISTORIES["trend/undecided/until-one-fails"]()).checked


def test_the_excess_of_ranks_is_that_of_the_books() -> None:
    """Two groups of three without ties: the sum of the higher ranks is 15, its mean 10.5, its variance 5.25."""
    assert excess([1, 2, 3], [4, 5, 6]) == pytest.approx(4.5 / 5.25**0.5)
    assert excess([4, 5, 6], [1, 2, 3]) == pytest.approx(-4.5 / 5.25**0.5)
    assert excess([1, 1], [1, 1]) == 0
    assert excess([1, 2, 2], [2, 3, 4]) == pytest.approx((14 - 10.5) / (9 / 12 * (7 - 24 / 30)) ** 0.5)
