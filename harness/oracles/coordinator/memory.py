"""What COORD decides on the coordinator's memory: state that comes with acknowledgements has a budget (RULES SBK-10).

How much there is follows from what the subtasks say that they sent. Shared files may be in several checkpoints and in
the memory once: where there are some, only the least that is kept is known.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import events, profile
from holdfast.harness.model.checkpoint import FailureReason
from holdfast.harness.model.history import History
from holdfast.harness.model.units import size_bytes
from holdfast.harness.oracles.findings import Findings, replay
from holdfast.harness.oracles.ledger.parts import by_part, part_of
from holdfast.harness.oracles.shared.claimed_snapshots import claimed_snapshots
from holdfast.harness.oracles.shared.stated_options import texts

CLAUSES: Mapping[str, str] = {
    "over-budget-kept": "more state comes with acknowledgements than the coordinator's memory may hold, and it is kept",
    "refused-within-budget": "a checkpoint is aborted for lack of the coordinator's memory, and there was room",
    "over-budget-unnamed": "the message that there is no room lacks the size or the limit",
}
AT_THE_COORDINATOR = (
    events.AckReceived, events.DeclineReceived, events.CheckpointDrawn, events.CheckpointTriggered,
    events.NotificationSent, events.SharedStateReleased,
)  # fmt: skip
"""What shows that the coordinator has dealt with the acknowledgement before."""


def judge_memory(history: History, findings: Findings) -> None:
    """Judge the memory of each coordinator over acks, ends and drops of checkpoints, where a plan sets a budget."""
    if profile.MEMORY_BUDGET in texts(history.plan):
        _Memory(history, findings)


class _Memory:
    """The memory of one coordinator.

    Attributes:
        exact: no files are shared.
        kept: by checkpoint that is pending or retained, bytes.
        exceeded: the acknowledgement with which there is too much; None: there is room.
        known: by checkpoint, what an earlier coordinator has kept of it.
        claimed: the snapshot that the job has claimed.
    """

    def __init__(self, history: History, findings: Findings) -> None:
        self.findings = findings
        self.budget = size_bytes(texts(history.plan)[profile.MEMORY_BUDGET])
        self.sent = by_part(history, events.AckSent).first
        self.exact = not any(ack.shared for ack in history.of(events.AckSent))
        self.kept: dict[int, int] = {}
        self.exceeded: events.AckReceived | None = None
        self.known: dict[int, int] = {}
        self.claimed: int | None = None
        self.claimed_snapshots = claimed_snapshots(history)
        replay(
            history,
            {
                **dict.fromkeys(AT_THE_COORDINATOR, self._went_on),
                events.CoordinatorClaimed: self._coordinator_claimed,
                events.JobSubmitted: self._submitted,
                events.AckReceived: self._acknowledged,
                events.StateOverBudget: self._refused,
                events.CheckpointAborted: self._aborted,
                events.MetadataPublished: self._published,
                events.SavepointCompleted: self._savepoint_completed,
                events.CheckpointDropped: self._dropped,
            },
        )

    def _coordinator_claimed(self, event: events.CoordinatorClaimed) -> None:
        self.known |= self.kept
        claimed_bytes = {each: size for each, size in self.kept.items() if each == self.claimed}
        self.kept, self.exceeded = claimed_bytes, None

    def _submitted(self, event: events.JobSubmitted) -> None:
        """What the job has claimed is one of those that it retains."""
        claim = self.claimed_snapshots.by_job.get(self.claimed_snapshots.job_of(event))
        self.claimed = claim.snapshot.checkpoint if claim is not None else None
        self.kept = {} if self.claimed is None else {self.claimed: self.known.get(self.claimed, 0)}

    @property
    def _needed(self) -> int:
        """The least that is kept."""
        return sum(self.kept.values())

    def _acknowledged(self, event: events.AckReceived) -> None:
        self._went_on(event)
        ack = self.sent.get(part_of(event))
        if event.outcome is not events.AckOutcome.SUCCESS or ack is None:
            return
        shared = sum(each.file.length for each in ack.shared if each.inline and each.file is not None)
        self.kept[event.checkpoint] = self.kept.get(event.checkpoint, 0) + ack.inline_bytes - shared
        self.findings.check("over-budget-kept")
        if self._needed > self.budget:
            self.exceeded = event

    def _went_on(self, event: events.Event) -> None:
        exceeded, self.exceeded = self.exceeded, None
        if exceeded is not None and self._needed > self.budget:
            message = (
                f"the coordinator keeps {self._needed} b with the state of {exceeded.subtask} in checkpoint "
                f"{exceeded.checkpoint}, {self.budget} b are allowed"
            )
            self.findings.violated("over-budget-kept", message, exceeded, event)

    def _refused(self, event: events.StateOverBudget) -> None:
        self.findings.check("over-budget-unnamed")
        size_is_named = not self.exact or str(self._needed) in event.reason
        if str(self.budget) not in event.reason or not size_is_named:
            message = f"{self._needed} b are needed, {self.budget} b are allowed, and the message is: {event.reason}"
            self.findings.violated("over-budget-unnamed", message, event)

    def _aborted(self, event: events.CheckpointAborted) -> None:
        self.exceeded = None
        if event.reason == FailureReason.COORDINATOR_MEMORY and self.exact:
            self.findings.check("refused-within-budget")
            if self._needed <= self.budget:
                message = (
                    f"checkpoint {event.checkpoint} is aborted, with which {self._needed} of {self.budget} b are needed"
                )
                self.findings.violated("refused-within-budget", message, event)
        self.kept.pop(event.checkpoint, None)

    def _published(self, event: events.MetadataPublished) -> None:
        self._went_on(event)
        self.kept.setdefault(event.checkpoint, self.known.get(event.checkpoint, 0))

    def _savepoint_completed(self, event: events.SavepointCompleted) -> None:
        self._went_on(event)
        if not event.recovery_point:
            self.known[event.checkpoint] = self.kept.pop(event.checkpoint, 0)

    def _dropped(self, event: events.CheckpointDropped) -> None:
        self.kept.pop(event.checkpoint, None)
