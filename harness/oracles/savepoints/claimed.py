"""What SAVEPOINT decides of who owns a snapshot that was restored (RULES SAV-06)."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import events, profile
from holdfast.harness.model.history import History
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.shared.claimed_snapshots import Claim, claimed_snapshots, claims
from holdfast.harness.oracles.shared.exemptions import exemptions
from holdfast.harness.oracles.shared.options import number
from holdfast.harness.oracles.shared.shared_files import shared_files

CLAUSES: Mapping[str, str] = {
    "claimed-left": "a job has claimed a snapshot, retains only checkpoints of its own, and leaves the snapshot there",
    "claimed-too-early": "a job deletes the snapshot that it has claimed while that is one of those to be retained",
    "rests-on-unclaimed": "a checkpoint names a file of a snapshot that its job restored and does not own",
}


def judge(history: History, findings: Findings) -> None:
    """Decide on each job that has restored a snapshot."""
    if claims(history.plan):
        for job, claim in claimed_snapshots(history).by_job.items():
            _judge_claimed(history, job, claim, findings)
    else:
        _judge_unclaimed(history, findings)


def _judge_claimed(history: History, job: int, claim: Claim, findings: Findings) -> None:
    """A claimed snapshot is the oldest of those that are retained. It goes with the last of so many checkpoints of the
    job's own; with the next one that is done. Shared files are judged by who uses them."""
    job_of = claimed_snapshots(history).job_of
    retained = max(number(history.plan, profile.RETAINED, 1), 1)
    own = [event for event in history.of(events.CheckpointCompleted) if job_of(event) == job]
    ends = [event for event in history.of(events.JobSwitched) if job_of(event) == job and event.status in events.OVER]
    files = {file.path for file in claim.snapshot.files} - shared_files(history).paths
    due = [*own[retained - 1 : retained], *ends[:1]]
    due_at = min(map(history.position, due), default=None)
    early = [
        event
        for event in history.of(events.FileDeleted)
        if event.path in files and (due_at is None or history.position(event) < due_at)
    ]
    findings.check("claimed-too-early")
    if early:
        message = f"{early[0].path} is deleted while the snapshot that the job has claimed is to be retained"
        findings.violated("claimed-too-early", message, claim.submitted, early[0])
    listings = history.of(events.StorageListed)
    lives = {event.node for event in own[retained - 1 : retained]}
    if len(own) <= retained or not listings or lives & exemptions(history).dead:
        return
    findings.check("claimed-left")
    left = sorted(files & {file.path for file in listings[-1].files})
    if left:
        message = f"{left[0]} of checkpoint {claim.snapshot.checkpoint} was claimed, and is still there"
        findings.violated("claimed-left", message, claim.submitted, own[retained])


def _judge_unclaimed(history: History, findings: Findings) -> None:
    """What belongs to the user may be deleted by the user as soon as the job has a checkpoint of its own."""
    job_of = claimed_snapshots(history).job_of
    published = history.of(events.MetadataPublished)
    snapshots = {event.path: event for event in reversed(published)}
    for submitted in history.of(events.JobSubmitted):
        snapshot = snapshots.get(submitted.path)
        if snapshot is None:
            continue
        files = {file.path for file in snapshot.files}
        for own in published:
            if job_of(own) != job_of(submitted):
                continue
            findings.check("rests-on-unclaimed")
            named = sorted(files.intersection(file.path for file in own.files))
            if named:
                message = f"checkpoint {own.checkpoint} names {named[0]} of {submitted.path}, which is not the job's"
                findings.violated("rests-on-unclaimed", message, submitted, own)
