"""REREAD, beyond its exhibits."""

from __future__ import annotations

from holdfast.harness.oracles.recovery.reread import RereadOracle
from holdfast.suites.selfcheck.oracles.builder import HISTORIES


def test_what_cannot_be_told_is_not_decided() -> None:
    assert not RereadOracle().judge(HISTORIES["reread/undecided/a-checkpoint-failed-in-between"]()).checked
    assert not RereadOracle().judge(HISTORIES["reread/undecided/sources-lag-behind"]()).checked
