"""Exhibits of QUEUE."""

from __future__ import annotations

import pytest

from holdfast.harness.oracles.queue import QueueOracle
from holdfast.suites.selfcheck.oracles.histories.queue import six_times_the_target_on_a_slow_link
from holdfast.suites.selfcheck.oracles.judging import check_complete, check_exhibit, names


@pytest.mark.parametrize("name", names("QUEUE"))
def test_exhibit(name: str) -> None:
    check_exhibit(name)


def test_what_waits_for_a_slow_link_says_nothing_of_sizes() -> None:
    assert "queued-too-long" not in QueueOracle().judge(six_times_the_target_on_a_slow_link()).checked


def test_every_clause_is_shown_broken_and_kept() -> None:
    check_complete("QUEUE")
