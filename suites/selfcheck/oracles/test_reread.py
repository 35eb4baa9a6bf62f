"""REREAD, beyond its exhibits."""

from __future__ import annotations

from holdfast.harness.oracles.recovery.reread import RereadOracle
from holdfast.suites.selfcheck.oracles.histories.reread import a_checkpoint_failed_in_between, sources_lag_behind


def test_what_cannot_be_told_is_not_decided() -> None:
    assert not RereadOracle().judge(a_checkpoint_failed_in_between()).checked
    assert not RereadOracle().judge(sources_lag_behind()).checked
