"""COUNT, beyond its exhibits."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model.events import AttemptStarted, FailureCounted, RestartScheduled
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role, Target
from holdfast.harness.oracles.restart.count import CountOracle
from holdfast.suites.selfcheck.oracles.builder import injected, story
from holdfast.suites.selfcheck.oracles.histories.count import FIXED, OF_1_14, POISONED, RESTART


def test_a_paused_coordinator_is_late_with_everything() -> None:
    """It counts the failure after the pause and restarts by a timer that it had set before."""
    pause = FaultSpec("pause", Target(Role.COORDINATOR))
    hit = injected("pause", "coordinator[0]")
    verdict = CountOracle().judge(
        story(
            AttemptStarted(), hit, FailureCounted(cause="expired"), RestartScheduled(delay_ms=1_000), AttemptStarted(),
            options={"restart-strategy.type": "fixed-delay"}, faults=(pause,),
        )
    )  # fmt: skip
    assert not verdict.anomalies
    assert "delay-too-short" not in verdict.checked


def _row(times: int, options: Mapping[str, str]) -> tuple[str, ...]:
    """What is said of a record that fails so many times."""
    lines = [line for _ in range(times) for line in (*POISONED, *RESTART[1:])]
    return CountOracle().judge(story(AttemptStarted(), *lines, options=options)).information


def test_a_record_that_fails_for_ever_is_told_with_its_cause() -> None:
    (notified,) = _row(4, OF_1_14)
    assert "record 7 of partition 0 makes source[0] fail on every attempt (it cannot be parsed), 4 in a row" in notified


def test_a_record_whose_failures_come_to_an_end_is_not_told() -> None:
    assert _row(2, OF_1_14) == ()
    assert _row(4, {**FIXED, "restart-strategy.fixed-delay.attempts": "9"}) == ()
