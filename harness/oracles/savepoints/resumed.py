"""What SAVEPOINT decides of a job that goes on from a savepoint (RULES SAV-01, SAV-05)."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import events, profile
from holdfast.harness.model.edited_job import RENAMED
from holdfast.harness.model.history import History
from holdfast.harness.model.submitted_jobs import edited_edges, programs
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.shared.ledger import by_checkpoint
from holdfast.harness.oracles.shared.origins import Origins
from holdfast.harness.oracles.shared.stated_options import texts
from holdfast.harness.oracles.shared.submissions import Submissions

CLAUSES: Mapping[str, str] = {
    "not-resumed": "a job that is given a savepoint, whose operators all its state belongs to, never runs",
    "state-left-out": "a job runs though it has no operator for some state that it restores, which is not allowed",
}


def judge(history: History, findings: Findings) -> None:
    """Decide on each job that was given a savepoint by path."""
    plan, number = history.plan, history.derived(Submissions).of
    edits, jobs = edited_edges(plan), programs(plan)
    allowed = texts(plan).get(profile.IGNORE_UNCLAIMED, "").lower() == "true"
    saved = {event.checkpoint for event in history.of(events.SavepointCompleted)}
    origins = Origins(history)
    for submitted in history.of(events.JobSubmitted):
        checkpoint = submitted.checkpoint
        job = number(submitted) - 1
        if checkpoint not in saved or checkpoint is None or not 0 < job < len(edits):
            continue
        names = {vertex.name for vertex in jobs[job].vertices}
        left_out = _left_out(history, checkpoint, origins.of(submitted, checkpoint), names)
        running = [
            event
            for event in history.of(events.JobSwitched)
            if event.status is events.JobStatus.RUNNING and number(event) == number(submitted)
        ]
        if left_out and not allowed:
            findings.check("state-left-out")
            if running:
                message = f"the job runs without {', '.join(left_out)}, of which savepoint {checkpoint} holds state"
                findings.violated("state-left-out", message, submitted, running[0])
        elif not left_out or RENAMED in edits[job]:
            findings.check("not-resumed")
            failed = [
                event
                for event in history.of(events.JobSwitched)
                if event.status is events.JobStatus.FAILED and number(event) == number(submitted)
            ]
            if failed and not running:
                message = f"the job does not go on from savepoint {checkpoint}: {failed[0].reason}"
                findings.violated("not-resumed", message, submitted, failed[0])


def _left_out(history: History, checkpoint: int, job: int, names: set[str]) -> list[str]:
    """Operators with state in a savepoint that a job with these operators has not."""
    return sorted(
        {
            snapshot.subtask.partition("[")[0]
            for snapshot in by_checkpoint(history, events.SnapshotTaken).all.get((job, checkpoint), ())
            if snapshot.state is not None or snapshot.positions or snapshot.pending_transactions
        }
        - names
    )
