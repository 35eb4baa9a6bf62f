"""The time limit of a certification: nothing begins after it."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic  # noqa: TID251 - budget and duration of the whole; no run depends on it


class TimeLimit:
    """Counts from now on.

    Args:
        budget_s: the whole time; None: there is no limit.
        elapsed_s: what earlier invocations used of it.

    Attributes:
        halved: whether the second half is left to cases that wait.
    """

    def __init__(self, budget_s: float | None, elapsed_s: float = 0.0) -> None:
        self.halved = False
        self._budget_s = budget_s
        self._start_s = monotonic() - elapsed_s

    @property
    def elapsed_s(self) -> float:
        """Since the start."""
        return monotonic() - self._start_s

    @property
    def budget_s(self) -> float | None:
        """What can be used now."""
        return self._budget_s / 2 if self._budget_s is not None and self.halved else self._budget_s

    @property
    def deadline_s(self) -> float | None:
        """When it is over, on the monotonic clock of this machine."""
        return None if self.budget_s is None else self._start_s + self.budget_s

    def late(self) -> bool:
        """Whether it is over."""
        return self.late_by(1)

    def late_by(self, share: float) -> bool:
        """Whether this share of it is over, such as 0.5."""
        return self.budget_s is not None and self.elapsed_s >= self.budget_s * share

    def late_for(self, parts: int) -> Callable[[], bool]:
        """Whether an equal part of the time that is left now is over."""
        if self.budget_s is None:
            return self.late
        end_s = self.elapsed_s + max(0.0, self.budget_s - self.elapsed_s) / parts
        return lambda: self.elapsed_s >= end_s

    def reason(self) -> str:
        """Why nothing begins any more, or an empty text."""
        return f"the time limit of {self.budget_s:.0f} s was reached" if self.late() else ""
