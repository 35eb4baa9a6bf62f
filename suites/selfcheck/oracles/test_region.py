"""REGION, beyond its exhibits."""

from __future__ import annotations

from holdfast.harness.model.events import AttemptStarted
from holdfast.harness.oracles.recovery.region import RegionOracle
from holdfast.suites.selfcheck.oracles.histories.region import CHAINS, fails, story


def test_under_full_failover_there_is_one_region() -> None:
    verdict = RegionOracle().judge(story(fails(0), AttemptStarted(), failover="full"))
    assert not verdict.anomalies
    assert not verdict.checked
    torn = RegionOracle().judge(story(fails(0), AttemptStarted(subtasks=CHAINS[0]), failover="full"))
    assert not torn.checked, "one region has no other: what it lacks is decided by COORD and LIVE"
