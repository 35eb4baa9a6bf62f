"""PACE, beyond its exhibits."""

from __future__ import annotations

from holdfast.harness.oracles.triggering.pace import PaceOracle
from holdfast.suites.selfcheck.oracles.builder import HISTORIES


def test_a_busy_machine_decides_nothing_about_the_flow() -> None:
    assert (
        "records-stand-still"
        not in PaceOracle().judge(HISTORIES["pace/undecided/all-is-late-on-a-busy-machine"]()).checked
    )


def test_records_that_wait_in_the_harness_decide_nothing_about_the_flow() -> None:
    assert (
        "records-stand-still"
        not in PaceOracle().judge(HISTORIES["pace/undecided/records-wait-in-the-harness"]()).checked
    )


def test_records_that_are_not_due_decide_nothing_about_the_flow() -> None:
    assert (
        "records-stand-still"
        not in PaceOracle().judge(HISTORIES["pace/undecided/nothing-due-before-the-second-half"]()).checked
    )


def test_a_synchronous_write_that_is_held_up_decides_nothing_about_the_flow() -> None:
    assert (
        "records-stand-still" not in PaceOracle().judge(HISTORIES["pace/undecided/synchronous-write-held-up"]()).checked
    )
