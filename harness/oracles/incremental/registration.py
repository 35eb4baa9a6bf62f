"""What a runtime reports of its registry: when a checkpoint uses a file, and how many do (RULES INC-04, INC-05)."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.oracles.findings import Findings, replay
from holdfast.harness.oracles.ledger.parts import by_part, part_of
from holdfast.harness.oracles.shared.options import flink_1_14

REGISTERED = {
    "registered-untimely": "shared files are not registered with their acknowledgement, or in 1.14 with the last one",
    "uses-misreported": "the number of checkpoints that use a shared file is not the reported one",
}


def judge_registration(history: History, findings: Findings) -> None:
    """Reports of one coordinator after the other."""
    _Registration(history, findings)


class _Registration:
    """One registry.

    Attributes:
        awaited: an acknowledgement that counts, whose files are to be registered next.
        missing: by pending checkpoint, subtasks that have not acknowledged.
        users: by path, the checkpoints that were registered and not released; None: the coordinator has found some in
            the store, which it does not report.
    """

    def __init__(self, history: History, findings: Findings) -> None:
        self.findings = findings
        self.at_completion = flink_1_14(history.plan)
        self.awaited: events.AckReceived | None = None
        self.missing: dict[int, set[str]] = {}
        self.users: dict[str, set[int]] | None = {}
        self._sent = by_part(history, events.AckSent).first
        replay(
            history,
            {
                events.CoordinatorClaimed: self._claimed,
                events.CheckpointTriggered: self._triggered,
                events.AckReceived: self._ack_received,
                events.SharedStateRegistered: self._registered,
                events.SharedStateRejected: self._given_up,
                events.CheckpointAborted: self._given_up,
                events.SharedStateReleased: self._released,
                events.MetadataPublished: self._published,
                events.RecoveryFailed: self._recovered,
            },
        )

    def _claimed(self, event: events.CoordinatorClaimed) -> None:
        self.awaited, self.missing, self.users = None, {}, {}

    def _triggered(self, event: events.CheckpointTriggered) -> None:
        self._overdue(event)
        self.missing[event.checkpoint] = set(event.participants)

    def _ack_received(self, event: events.AckReceived) -> None:
        self._overdue(event)
        if event.outcome is not events.AckOutcome.SUCCESS:
            return
        missing = self.missing.setdefault(event.checkpoint, set())
        missing.discard(event.subtask)
        ack = self._sent.get(part_of(event))
        if ack is not None and ack.shared and not (self.at_completion and missing):
            self.awaited = event

    def _overdue(self, event: events.Event) -> None:
        """The coordinator goes on to something else."""
        if self.awaited is not None:
            message = f"state of {self.awaited.subtask} in checkpoint {self.awaited.checkpoint} is not registered"
            self.findings.violated("registered-untimely", message, self.awaited, event)
            self.awaited = None

    def _registered(self, event: events.SharedStateRegistered) -> None:
        self.awaited = None
        missing = self.missing.get(event.checkpoint)
        self.findings.check("registered-untimely")
        if self.at_completion and missing:
            message = f"checkpoint {event.checkpoint} is registered without the acknowledgement of {min(missing)}"
            self.findings.violated("registered-untimely", message, event)
        if self.users is not None:
            for file in event.files:
                self.users.setdefault(file.path, set()).add(event.checkpoint)
        self._count(event)

    def _given_up(self, event: events.Event) -> None:
        self.awaited = None

    def _released(self, event: events.SharedStateReleased) -> None:
        if self.users is not None:
            for file in event.files:
                self.users.setdefault(file.path, set()).discard(event.checkpoint)
        self._count(event)

    def _count(self, event: events.SharedStateRegistered | events.SharedStateReleased) -> None:
        if self.users is None:
            return
        for file in event.files:
            self.findings.check("uses-misreported")
            users = self.users[file.path]
            if file.uses != len(users):
                message = f"{file.key} is reported with {file.uses} uses, it has {len(users)}: {sorted(users)}"
                self.findings.violated("uses-misreported", message, event)

    def _published(self, event: events.MetadataPublished) -> None:
        if event.checkpoint in self.missing:
            self._overdue(event)
            del self.missing[event.checkpoint]
        else:
            self.users = None  # It was found in the store

    def _recovered(self, event: events.RecoveryFailed) -> None:
        self.users = None
