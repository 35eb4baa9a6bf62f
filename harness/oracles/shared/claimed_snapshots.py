"""Snapshots that jobs have claimed: from its submission on, all of one is the job's own (claim mode CLAIM, RULES
SAV-06). A file that other snapshots of earlier jobs name as well goes with the claimed one: they are whole no more."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.harness.model import profile
from holdfast.harness.model.checkpoint import ClaimMode
from holdfast.harness.model.events import (
    CheckpointAudited,
    CheckpointCompleted,
    CheckpointDropped,
    CoordinatorClaimed,
    Event,
    FileDeleted,
    JobSubmitted,
    MetadataPublished,
    SavepointCompleted,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import Plan
from holdfast.harness.oracles.ledger.checkpoints import CheckpointId, by_checkpoint
from holdfast.harness.oracles.ledger.files import by_path
from holdfast.harness.oracles.ledger.submissions import Submissions
from holdfast.harness.oracles.shared.exemptions import exemptions
from holdfast.harness.oracles.shared.stated_options import texts


class Claim(NamedTuple):
    """A job has claimed a snapshot."""

    submitted: JobSubmitted
    snapshot: MetadataPublished | SavepointCompleted
    identity: CheckpointId


class _Taken(NamedTuple):
    """A file of a claimed snapshot was deleted, or may have been, at a position of the history or later."""

    job: int
    claim: Claim
    position: int


class ClaimedSnapshots:
    """The claimed snapshots of one history.

    Attributes:
        by_job: by number of the job.
    """

    def __init__(self, history: History) -> None:
        self.job_of = history.derived(Submissions).of
        self.by_job: dict[int, Claim] = {}
        self._dropped: dict[CheckpointId, CheckpointDropped] = {}
        self._files: dict[CheckpointId, frozenset[str]] = {}
        self._taken: dict[str, list[_Taken]] = {}
        if claims(history.plan):
            self._follow(history)
        for dropped in by_checkpoint(history, CheckpointDropped).first.values():
            self._dropped.setdefault(self.identity(dropped, dropped.checkpoint), dropped)

    def _follow(self, history: History) -> None:
        published: list[MetadataPublished | SavepointCompleted] = [
            *history.of(MetadataPublished), *history.of(SavepointCompleted)
        ]  # fmt: skip
        first = {event.path: event for event in reversed(published)}  # A later job that finds it has not taken it.
        for submitted in history.of(JobSubmitted):
            snapshot = first.get(submitted.path)
            if snapshot is not None:
                identity = self.job_of(snapshot), snapshot.checkpoint
                self.by_job[self.job_of(submitted)] = Claim(submitted, snapshot, identity)
        self._files = {(self.job_of(each), each.checkpoint): _paths(each) for each in first.values()}
        for job, claim in self.by_job.items():
            begun, paths = history.position(claim.submitted), _paths(claim.snapshot)
            died = self._died(history, job)
            for path in paths:
                deleted = by_path(history, FileDeleted).first.get(path)
                since = begun if died or deleted is None else history.position(deleted)
                if died or since > begun:
                    self._taken.setdefault(path, []).append(_Taken(job, claim, since))

    def _died(self, history: History, job: int) -> bool:
        """Whether a coordinator of a job was ended: it may have deleted what it could not report any more."""
        lives = {event.node for event in history.of(CoordinatorClaimed) if self.job_of(event) == job}
        lives.update(event.node for event in history.of(CheckpointCompleted) if self.job_of(event) == job)
        return not lives.isdisjoint(exemptions(history).dead)

    def identity(self, event: Event, checkpoint: int) -> CheckpointId:
        """Which checkpoint the job of an event means by an id."""
        job = self.job_of(event)
        claim = self.by_job.get(job)
        claimed = claim is not None and claim.snapshot.checkpoint == checkpoint
        return claim.identity if claim is not None and claimed else (job, checkpoint)

    def took(self, path: str, identity: CheckpointId, before: int | None = None) -> bool:
        """Whether a file that a checkpoint names was deleted by a job that owned it by the claim of another one.

        Args:
            path: of the file.
            identity: of the checkpoint.
            before: only deletions before this position of the history; None: all of them.
        """
        taken = self._taken.get(path)
        if taken is None:
            return False
        job, _ = identity
        return any(
            each.job > job and each.claim.identity != identity and (before is None or each.position < before)
            for each in taken
        )

    def first_drop(self, identity: CheckpointId) -> CheckpointDropped | None:
        """What dropped a checkpoint first, its own job or one that has claimed it. Whether it may be dropped is for
        REACH to judge, and what is left of it for RETAIN."""
        return self._dropped.get(identity)

    def dropped(self, history: History, audit: CheckpointAudited) -> bool:
        """Whether a checkpoint was dropped before it was audited: it need not be restorable any more."""
        dropped = self.first_drop(self.identity(audit, audit.checkpoint))
        return dropped is not None and history.position(dropped) < history.position(audit)

    def broke(self, history: History, audit: CheckpointAudited) -> bool:
        """Whether a checkpoint could not be whole any more when it was audited."""
        if not self._taken:
            return False
        identity, position = self.identity(audit, audit.checkpoint), history.position(audit)
        return any(self.took(path, identity, position) for path in self._files.get(identity, ()))


def _paths(snapshot: MetadataPublished | SavepointCompleted) -> frozenset[str]:
    return frozenset(file.path for file in snapshot.files)


def claims(plan: Plan) -> bool:
    """Whether the jobs of a plan own what they restore."""
    return texts(plan).get(profile.CLAIM_MODE, "").upper() == ClaimMode.CLAIM


def claimed_snapshots(history: History) -> ClaimedSnapshots:
    """Worked out once, however many oracles ask."""
    return history.derived(ClaimedSnapshots)
