"""PACE, beyond its exhibits."""

from __future__ import annotations

from holdfast.harness.oracles.triggering.pace import PaceOracle
from holdfast.suites.selfcheck.oracles.histories.pace import (
    all_is_late_on_a_busy_machine,
    nothing_due_before_the_second_half,
    records_wait_in_the_harness,
)


def test_a_busy_machine_decides_nothing_about_the_flow() -> None:
    assert "records-stand-still" not in PaceOracle().judge(all_is_late_on_a_busy_machine()).checked


def test_records_that_wait_in_the_harness_decide_nothing_about_the_flow() -> None:
    assert "records-stand-still" not in PaceOracle().judge(records_wait_in_the_harness()).checked


def test_records_that_are_not_due_decide_nothing_about_the_flow() -> None:
    assert "records-stand-still" not in PaceOracle().judge(nothing_due_before_the_second_half()).checked
