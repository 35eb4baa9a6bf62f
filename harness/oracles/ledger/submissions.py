"""Jobs submitted one after the other: ids of checkpoints belong to one of them, numbers of attempts to all."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from holdfast.harness.model.events import Event, JobSubmitted
from holdfast.harness.model.history import History


class Submissions:
    """Which job an event belongs to, by its attempt; without news of submissions there is one job."""

    def __init__(self, history: History) -> None:
        first_attempts = sorted({event.attempt for event in history.of(JobSubmitted)})
        self._first_attempts = first_attempts if len(first_attempts) > 1 else []

    def of(self, event: Event) -> int:
        """The number of the job."""
        return bisect_right(self._first_attempts, event.attempt)

    def checkpoint_of(self, event: Any) -> tuple[int, int]:
        """The number of the job, and the checkpoint of the event."""
        return bisect_right(self._first_attempts, event.attempt), event.checkpoint

    def at(self, attempt: int) -> int:
        """The number of the job of an attempt."""
        return bisect_right(self._first_attempts, attempt)
