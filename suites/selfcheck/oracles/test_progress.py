"""PROGRESS, beyond its exhibits."""

from __future__ import annotations

from holdfast.harness.oracles.liveness.progress import ProgressOracle
from holdfast.suites.selfcheck.oracles.builder import HISTORIES, in_real_time


def test_it_says_nothing_where_a_process_may_wait_for_the_machine() -> None:
    assert (
        ProgressOracle()
        .judge(in_real_time(HISTORIES["progress/attempt-not-started/nothing-begins-again"]()))
        .had_nothing_to_decide
    )
