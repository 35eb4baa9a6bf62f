"""SAVEPOINT: a savepoint is whole, a job stops with it and emits nothing behind it, and another goes on from there
(RULES SAV).

What is stored is judged by listings of the storage, what a job emits by its channels and transactions. A savepoint that
a user has moved, or that a job has claimed, need not be where it was.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import events, profile
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.history import History
from holdfast.harness.model.submitted_jobs import RENAMED, edited_edges, programs
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.ledger.checkpoints import by_checkpoint
from holdfast.harness.oracles.ledger.files import by_path
from holdfast.harness.oracles.ledger.submissions import Submissions
from holdfast.harness.oracles.savepoints import claimed, stopped
from holdfast.harness.oracles.shared.claimed_snapshots import claimed_snapshots
from holdfast.harness.oracles.shared.exemptions import exemptions
from holdfast.harness.oracles.shared.origins import Origins
from holdfast.harness.oracles.shared.stated_options import texts

_OF_RESUMED: Mapping[str, str] = {
    "not-resumed": "a job that is given a savepoint, whose operators all its state belongs to, never runs",
    "state-left-out": "a job runs though it has no operator for some state that it restores, which is not allowed",
}


def _judge_resumed(history: History, findings: Findings) -> None:
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


class SavepointOracle:
    """Follows savepoints from the request to the jobs that go on from them."""

    name = "SAVEPOINT"
    title = "user savepoints"
    invariant = "A savepoint is one complete folder of the user's, and a job stops or goes on at exactly that point."
    clauses: Mapping[str, str] = {
        "outside-folder": "a savepoint names a file that is not in its own folder, or one of a checkpoint",
        "savepoint-deleted": "a file of a savepoint is deleted by the system, or is not in the storage at the end",
        "target-invented": "a savepoint is triggered although no directory for it is named or configured",
        "carries-in-flight": "a savepoint holds records that were in flight, or its barriers overtook some",
        **stopped.CLAUSES,
        **_OF_RESUMED,
        **claimed.CLAUSES,
    }
    evidence: tuple[type[events.Event], ...] = (events.SavepointTriggered, events.SavepointCompleted)
    clause_evidence: Mapping[str, tuple[type[events.Event], ...]] = {
        "carries-in-flight": (events.SnapshotTaken,),
        "emitted-behind-stop": (events.SnapshotTaken, events.BatchSent),
        "not-drained": (events.SnapshotTaken, events.OperatorFinished),
        "drained-unasked": (events.SnapshotTaken, events.OperatorFinished),
        "savepoint-commits": (events.NotificationSent,),
    }
    observed = frozenset({"savepoint-deleted"})

    def applies(self, history: History) -> bool:
        exempt = exemptions(history)
        return bool(exempt.planned(Consequence.REQUESTS_SAVEPOINT) or exempt.planned(Consequence.BEGINS_JOB))

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        _judge_files(history, findings)
        _judge_targets(history, findings)
        _judge_in_flight(history, findings)
        stopped.judge(history, findings)
        _judge_resumed(history, findings)
        claimed.judge(history, findings)
        return findings.verdict(history)


def _judge_files(history: History, findings: Findings) -> None:
    """A savepoint is one folder, and stays."""
    of_checkpoints = {file.path: event for event in history.of(events.MetadataPublished) for file in event.files}
    moved = bool(exemptions(history).planned(Consequence.MOVES_SAVEPOINT))
    claims = claimed_snapshots(history).by_job.values()
    deleted = by_path(history, events.FileDeleted).first
    listings = history.of(events.StorageListed)
    listed = {file.path for file in listings[-1].files} if listings else None
    for savepoint in history.of(events.SavepointCompleted):
        folder = savepoint.path.rpartition("/")[0] + "/"
        for file in savepoint.files:
            findings.check("outside-folder")
            other = of_checkpoints.get(file.path)
            if other is not None or not file.path.startswith(folder):
                message = f"savepoint {savepoint.checkpoint} in {folder} needs {file.path}"
                witness = [] if other is None else [other]
                findings.violated("outside-folder", message, *witness, savepoint)
                continue
            if moved or any(claim.snapshot.path == savepoint.path for claim in claims):
                continue
            findings.check("savepoint-deleted")
            gone = deleted.get(file.path)
            if gone is not None:
                message = f"{file.path}, a file of savepoint {savepoint.checkpoint}, is deleted"
                findings.violated("savepoint-deleted", message, savepoint, gone)
            elif listed is not None and file.path not in listed:
                message = f"{file.path}, a file of savepoint {savepoint.checkpoint}, is not in the storage"
                findings.violated("savepoint-deleted", message, savepoint)


def _judge_targets(history: History, findings: Findings) -> None:
    """Without a directory in the request or the configuration there is no savepoint."""
    plan = history.plan
    requests = exemptions(history).planned(Consequence.REQUESTS_SAVEPOINT)
    if texts(plan).get(profile.SAVEPOINT_DIRECTORY, "") or any(fault.parameters.get("target") for fault in requests):
        return
    findings.check("target-invented", len(requests))
    for triggered in history.of(events.SavepointTriggered):
        message = f"savepoint {triggered.checkpoint} goes to {triggered.folder!r}, which no user has named"
        findings.violated("target-invented", message, triggered)


def _judge_in_flight(history: History, findings: Findings) -> None:
    """A savepoint is aligned, however the checkpoints of the job are."""
    in_flight = by_checkpoint(history, events.ChannelStateTaken).all
    snapshots = by_checkpoint(history, events.SnapshotTaken).all
    for savepoint, triggered in by_checkpoint(history, events.SavepointTriggered).first.items():
        findings.check("carries-in-flight")
        for taken in in_flight.get(savepoint, ()):
            if any(each.batches for each in taken.channels):
                message = f"{taken.subtask} takes what is in flight along in savepoint {taken.checkpoint}"
                findings.violated("carries-in-flight", message, triggered, taken)
        for snapshot in snapshots.get(savepoint, ()):
            if snapshot.unaligned:
                message = f"the barriers of savepoint {snapshot.checkpoint} overtake records at {snapshot.subtask}"
                findings.violated("carries-in-flight", message, triggered, snapshot)
