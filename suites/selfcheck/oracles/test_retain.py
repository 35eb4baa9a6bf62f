"""RETAIN: what it leaves undecided."""

from __future__ import annotations

from holdfast.harness.oracles.retention.retain import RetainOracle
from holdfast.suites.selfcheck.oracles.builder import HISTORIES


def test_a_store_that_fails_by_itself_may_fail_everything() -> None:
    verdict = RetainOracle().judge(HISTORIES["retain/undecided/store-fails-by-itself"]())
    assert not verdict.anomalies
    assert "failed-deletion-fails" not in verdict.checked
