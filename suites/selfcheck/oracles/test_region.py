"""REGION, beyond its exhibits."""

from __future__ import annotations

from holdfast.harness.model.jobs import FORWARD
from holdfast.harness.oracles.recovery.region import RegionOracle
from holdfast.suites.selfcheck.oracles.builder import story
from holdfast.suites.selfcheck.oracles.histories.chains import CHAINS
from holdfast.suites.selfcheck.oracles.lines import attempt, failure, tasks


def test_under_full_failover_there_is_one_region() -> None:
    full = {"jobmanager.execution.failover-strategy": "full", "execution.checkpointing.interval": "100 ms"}
    begun = (attempt(), tasks(*CHAINS[0], *CHAINS[1]), failure("it fails", CHAINS[0][0], *CHAINS[0]))
    verdict = RegionOracle().judge(story(*begun, attempt(), job=FORWARD, options=full))
    assert not verdict.anomalies
    assert not verdict.checked
    torn = RegionOracle().judge(story(*begun, attempt(None, *CHAINS[0]), job=FORWARD, options=full))
    assert not torn.checked, "one region has no other: what it lacks is decided by COORD and LIVE"
