"""The attempts of a job as its coordinator starts them."""

from __future__ import annotations

from holdfast.harness.model.events import AttemptStarted, CheckpointTriggered
from holdfast.harness.oracles.shared.layout import Layouts


class AttemptTrace:
    """The attempts so far.

    Attributes:
        by_number: all.
        newest: by subtask, the attempt that it is in.
        last: the one that was started last.
    """

    def __init__(self, layouts: Layouts) -> None:
        self._layouts = layouts
        self.by_number: dict[int, AttemptStarted] = {}
        self.newest: dict[str, int] = {}
        self.last: AttemptStarted | None = None

    def members(self, event: AttemptStarted) -> tuple[str, ...]:
        """The subtasks that an attempt is one of."""
        return event.subtasks or self._layouts.of(event).subtasks

    def started(self, event: AttemptStarted) -> None:
        """Another one begins."""
        self.last = self.by_number[event.attempt] = event
        self.newest.update(dict.fromkeys(self.members(event), event.attempt))

    def present(self, triggered: CheckpointTriggered, subtask: str) -> int:
        """The attempt that a subtask takes part from: a region that was restarted has a newer one than the others."""
        return min(self.newest.get(subtask, triggered.attempt), triggered.attempt)
