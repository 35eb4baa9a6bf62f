"""The attempts of a job as its coordinator starts them, for COORD: their numbers, and what their tasks restore."""

from __future__ import annotations

from holdfast.harness.model.events import AttemptStarted, CheckpointTriggered, TaskStarted
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.models.layout import Layouts


class AttemptTrace:
    """The attempts so far.

    Attributes:
        by_number: all.
        newest: by subtask, the attempt that it is in.
        last: the one that was started last.
    """

    def __init__(self, findings: Findings, layouts: Layouts) -> None:
        self.findings = findings
        self.layouts = layouts
        self.by_number: dict[int, AttemptStarted] = {}
        self.newest: dict[str, int] = {}
        self.last: AttemptStarted | None = None

    def members(self, event: AttemptStarted) -> tuple[str, ...]:
        """The subtasks that an attempt is one of."""
        return event.subtasks or self.layouts.of(event).subtasks

    def started(self, event: AttemptStarted) -> bool:
        """Another one begins; whether it is the first."""
        last = self.last
        if last is not None:
            self.findings.check("started-late-attempt")
            if event.attempt <= last.attempt:
                message = f"attempt {event.attempt} starts after attempt {last.attempt}"
                self.findings.violated("started-late-attempt", message, last, event)
        self.last = self.by_number[event.attempt] = event
        self.newest.update(dict.fromkeys(self.members(event), event.attempt))
        return last is None

    def present(self, triggered: CheckpointTriggered, subtask: str) -> int:
        """The attempt that a subtask takes part from: a region that was restarted has a newer one than the others."""
        return min(self.newest.get(subtask, triggered.attempt), triggered.attempt)

    def task_started(self, event: TaskStarted) -> None:
        """A task restores what its attempt does."""
        attempt = self.by_number.get(event.attempt)
        if attempt is None or (attempt.restored_checkpoint is None and event.restored_checkpoint is None):
            return
        self.findings.check("tasks-restored-differently")
        if attempt.restored_checkpoint != event.restored_checkpoint:
            message = (
                f"{event.subtask} restores {restored_name(event)}, attempt {event.attempt} {restored_name(attempt)}"
            )
            self.findings.violated("tasks-restored-differently", message, attempt, event)


def restored_name(event: AttemptStarted | TaskStarted) -> str:
    """What is restored, in words."""
    return "nothing" if event.restored_checkpoint is None else f"checkpoint {event.restored_checkpoint}"
