"""RETAIN: which completed checkpoints stay, while a job runs and when it is over, and who restores them (RULES RET).

The effect of each policy at the four ends of a job is written down here independently. A store is assumed to be a
standalone one: it deletes what is not to outlast a suspension. A snapshot that a job has claimed was the user's until
then; from then on it counts as one of the job's own.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import events, profile
from holdfast.harness.model.history import History
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import Findings, replay
from holdfast.harness.oracles.ledger.checkpoints import by_checkpoint
from holdfast.harness.oracles.retention.left_behind import DELETED, LEFT, judge_deleted, judge_dropped_left
from holdfast.harness.oracles.shared.claimed_snapshots import claimed_snapshots
from holdfast.harness.oracles.shared.exemptions import Exemptions, exemptions
from holdfast.harness.oracles.shared.options import number, retention

DELETE = "delete"
KEPT: Mapping[str, frozenset[events.JobStatus]] = {
    "NO_EXTERNALIZED_CHECKPOINTS": frozenset(),
    "DELETE_ON_CANCELLATION": frozenset({events.JobStatus.FAILED}),
    "RETAIN_ON_CANCELLATION": frozenset(
        {events.JobStatus.CANCELED, events.JobStatus.FAILED, events.JobStatus.SUSPENDED}
    ),
}
"""By policy, the ends that leave checkpoints to the user. The first is the default."""
RecoveryPoint = events.MetadataPublished | events.CheckpointCompleted | events.SavepointCompleted
ENDS = events.OVER - {events.JobStatus.CANCELLING}


class RetainOracle:
    """Follows completed checkpoints through the lives of jobs and beyond."""

    name = "RETAIN"
    title = "checkpoint retention"
    invariant = "As many checkpoints stay as are to be retained, and of a job that is over those that its policy keeps."
    clauses: Mapping[str, str] = {
        "too-many-retained": "more completed checkpoints stay than are to be retained",
        "deleted-in-use": "a checkpoint is dropped, or a file of it deleted, while an attempt restores it",
        "failed-deletion-fails": "a deletion that fails fails a checkpoint or the job",
        **DELETED,
        **LEFT,
        "kept-wrongly": "a job is over, and a checkpoint stays that its policy discards",
        "discarded-wrongly": "a job is over, and a checkpoint is gone that its policy leaves to the user",
        "deleted-after-end": "a file of a checkpoint that was left to the user is deleted, or gone at the end",
        "restored-elsewhere": "a job that is given a checkpoint by path restores another, or none",
        "start-not-reported": "a job restores a checkpoint of an earlier one, or starts empty, and does not report so",
    }
    evidence: tuple[type[events.Event], ...] = (
        events.AttemptStarted, events.MetadataPublished, events.CheckpointCompleted, events.CheckpointDropped,
        events.JobSwitched,
    )  # fmt: skip
    clause_evidence: Mapping[str, tuple[type[events.Event], ...]] = {
        **dict.fromkeys(("kept-wrongly", "discarded-wrongly", "deleted-after-end"), (events.CheckpointRetained,)),
        **dict.fromkeys(LEFT, (events.StorageListed,)),
        **dict.fromkeys(("restored-elsewhere", "start-not-reported"), (events.JobSubmitted,)),
    }
    observed = frozenset({*DELETED, *LEFT, "deleted-after-end"})

    def applies(self, history: History) -> bool:
        return True

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        jobs = _Jobs(history, findings)
        jobs.close()
        _judge_files(history, jobs, findings)
        _judge_failed_deletions(history, jobs.exempt, findings)
        judge_deleted(history, jobs.exempt, findings)
        judge_dropped_left(history, jobs.exempt, findings)
        return findings.verdict(history)


class _Job:
    """What one job has.

    Attributes:
        submitted: how it began.
        known: by id, its completed or published checkpoints that are not dropped, and what it has claimed.
        left: those that it left to the user.
        restoring: an attempt that is not known to run yet.
        started: an attempt of it was.
        unknown: published checkpoints that its present coordinator does not know.
    """

    def __init__(self) -> None:
        self.submitted: events.JobSubmitted | None = None
        self.known: dict[int, RecoveryPoint] = {}
        self.unknown: dict[int, RecoveryPoint] = {}
        self.left: dict[int, events.CheckpointRetained] = {}
        self.over = False
        self.restoring: events.AttemptStarted | None = None
        self.started = False


class _Jobs:
    """All jobs of a history; only their coordinators write these events, and their lives follow each other.

    Attributes:
        ends: by job, how it ended for good.
        savepoints: those checkpoints that are the user's from the start, whatever the policy of their job is.
    """

    def __init__(self, history: History, findings: Findings) -> None:
        self.findings = findings
        self.history = history
        self.retained = max(number(history.plan, profile.RETAINED, 1), 1)
        self.kept = KEPT.get(retention(history.plan), frozenset())
        self.claimed = claimed_snapshots(history)
        self.number = self.claimed.job_of
        self.exempt = exemptions(history)
        self.jobs: dict[int, _Job] = {}
        self.files: dict[str, events.MetadataPublished] = {}
        self.savepoints = by_checkpoint(history, events.SavepointCompleted).things
        self.ends: dict[int, list[events.JobSwitched]] = {}
        for switched in history.of(events.JobSwitched):
            if switched.status in ENDS:
                self.ends.setdefault(self.number(switched), []).append(switched)
        replay(
            history,
            {
                events.JobSubmitted: self._submitted,
                events.JobSwitched: self._switched,
                events.AttemptStarted: self._attempt_started,
                events.MetadataPublished: self._published,
                events.CheckpointCompleted: self._completed,
                events.CheckpointAborted: self._aborted,
                events.CheckpointDrawn: self._drawn,
                events.CheckpointDropped: self._dropped,
                events.CheckpointRetained: self._left,
                events.FileDeleted: self._deleted,
            },
        )

    def _job(self, event: events.Event) -> _Job:
        number = self.number(event)
        job = self.jobs.get(number)
        if job is None:
            job = self.jobs[number] = _Job()
        return job

    def close(self) -> None:
        """A job that is over, and whose last coordinator lives on, has applied its retention policy. One that never
        began to run has not claimed the snapshot that it was given."""
        for key, job in self.jobs.items():
            ended = self.ends[key][-1] if key in self.ends else None
            if ended is None or not job.started or ended.node in self.exempt.dead or self.history.end.problem:
                continue
            for checkpoint, event in self._within_reach(job, ended.node):
                if self.exempt.hold(ended, self.exempt.metadata_of(event)):
                    continue
                if ended.status not in self.kept:
                    message = f"the job is {ended.status}, and checkpoint {checkpoint} is not discarded"
                    self.findings.violated("kept-wrongly", message, event, ended)
                    continue
                self.findings.check("discarded-wrongly")
                if checkpoint not in job.left:
                    message = f"the job is {ended.status}, and checkpoint {checkpoint} is not left to the user"
                    self.findings.violated("discarded-wrongly", message, event, ended)

    def _within_reach(self, job: _Job, node: str) -> list[tuple[int, RecoveryPoint]]:
        """The checkpoints that a coordinator can retain or delete: one that could not read its store knows only those
        that it has reported."""
        if all(event.node != node for event in self.history.of(events.RecoveryFailed)):
            return list(job.known.items())
        seen = {event.checkpoint for event in self.history.of(events.MetadataPublished) if event.node == node}
        seen |= {event.checkpoint for event in self.history.of(events.CheckpointCompleted) if event.node == node}
        return [(checkpoint, event) for checkpoint, event in job.known.items() if checkpoint in seen]

    # --- how jobs begin and end ---

    def _submitted(self, event: events.JobSubmitted) -> None:
        job = self._job(event)
        job.submitted = event
        claim = self.claimed.by_job.get(self.number(event))
        if claim is not None:
            checkpoint, former = claim.snapshot.checkpoint, self._job(claim.snapshot)
            job.known[checkpoint] = claim.snapshot
            if former.left.pop(checkpoint, None) is not None:
                former.known.pop(checkpoint, None)

    def _switched(self, event: events.JobSwitched) -> None:
        job = self._job(event)
        job.over = event.status in events.OVER
        if event.status is events.JobStatus.RUNNING:
            job.restoring = None

    def _attempt_started(self, event: events.AttemptStarted) -> None:
        job, findings = self._job(event), self.findings
        _forget_unknown(job, event)
        job.restoring = event
        first, job.started = not job.started, True
        if not first:
            return
        submitted, restored = job.submitted, event.restored_checkpoint
        if submitted is None:
            if restored is not None and not job.known:
                message = f"attempt {event.attempt} restores checkpoint {restored}, and nothing reports where from"
                findings.violated("start-not-reported", message, event)
        elif submitted.path:
            findings.check("restored-elsewhere")
            if restored != submitted.checkpoint:
                said = f"the job was given checkpoint {submitted.checkpoint}, {submitted.path}"
                message = f"{said}, and attempt {event.attempt} restores {restored}"
                findings.violated("restored-elsewhere", message, submitted, event)
        else:
            findings.check("start-not-reported")
            if restored is not None:
                message = f"the job reportedly starts empty, and attempt {event.attempt} restores checkpoint {restored}"
                findings.violated("start-not-reported", message, submitted, event)

    # --- checkpoints ---

    def _published(self, event: events.MetadataPublished) -> None:
        self._job(event).known.setdefault(event.checkpoint, event)
        for file in event.files:
            self.files[file.path] = event

    def _completed(self, event: events.CheckpointCompleted) -> None:
        if (self.number(event), event.checkpoint) not in self.savepoints:
            self._job(event).known[event.checkpoint] = event

    def _aborted(self, event: events.CheckpointAborted) -> None:
        known = self._job(event).known
        if isinstance(known.get(event.checkpoint), events.MetadataPublished):
            del known[event.checkpoint]

    def _drawn(self, event: events.CheckpointDrawn) -> None:
        """The next one begins: what the last one has made surplus is dropped."""
        metadata_of, hold = self.exempt.metadata_of, self.exempt.hold
        everything = self._job(event).known
        known = {each: known for each, known in everything.items() if not hold(event, metadata_of(known))}
        if len(known) >= self.retained:
            self.findings.check("too-many-retained")
        # A predecessor died between a completion and what that made surplus: the next completion settles both.
        lives = {each.node for each in known.values()}
        left = len(lives) if event.node not in lives and lives <= self.exempt.dead else 0
        if len(known) > self.retained + left:
            message = f"checkpoints {sorted(known)} stay, {self.retained} are to be retained"
            self.findings.violated("too-many-retained", message, *known.values(), event)

    def _dropped(self, event: events.CheckpointDropped) -> None:
        job, findings = self._job(event), self.findings
        self._judge_use(event.checkpoint, job, event)
        known = job.known.pop(event.checkpoint, None)
        if not job.over or known is None or self.exempt.hold(event, self.exempt.metadata_of(known)):
            return
        status = self._end_of(event)
        if status is None:
            return
        if status in self.kept:
            if len(job.known) >= self.retained:
                return  # What completes while the job ends makes an older one surplus.
            message = f"the job is {status}, and checkpoint {event.checkpoint} is discarded"
            findings.violated("discarded-wrongly", message, known, event)
        else:
            findings.check("kept-wrongly")

    def _left(self, event: events.CheckpointRetained) -> None:
        job, status = self._job(event), self._end_of(event)
        job.left[event.checkpoint] = event
        if status is None or (self.number(event), event.checkpoint) in self.savepoints:
            return
        if status in self.kept:
            self.findings.check("discarded-wrongly")
        else:
            message = f"the job is {status}, and checkpoint {event.checkpoint} is left to the user"
            self.findings.violated("kept-wrongly", message, event)

    def _end_of(self, event: events.Event) -> events.JobStatus | None:
        """How the job of an event ended, whether that was reported before it or afterwards."""
        ends = self.ends.get(self.number(event))
        return ends[0].status if ends else None

    def _deleted(self, event: events.FileDeleted) -> None:
        metadata = self.files.get(event.path)
        if metadata is None or self.exempt.hold(event, event.path, metadata.path):
            return
        self._judge_use(metadata.checkpoint, self._job(metadata), event)
        left = self._job(metadata).left.get(metadata.checkpoint)
        if left is not None:
            message = f"{event.path}, a file of checkpoint {metadata.checkpoint}, is deleted; it was left to the user"
            self.findings.violated("deleted-after-end", message, left, event)

    def _judge_use(self, checkpoint: int, owner: _Job, event: events.Event) -> None:
        """Nothing of a checkpoint goes while an attempt restores it."""
        for job in self.jobs.values():
            attempt = job.restoring
            if attempt is None or attempt.restored_checkpoint != checkpoint or job.over:
                continue
            if job is owner or (job.submitted is not None and job.submitted.checkpoint == checkpoint):
                message = f"checkpoint {checkpoint} is touched while attempt {attempt.attempt} restores it"
                self.findings.violated("deleted-in-use", message, attempt, event)


def _forget_unknown(job: _Job, event: events.AttemptStarted) -> None:
    """If a coordinator ends between the metadata of a checkpoint and its completion, no other process knows of it. Its
    successor, which restores an older one, can neither count it nor discard it; one that restores it knows it."""
    restored = event.restored_checkpoint or 0
    for checkpoint, known in list(job.known.items()):
        if isinstance(known, events.MetadataPublished) and known.node != event.node and checkpoint > restored:
            job.unknown[checkpoint] = job.known.pop(checkpoint)
    if restored in job.unknown:
        job.known[restored] = job.unknown.pop(restored)


def _judge_files(history: History, jobs: _Jobs, findings: Findings) -> None:
    """What was left to the user is in the storage at the end; what an attempt has restored was there until it ran."""
    restored = any(attempt.restored_checkpoint is not None for attempt in history.of(events.AttemptStarted))
    findings.check("deleted-in-use", int(restored))
    listings = history.of(events.StorageListed)
    if not listings:
        return
    listed = {file.path for file in listings[-1].files}
    for path, metadata in jobs.files.items():
        left = jobs.jobs[jobs.number(metadata)].left.get(metadata.checkpoint)
        if left is None:
            continue
        findings.check("deleted-after-end")
        if path not in listed and not jobs.exempt.hold_at_end(path, metadata.path):
            message = f"{path}, a file of checkpoint {metadata.checkpoint}, is not there any more"
            findings.violated("deleted-after-end", message, left)


def _judge_failed_deletions(history: History, exempt: Exemptions, findings: Findings) -> None:
    """Where the plan makes deletions fail and breaks nothing else, nothing else fails. A store that fails by itself may
    fail everything."""
    failed = [event for event in history.of(events.StorageFailed) if event.operation == DELETE]
    if not failed or {fault.parameters.get("operation") for fault in exempt.planned()} != {DELETE}:
        return
    findings.check("failed-deletion-fails", len(failed))
    first = history.position(failed[0])
    for kind in (events.CheckpointAborted, events.FailureCounted):
        for event in history.of(kind):
            if history.position(event) > first and event.time_ns <= history.end.ended_ns:  # Then the harness ends it
                message = "only deletions fail, and something else fails with them"
                findings.violated("failed-deletion-fails", message, failed[0], event)
