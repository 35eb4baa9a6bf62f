"""Rescales in place: the attempts of a job, from which on it is at another parallelism than it was submitted with."""

from __future__ import annotations

from bisect import bisect_right

from holdfast.harness.model.events import AttemptStarted, JobSubmitted
from holdfast.harness.model.history import History


class Rescales:
    """The parallelism of each attempt, as far as the attempts say it; whether it is the required one, RESCALE decides.

    Args:
        history: of the run.
    """

    def __init__(self, history: History) -> None:
        known = {event.attempt + 1: 0 for event in history.of(JobSubmitted)}
        known |= {event.attempt: event.parallelism for event in history.of(AttemptStarted)}
        self._attempts = sorted(known)
        self._widths = [known[attempt] for attempt in self._attempts]

    def at(self, attempt: int, submitted: int) -> int:
        """The parallelism of an attempt of a job.

        Args:
            attempt: its number.
            submitted: the parallelism that the job was submitted with.
        """
        place = bisect_right(self._attempts, attempt)
        return (self._widths[place - 1] if place else 0) or submitted
