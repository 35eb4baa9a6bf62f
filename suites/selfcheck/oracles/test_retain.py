"""RETAIN: what it leaves undecided."""

from __future__ import annotations

from holdfast.harness.oracles.retention.retain import RetainOracle
from holdfast.suites.selfcheck.oracles.histories.retain import store_fails_by_itself


def test_a_store_that_fails_by_itself_may_fail_everything() -> None:
    verdict = RetainOracle().judge(store_fails_by_itself())
    assert not verdict.anomalies
    assert "failed-deletion-fails" not in verdict.checked
