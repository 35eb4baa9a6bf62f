"""Workers that are silent for longer than the timeout of heartbeats (RULES REC, RST)."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import profile
from holdfast.harness.model.events import (
    FailureCounted,
    JobStatus,
    JobSwitched,
)
from holdfast.harness.model.history import History
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.shared.exemptions import Exemptions
from holdfast.harness.oracles.shared.options import NS_PER_MS, milliseconds

CLAUSES: Mapping[str, str] = {
    "silence-not-noticed": "a worker of a running job is paused beyond the heartbeat timeout and is not declared dead"
}
INTERVAL_MS = 10_000
TIMEOUT_MS = 50_000
"""Of heartbeats, unless the plan says otherwise."""
SLACK_MS = 100


def judge_silence(history: History, exempt: Exemptions, findings: Findings) -> None:
    """Each pause of a worker that lasts longer than its last answer may be old, while nobody dies, and the coordinator
    lives that said that the job runs.

    On the simulator only, whose harness and coordinator have one clock.
    """
    if not exempt.punctual or exempt.superseded:
        return
    interval_ms = milliseconds(history.plan, profile.HEARTBEAT_INTERVAL, INTERVAL_MS)
    timeout_ms = milliseconds(history.plan, profile.HEARTBEAT_TIMEOUT, TIMEOUT_MS)
    allowed_ns = (timeout_ms + 2 * interval_ms + SLACK_MS) * NS_PER_MS
    for pause, until_ns in exempt.paused_workers():
        before = [event for event in history.of(JobSwitched) if event.time_ns <= pause.time_ns]
        if until_ns - pause.time_ns <= allowed_ns or not before or before[-1].status is not JobStatus.RUNNING:
            continue
        deaths_ns = exempt.deaths_ns({before[-1].node})
        deaths_ns += [each for each in exempt.deaths_ns(exempt.dead) if each >= pause.time_ns]
        if any(each <= until_ns for each in deaths_ns):
            continue
        findings.check("silence-not-noticed")
        counted = any(pause.time_ns < event.time_ns <= until_ns for event in history.of(FailureCounted))
        if not counted and not any(pause.time_ns < event.time_ns <= until_ns for event in history.of(JobSwitched)):
            silent_ms = (until_ns - pause.time_ns) // NS_PER_MS
            message = f"{pause.target} is paused for {silent_ms} ms, and nobody counts a failure"
            findings.violated("silence-not-noticed", message, pause)
