"""Which job took the checkpoint that a job restores: one that starts empty draws the ids of earlier ones again, and may
end before they are complete."""

from __future__ import annotations

from holdfast.harness.model.events import (
    CheckpointCompleted,
    Event,
    JobSubmitted,
    MetadataPublished,
    SavepointCompleted,
)
from holdfast.harness.model.history import History
from holdfast.harness.oracles.ledger.submissions import Submissions


class Origins:
    """Jobs by what they restore.

    Args:
        history: of the run.
    """

    def __init__(self, history: History) -> None:
        self.job_of = history.derived(Submissions).of
        self._submitted = {self.job_of(event): event for event in history.of(JobSubmitted)}
        self._publishers: dict[str, int] = {}
        self._completed: dict[int, set[int]] = {}
        if len(self._submitted) > 1:
            self._note(history)

    def _note(self, history: History) -> None:
        published: list[MetadataPublished | SavepointCompleted] = [
            *history.of(MetadataPublished), *history.of(SavepointCompleted)
        ]  # fmt: skip
        for event in published:
            # A path is published once. A later job that finds it there has not taken it.
            job = self._publishers.setdefault(event.path, self.job_of(event)) if event.path else self.job_of(event)
            self._completed.setdefault(event.checkpoint, set()).add(job)
        for completed in history.of(CheckpointCompleted):
            self._completed.setdefault(completed.checkpoint, set()).add(self.job_of(completed))

    def of(self, restored: Event, checkpoint: int) -> int:
        """The number of the job that took a checkpoint which the job of an event restores, or has audited."""
        job = self.job_of(restored)
        if not self._completed:
            return job
        completed = self._completed.get(checkpoint, ())
        submitted = self._submitted.get(job)
        if job in completed or submitted is None or submitted.checkpoint != checkpoint:
            return job
        earlier = (number for number in completed if number < job)
        return self._publishers.get(submitted.path, max(earlier, default=job))
