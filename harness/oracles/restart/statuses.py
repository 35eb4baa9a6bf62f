"""What coordinators say of their job: it restarts, and it ends once (RULES RST, RET)."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model.events import AttemptStarted, JobStatus, JobSwitched, RestartScheduled
from holdfast.harness.model.history import History
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.shared.exemptions import Exemptions

CLAUSES: Mapping[str, str] = {
    "ended-again": "a coordinator reports another status of a job that it has reported as ended",
    "restart-unannounced": "an attempt follows a failure, and no status of the job reports the restart",
}
ENDED = frozenset({JobStatus.FINISHED, JobStatus.FAILED, JobStatus.CANCELED, JobStatus.SUSPENDED})


def judge_statuses(history: History, exempt: Exemptions, findings: Findings) -> None:
    """Follow each coordinator that reports statuses through each of its jobs."""
    reporting = {(exempt.job_of(event), event.node) for event in history.of(JobSwitched)}
    ended: dict[tuple[int, str], JobSwitched] = {}
    announced: set[tuple[int, str]] = set()
    scheduled: dict[tuple[int, str], RestartScheduled] = {}
    for event in history.of_kinds((JobSwitched, RestartScheduled, AttemptStarted)):
        key = exempt.job_of(event), event.node
        if isinstance(event, JobSwitched):
            before = ended.get(key)
            if before is not None:
                message = f"the job is reported as {event.status}, and was as {before.status} before"
                findings.violated("ended-again", message, before, event)
            elif event.status in ENDED:
                findings.check("ended-again")
                ended[key] = event
            elif event.status is JobStatus.RESTARTING:
                announced.add(key)
        elif key not in reporting:
            continue
        elif isinstance(event, RestartScheduled):
            scheduled[key] = event
        elif key in ended and ended[key].status is JobStatus.SUSPENDED:
            del ended[key]  # The end of one term of leadership, and this is the next (Flink, JobStatus).
        elif key in scheduled:
            findings.check("restart-unannounced")
            failed = scheduled.pop(key)
            if key not in announced:
                message = f"attempt {event.attempt} starts, and the job was never reported as restarting"
                findings.violated("restart-unannounced", message, failed, event)
            announced.discard(key)
