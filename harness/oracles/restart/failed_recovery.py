"""Recoveries that fail: each is one failure, and the next begins when its restart is due (RULES REC, RST)."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model.events import OVER, JobSwitched, RecoveryFailed, RestartScheduled
from holdfast.harness.model.history import History
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.shared.options import NS_PER_MS

CLAUSES: Mapping[str, str] = {
    "recovery-fails-twice": "a recovery that has failed fails once more before the restart that it leads to is due"
}


def judge_recoveries(history: History, findings: Findings) -> None:
    """Each failed recovery of one life of a coordinator, by its own clock. A job that is over is cleaned up at once."""
    failed: RecoveryFailed | None = None
    scheduled: RestartScheduled | None = None
    for event in history.of_kinds((RecoveryFailed, RestartScheduled, JobSwitched)):
        if failed is not None and event.node != failed.node:
            failed = scheduled = None
        if isinstance(event, RestartScheduled):
            scheduled = event if failed is not None else None
        elif isinstance(event, JobSwitched) and event.status in OVER:
            failed = scheduled = None
        elif isinstance(event, RecoveryFailed):
            findings.check("recovery-fails-twice")
            waited_ns = 0 if scheduled is None else event.time_ns - scheduled.time_ns
            if failed is not None and scheduled is not None and waited_ns < scheduled.delay_ms * NS_PER_MS * 9 // 10:
                message = f"the recovery fails again {waited_ns // NS_PER_MS} ms after a restart was scheduled"
                findings.violated("recovery-fails-twice", message, failed, scheduled, event)
            failed, scheduled = event, None
