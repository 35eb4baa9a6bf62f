"""Which checkpoints reach which shared files, as acknowledgements and metadata say it, event by event."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.oracles.findings import Findings, replay
from holdfast.harness.oracles.ledger.checkpoints import by_checkpoint
from holdfast.harness.oracles.ledger.parts import by_part, part_of
from holdfast.harness.oracles.shared.claimed_snapshots import claimed_snapshots
from holdfast.harness.oracles.shared.exemptions import exemptions
from holdfast.harness.oracles.shared.shared_files import shared_files


class UsingCheckpoint:
    """A checkpoint that uses shared files, from its first acknowledgement on.

    Attributes:
        acked: by subtask, what it acknowledged.
        paths: of all files that it reaches.
        published: its metadata, while it is retained; None: it is not, or not yet.
        ever_published: its metadata was published once.
        objections: names that contradict a subtask's handles: the clause that its completion violates, and a sentence.
        ended_at: by coordinator, how many events that had recorded when it ended the checkpoint.
    """

    def __init__(self) -> None:
        self.acked: dict[str, events.AckSent] = {}
        self.paths: set[str] = set()
        self.published: events.MetadataPublished | None = None
        self.ever_published = False
        self.objections: list[tuple[str, str, events.AckSent]] = []
        self.ended_at: dict[str, int] = {}


class Arrival(NamedTuple):
    """An acknowledgement that counts, with the shared files in the storage that it refers to."""

    sent: events.AckSent
    received: events.AckReceived
    pending: UsingCheckpoint
    paths: frozenset[str]


class FileUses:
    """The uses of all shared files of one history. Judges each deletion when it comes.

    Attributes:
        users: by path, the checkpoints that reach it now, each as (job, id).
        last_use: by path, the event with which its last use ended.
        arrivals: by coordinator.
        late: acknowledgements that count for nothing.
    """

    def __init__(self, history: History, findings: Findings) -> None:
        self.history = history
        self.findings = findings
        self.exempt = exemptions(history)
        self._forged = self.exempt.forged_acknowledgements
        self.files = shared_files(history)
        self.users: dict[str, set[tuple[int, int]]] = {}
        self.last_use: dict[str, events.Event] = {}
        self.arrivals: dict[str, list[Arrival]] = {}
        self.late: list[tuple[events.AckSent, events.AckReceived]] = []
        self._claimed_snapshots = claimed_snapshots(history)
        self._job_of, self._identity = self._claimed_snapshots.job_of, self._claimed_snapshots.identity
        self._savepoints = by_checkpoint(history, events.SavepointTriggered).things
        self._sent = by_part(history, events.AckSent).first
        self._stored = {file.path for ack in history.of(events.AckSent) for file in ack.files}
        self._checkpoints: dict[tuple[int, int], UsingCheckpoint] = {}
        self._deleted: dict[str, events.FileDeleted] = {}
        self._restoring: tuple[events.AttemptStarted, UsingCheckpoint] | None = None
        self._coordinator = ""
        replay(
            history,
            {
                events.AckSent: self._ack_sent,
                events.AckReceived: self._ack_received,
                events.MetadataPublished: self._published,
                events.CheckpointAborted: self._ended,
                events.CheckpointDropped: self._ended,
                events.CoordinatorClaimed: self._claimed,
                events.JobSubmitted: self._submitted,
                events.AttemptStarted: self._attempt_started,
                events.JobSwitched: self._switched,
                events.FileWritten: self._written,
                events.FileDeleted: self._file_deleted,
            },
        )

    def _of(self, event: events.Event, checkpoint: int) -> UsingCheckpoint:
        identity = self._identity(event, checkpoint)
        found = self._checkpoints.get(identity)
        if found is None:
            found = self._checkpoints[identity] = UsingCheckpoint()
        return found

    # --- what checkpoints reach ---

    def _ack_sent(self, ack: events.AckSent) -> None:
        """A snapshot refers to what it has stored itself, or what had completed; a savepoint to nothing shared."""
        if (self._job_of(ack), ack.checkpoint) in self._savepoints:
            self.findings.check("savepoint-shares")
            if ack.shared:
                message = f"savepoint {ack.checkpoint} of {ack.subtask} refers to {len(ack.shared)} shared files"
                self.findings.violated("savepoint-shares", message, ack)
            return
        stored = {file.path for file in ack.files}
        for handle in ack.shared:
            file = self.files.file_of(ack, handle)
            if file is None or file.path in stored or handle.inline or file.path not in self._stored:
                continue
            self.findings.check("unconfirmed-base")
            if not any(file.path in known.paths for known in self._checkpoints.values() if known.ever_published):
                message = f"checkpoint {ack.checkpoint} of {ack.subtask} refers to {file.path}, of none that completed"
                self.findings.violated("unconfirmed-base", message, ack)

    def _ack_received(self, event: events.AckReceived) -> None:
        ack = self._sent.get(part_of(event))
        if ack is None or not ack.shared or event.subtask in self._forged:
            return
        if event.outcome is not events.AckOutcome.SUCCESS:
            self.late.append((ack, event))
            return
        checkpoint = self._of(event, event.checkpoint)
        checkpoint.acked[event.subtask] = ack
        self._judge_names(ack, checkpoint)
        paths = frozenset(file.path for handle in ack.shared if (file := self.files.file_of(ack, handle)))
        paths &= self._stored
        self.arrivals.setdefault(event.node, []).append(Arrival(ack, event, checkpoint, paths))
        for path in paths:
            self.findings.check("deleted-in-use")
            deleted = self._deleted.get(path)
            if deleted is not None and not self.exempt.ever_held(path):
                message = f"{path} is deleted, and checkpoint {event.checkpoint} of {event.subtask} refers to it"
                self.findings.violated("deleted-in-use", message, deleted, ack, event)
        self._use(event, event.checkpoint, paths)

    def _judge_names(self, ack: events.AckSent, checkpoint: UsingCheckpoint) -> None:
        """A name stands for one file, which somebody has brought."""
        for handle in ack.shared:
            first = self.files.first_of(ack, handle.name)
            if first is None:
                message = f"{ack.subtask} refers to {handle.name!r}, which stands for nothing"
                checkpoint.objections.append(("placeholder-accepted", message, ack))
            elif handle.file is not None and handle.file != first and self.users.get(first.path):
                message = f"{ack.subtask} gives name {handle.name!r} to {handle.file.path}; it stands for {first.path}"
                checkpoint.objections.append(("conflict-accepted", message, ack))

    def _published(self, event: events.MetadataPublished) -> None:
        checkpoint = self._of(event, event.checkpoint)
        named = {file.path for file in event.files} & self.files.paths
        known = not self._forged and not checkpoint.objections
        if checkpoint.published is None and checkpoint.acked and known:
            self.findings.check("wrong-files")
            if named != checkpoint.paths:
                message = (
                    f"checkpoint {event.checkpoint} names {', '.join(sorted(named)) or 'no shared file'}, and its "
                    f"subtasks acknowledged {', '.join(sorted(checkpoint.paths)) or 'none'}"
                )
                self.findings.violated("wrong-files", message, *checkpoint.acked.values(), event)
        for clause, message, ack in checkpoint.objections:
            self.findings.violated(clause, f"checkpoint {event.checkpoint} completes, and {message}", ack, event)
        checkpoint.published, checkpoint.ever_published = event, True
        self._use(event, event.checkpoint, named)

    def _use(self, event: events.Event, checkpoint: int, paths: set[str] | frozenset[str]) -> None:
        self._of(event, checkpoint).paths |= paths
        for path in paths:
            self.users.setdefault(path, set()).add(self._identity(event, checkpoint))

    # --- what they reach no more ---

    def _ended(self, event: events.CheckpointAborted | events.CheckpointDropped) -> None:
        checkpoint = self._of(event, event.checkpoint)
        checkpoint.ended_at[event.node] = event.sequence
        for clause, _, _ in checkpoint.objections:
            self.findings.check(clause)
        self._end(event, self._identity(event, event.checkpoint))

    def _end(self, event: events.Event, identity: tuple[int, int]) -> None:
        checkpoint = self._checkpoints[identity]
        checkpoint.published = None
        for path in checkpoint.paths:
            if identity in self.users[path]:
                self.users[path].remove(identity)
                if not self.users[path]:
                    self.last_use[path] = event

    def _claimed(self, event: events.CoordinatorClaimed) -> None:
        """What another coordinator did not find complete never will be."""
        if event.node == self._coordinator:
            return
        self._coordinator = event.node
        for identity, checkpoint in self._checkpoints.items():
            if checkpoint.published is None:
                self._end(event, identity)

    def _submitted(self, event: events.JobSubmitted) -> None:
        """What a job has claimed it owns with all its files: earlier jobs' checkpoints that share them do not count."""
        claim = self._claimed_snapshots.by_job.get(self._job_of(event))
        if claim is None or claim.identity not in self._checkpoints:
            return
        for path in self._checkpoints[claim.identity].paths:
            self.users[path].intersection_update({claim.identity})

    # --- restores and deletions ---

    def _attempt_started(self, event: events.AttemptStarted) -> None:
        restored = event.restored_checkpoint
        self._restoring = None if restored is None else (event, self._of(event, restored))

    def _switched(self, event: events.JobSwitched) -> None:
        self._restoring = None

    def _written(self, event: events.FileWritten) -> None:
        self._deleted.pop(event.file.path, None)

    def _file_deleted(self, event: events.FileDeleted) -> None:
        path = event.path
        if path not in self.files.paths or self.exempt.ever_held(path):
            return
        self._deleted[path] = event
        self.findings.check("deleted-in-use")
        reached = sorted(checkpoint for _, checkpoint in self.users.get(path, ()))
        if reached:
            message = f"{path} is deleted, and checkpoint {', '.join(map(str, reached))} reaches it"
            self.findings.violated("deleted-in-use", message, event)
        elif self._restoring is not None and path in self._restoring[1].paths:
            started = self._restoring[0]
            message = f"{path} is deleted while attempt {started.attempt} restores checkpoint"
            self.findings.violated("deleted-in-use", f"{message} {started.restored_checkpoint}", started, event)
