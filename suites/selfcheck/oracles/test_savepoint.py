"""SAVEPOINT, beyond its exhibits."""

from __future__ import annotations

from holdfast.harness.oracles.savepoints.savepoint import SavepointOracle
from holdfast.suites.selfcheck.oracles.builder import HISTORIES


def test_before_1_15_every_savepoint_was_a_recovery_point() -> None:
    assert (
        not SavepointOracle().judge(HISTORIES["savepoint/undecided/in-version-1-14-it-is-a-recovery-point"]()).anomalies
    )


def test_state_may_be_left_out_where_that_is_allowed() -> None:
    assert not SavepointOracle().judge(HISTORIES["savepoint/undecided/may-run-without-an-operator"]()).anomalies
