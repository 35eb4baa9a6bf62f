"""SAVEPOINT, beyond its exhibits."""

from __future__ import annotations

from holdfast.harness.oracles.savepoints.savepoint import SavepointOracle
from holdfast.suites.selfcheck.oracles.histories.savepoint import (
    in_version_1_14_it_is_a_recovery_point,
    may_run_without_an_operator,
)


def test_before_1_15_every_savepoint_was_a_recovery_point() -> None:
    assert not SavepointOracle().judge(in_version_1_14_it_is_a_recovery_point()).anomalies


def test_state_may_be_left_out_where_that_is_allowed() -> None:
    assert not SavepointOracle().judge(may_run_without_an_operator()).anomalies
