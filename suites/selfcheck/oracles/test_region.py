"""Exhibits of REGION."""

from __future__ import annotations

import pytest

from holdfast.harness.model.events import AttemptStarted
from holdfast.harness.oracles.region import RegionOracle
from holdfast.suites.selfcheck.oracles.histories.region import CHAINS, fails, story
from holdfast.suites.selfcheck.oracles.judging import check_complete, check_exhibit, names


@pytest.mark.parametrize("name", names("REGION"))
def test_exhibit(name: str) -> None:
    check_exhibit(name)


def test_every_clause_is_shown_broken_and_kept() -> None:
    check_complete("REGION")


def test_under_full_failover_there_is_one_region() -> None:
    verdict = RegionOracle().judge(story(fails(0), AttemptStarted(), failover="full"))
    assert not verdict.anomalies
    assert not verdict.checked
    torn = RegionOracle().judge(story(fails(0), AttemptStarted(subtasks=CHAINS[0]), failover="full"))
    assert not torn.checked, "one region has no other: what it lacks is decided by COORD and LIVE"
