"""REACH: every file that a retained checkpoint names is there, as it was written (RULES CRD, STO)."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Mapping

from holdfast.harness.model import events, profile
from holdfast.harness.model.history import History
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.coordinator.observed_storage import NAMED, judge_named
from holdfast.harness.oracles.findings import Findings, replay
from holdfast.harness.oracles.ledger.files import by_path
from holdfast.harness.oracles.shared.claimed_snapshots import claimed_snapshots
from holdfast.harness.oracles.shared.exemptions import exemptions
from holdfast.harness.oracles.shared.options import number


class ReachOracle:
    """Follows the files of checkpoints whose metadata was published."""

    name = "REACH"
    title = "checkpoint files"
    invariant = "At every step, every file named by a retained checkpoint exists with recorded length and checksum."
    clauses: Mapping[str, str] = {
        "file-missing": "a file of a retained checkpoint is deleted, or not in the storage at the end",
        "file-differs": "the length or checksum of a file differs from the metadata that names it",
        **NAMED,
        "dropped-too-early": "a checkpoint is dropped although it is one of the newest that must be retained",
    }
    evidence: tuple[type[events.Event], ...] = (
        events.MetadataPublished,
        events.CheckpointCompleted,
        events.CheckpointDropped,
    )
    clause_evidence: Mapping[str, tuple[type[events.Event], ...]] = {
        "file-missing": (events.FileDeleted,),
        "file-differs": (events.StorageListed,),
    }
    observed = frozenset({*NAMED, "file-missing", "file-differs"})

    def applies(self, history: History) -> bool:
        return True

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        storage = _Storage(history)
        for metadata in {event.path: event for event in history.of(events.MetadataPublished)}.values():
            storage.judge(metadata, findings)
        judge_named(history, storage.exempt, findings)
        _Retention(history, findings)
        return findings.verdict(history)


class _Storage:
    """What became of every path, and of every checkpoint.

    Attributes:
        listed: at the end of the run; None: the storage was not listed.
        workers: nodes that only run tasks. Files of a completed checkpoint are not theirs to delete at any time.
        exempt: objects that the harness damaged. Without its metadata neither a checkpoint nor its files can be known.
    """

    def __init__(self, history: History) -> None:
        self.history = history
        self.exempt = exemptions(history)
        self.written = by_path(history, events.FileWritten).all
        self.deleted = by_path(history, events.FileDeleted).first
        self.claimed = claimed_snapshots(history)
        identity = self.claimed.identity
        self.completed = {identity(event, event.checkpoint) for event in history.of(events.CheckpointCompleted)}
        coordinators = {event.node for event in history.of(events.CheckpointCompleted)}
        self.workers = {event.node for event in history.of(events.AckSent)} - coordinators
        listings = history.of(events.StorageListed)
        self.listed = {file.path: file for file in listings[-1].files} if listings else None

    def judge(self, metadata: events.MetadataPublished, findings: Findings) -> None:
        """The files of one checkpoint."""
        checkpoint = metadata.checkpoint
        identity = self.claimed.identity(metadata, checkpoint)
        dropped = self.claimed.first_drop(identity)
        withdrawn = None if identity in self.completed else self.deleted.get(metadata.path)
        for path in dict.fromkeys([metadata.path, *(file.path for file in metadata.files)]):
            findings.check("file-missing")
            deleted = self.deleted.get(path)
            if self.claimed.took(path, identity):
                continue
            if deleted is None or self.exempt.hold(deleted, path, metadata.path):
                gone = self.listed is not None and path not in self.listed
                if gone and dropped is None and not self.exempt.hold_at_end(path, metadata.path):
                    message = f"{path}, a file of checkpoint {checkpoint}, is not in the storage"
                    findings.violated("file-missing", message, metadata)
            elif self._too_early(deleted, dropped or withdrawn):
                message = f"{path}, a file of checkpoint {checkpoint}, is deleted while the checkpoint is retained"
                findings.violated("file-missing", message, metadata, deleted)
        for file in metadata.files:
            versions = self._versions(file.path)
            findings.check("file-differs", len(versions))
            for where, found in versions:
                if found != file:
                    message = (
                        f"{file.path} has {found.length} bytes, checksum {found.checksum:#010x} {where}, and "
                        f"{file.length} bytes, checksum {file.checksum:#010x} in checkpoint {checkpoint}"
                    )
                    findings.violated("file-differs", message, *self.written.get(file.path, ()), metadata)

    def _too_early(self, deleted: events.FileDeleted, allowed: events.Event | None) -> bool:
        """Whether a deletion was not covered by the drop of its checkpoint, or by the withdrawal of its metadata.

        A coordinator writes the drop before it deletes, and its lives follow each other. No message orders a worker's
        deletion against the drop.
        """
        if allowed is None or deleted.node in self.workers:
            return True
        if deleted.node == allowed.node:
            return deleted.sequence < allowed.sequence
        return self.history.position(deleted) < self.history.position(allowed)

    def _versions(self, path: str) -> list[tuple[str, events.FileReference]]:
        """What was seen under a path, and where."""
        found = [("as written", event.file) for event in self.written.get(path, ())]
        if self.listed is not None and path in self.listed and not self.exempt.hold_at_end(path):
            found.append(("in the storage", self.listed[path]))
        return found


class _Retention:
    """What must be retained: the newest checkpoints by id, of those that completed or whose metadata is published.

    Published counts because a new coordinator finds what its predecessor could not complete any more. Only the
    coordinators write these events, and their lives follow each other.

    Attributes:
        known: by id, the event that made it a recovery point. What was dropped stays, for it does not make an older
            one newer; what was aborted after its publication goes.
        ids: the same ids in ascending order.
        over: the job is ending for good, and what becomes of its checkpoints is RETAIN's to judge.
    """

    def __init__(self, history: History, findings: Findings) -> None:
        self.findings = findings
        self.claimed = claimed_snapshots(history)
        self.retained = max(number(history.plan, profile.RETAINED, 1), 1)
        self.known: dict[int, events.Event] = {}
        self.ids: list[int] = []
        self.over = False
        replay(
            history,
            {
                events.JobSubmitted: self._submitted,
                events.JobSwitched: self._switched,
                events.MetadataPublished: self._published,
                events.CheckpointCompleted: self._completed,
                events.CheckpointAborted: self._aborted,
                events.CheckpointDropped: self._dropped,
            },
        )

    def _submitted(self, event: events.JobSubmitted) -> None:
        """What earlier jobs have left is not this one's to drop, but for what it has claimed."""
        self.known.clear()
        self.ids.clear()
        self.over = False
        claim = self.claimed.by_job.get(self.claimed.job_of(event))
        if claim is not None:
            self._recoverable(claim.snapshot)

    def _switched(self, event: events.JobSwitched) -> None:
        self.over = event.status in events.OVER

    def _published(self, event: events.MetadataPublished) -> None:
        if event.checkpoint not in self.known:
            self._recoverable(event)

    def _completed(self, event: events.CheckpointCompleted) -> None:
        self._recoverable(event)

    def _recoverable(
        self, event: events.MetadataPublished | events.CheckpointCompleted | events.SavepointCompleted
    ) -> None:
        if event.checkpoint not in self.known:
            insort(self.ids, event.checkpoint)
        self.known[event.checkpoint] = event

    def _aborted(self, event: events.CheckpointAborted) -> None:
        if isinstance(self.known.get(event.checkpoint), events.MetadataPublished):
            del self.known[event.checkpoint]
            self.ids.remove(event.checkpoint)

    def _dropped(self, event: events.CheckpointDropped) -> None:
        recoverable = self.known.get(event.checkpoint)
        if recoverable is None or self.over:
            return
        self.findings.check("dropped-too-early")
        newer = len(self.ids) - bisect_right(self.ids, event.checkpoint)
        if newer < self.retained:
            complete = f"only {newer} newer are complete" if newer else "no newer one is complete"
            message = f"checkpoint {event.checkpoint} is dropped while {complete}, {self.retained} must be retained"
            self.findings.violated("dropped-too-early", message, recoverable, event)
