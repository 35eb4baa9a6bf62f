"""Histories for COUNT: recoveries that fail, and what is counted of them."""

from __future__ import annotations

from holdfast.harness.model.events import (
    AttemptStarted,
    Event,
    FailureCounted,
    JobStatus,
    JobSwitched,
    NodeDied,
    RecoveryFailed,
    RestartScheduled,
    StorageFailed,
)
from holdfast.harness.model.history import History
from holdfast.suites.selfcheck.oracles.builder import OPTIONS, Line, exhibits, story

bad, near = exhibits("COUNT")

DELAYED = {**OPTIONS, "restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.delay": "100 ms"}


def unreadable() -> list[Event]:
    refused = StorageFailed(operation="read-metadata", path="checkpoints/", reason="injected error", injected=True)
    failed = RecoveryFailed(checkpoint=0, reason="injected error")
    return [refused, failed, FailureCounted(cause="injected error"), RestartScheduled(delay_ms=100)]


def told(*lines: Line) -> History:
    return story(AttemptStarted(), *lines, options={**DELAYED, "restart-strategy.fixed-delay.attempts": "9"})


@bad("recovery-fails-twice")
def it_fails_again_at_once() -> History:
    return told(unreadable(), 10, unreadable(), 110, AttemptStarted())


@near("recovery-fails-twice")
def it_fails_again_after_the_delay() -> History:
    return told(unreadable(), 100, unreadable(), 110, AttemptStarted())


@near("recovery-fails-twice")
def the_next_coordinator_fails_too() -> History:
    died = NodeDied(dead_node="coordinator", cause="kill")
    return told(unreadable(), 10, died, unreadable(), 110, AttemptStarted())


@near("recovery-fails-twice")
def a_cancelled_job_is_cleaned_up() -> History:
    cancelled = JobSwitched(status=JobStatus.CANCELLING)
    return told(unreadable(), 10, cancelled, RecoveryFailed(checkpoint=0, reason="injected error"))
